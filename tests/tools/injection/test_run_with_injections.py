"""`sqemu run --inject`: the plan on the command line, the report, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
RECORD = {"do": "drop-record", "entry": {"node": "probe0", "role": "record"}}
NOPS = {"do": "stall", "entry": {"kind": "nop"}, "ns": 10}


@pytest.fixture
def run(sqemu, tmp_path):
    """Runs the probe graph of the documents with these injections; gives exit code, standard output and error."""
    np.savez(tmp_path / "in.npz", x=np.arange(40, dtype="f4"), n=np.array([3], "i4"))

    def call(*injections, more=(), program=ROOT / "docs/examples/probe.json"):
        (tmp_path / "plan.json").write_text(
            json.dumps({"format": "sqemu-injection", "version": 1, "injections": injections})
        )
        found = sqemu("run", program, "--inputs", tmp_path / "in.npz", "--inject", tmp_path / "plan.json", *more)
        return found.code, found.out, found.err

    return call


def test_a_deadlock_is_reported_behind_its_cause(run):
    """Exit code 1; the injection is the first line, what waits comes below, the outcome last."""
    code, out, _ = run(RECORD)
    lines = out.splitlines()
    assert code == 1
    assert lines[0].startswith("injected: dropped the record of event 0 by stream 1 task 2 (event_record of")
    assert out.index("injected:") < out.index("run 1: deadlock") < out.index("deadlock at 18500 ns")
    assert "outcome deadlock: 2 stream(s) wait for ever: stream 0 for event 0, stream 2 for notify 0" in " ".join(
        out.split()
    )
    assert lines[-1].startswith("      ")


def test_what_is_unaffected_ends_well(run, tmp_path):
    """Exit code 0, and the outputs are written as without a plan."""
    code, out, _ = run(NOPS, more=("--outputs", tmp_path / "out.npz"))
    assert code == 0
    assert "outcome unaffected: outputs equal those without the plan, byte for byte" in out
    with np.load(tmp_path / "out.npz") as found:
        assert found["y"].tolist() == [0.0] * 14 + [1.0] * 14 + [2.0] * 12


def test_a_silent_corruption_is_no_success(run, tmp_path):
    """Exit code 1, named, and no output is written."""
    code, out, _ = run(
        {"do": "corrupt-cell", "node": "probe0", "cell": "block_dim", "value": 2},
        more=("--outputs", tmp_path / "out.npz"),
    )
    assert code == 1
    assert "outcome silent-corruption: the program ended well, but output y differs in 18" in out
    assert "no output was written" in out
    assert not (tmp_path / "out.npz").exists()


def test_what_never_happens_is_no_success_either(run):
    """Exit code 1: what the plan was to show is not shown."""
    code, out, _ = run({"do": "stall", "entry": {"kind": "nop", "nth": 70}})
    assert code == 1
    assert "outcome idle" in out
    assert "injections[0] (stall) never happened: the last execution had 5 such entries, not 70" in " ".join(
        out.split()
    )


def test_a_series_ends_with_the_first_bad_execution(run):
    """The second of three executions is meant; the third is not started."""
    second = {"do": "drop-record", "entry": {"node": "probe0", "role": "record", "run": 2}}
    code, out, _ = run(second, more=("--times", "3"))
    assert code == 1
    assert "outcome idle: nothing was injected so far" in out
    assert "1 more execution was not started" in out
    assert "run 3" not in out


def test_a_program_that_is_refused(run):
    """Exit code 1, the shrunk limit first, then the vendor's code."""
    code, out, _ = run({"do": "shrink-limit", "limit": "streams", "to": 2})
    assert code == 1
    assert out.startswith("injected: ascend310p3 with fewer streams (max_streams 992 -> 2)\n")
    assert "outcome refused: the device does not load the program, 207008:" in out


def test_json_lines(run):
    """An object with the verdict before that of the execution; one more for what never happened."""
    never = {"do": "stall", "entry": {"kind": "nop", "nth": 70}}
    code, out, _ = run(RECORD, never, more=("--json",))
    verdict, execution, last = map(json.loads, out.splitlines())
    assert code == 1
    assert (verdict["type"], verdict["run"], verdict["outcome"], verdict["good"]) == ("injection", 1, "deadlock", False)
    assert verdict["causes"][0].startswith("injected: dropped the record of event 0")
    assert execution["deadlock"]["id"] == "deadlock"
    assert (last["type"], len(last["injections"])) == ("injections-never", 1)
    refused = run({"do": "shrink-limit", "limit": "streams", "to": 2}, more=("--json",))
    assert json.loads(refused[1])["outcome"] == "refused"


def test_mistakes_in_a_plan_have_its_file_and_place(run):
    """Exit code 2, and nothing runs: a kind, an entry, a limit that cannot be."""
    for injection, what in (
        ({"do": "stal"}, "injections[0].do"),
        ({"do": "stall", "entry": {"kind": "npo"}}, "did you mean nop?"),
        ({"do": "shrink-limit", "limit": "streams", "to": 5000}, "give fewer than 992"),
        ({"do": "flip-field", "entry": {"kind": "kernel"}, "field": "block_dim", "bits": [16]}, "bits are 0 to 15"),
        ({"do": "flip-field", "entry": {"kind": "kernel"}, "field": "blok", "bits": [1]}, "its fields are type,"),
        (
            {"do": "flip-field", "entry": {"stream": 2}, "field": "type", "bits": [1], "when": "fetch"},
            '"when": "execute"',
        ),
    ):
        code, out, err = run(injection)
        assert (code, out) == (2, "")
        assert "plan.json: injections[0]" in err
        assert what in err


def test_trace_rings_and_record_are_those_of_the_run_with_the_plan(run, tmp_path):
    """Files that say why a run failed are there, and tell of the injected change."""
    flip = {"do": "flip-field", "entry": {"node": "probe0", "role": "kernel"}, "field": "block_dim", "bits": [0]}
    code, _, _ = run(
        {**flip, "when": "fetch"},
        more=("--trace", tmp_path / "t.jsonl", "--dump-rings", tmp_path / "rings", "--record", tmp_path / "r.sqr"),
    )
    assert code == 1
    events = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [e["engine"] for e in events if e["event"] == "sqe.patch" and e["field"] == "block_dim"] == [
        "task_update",
        "injection",
    ]
    assert (tmp_path / "rings/sq0/executed.bin").read_bytes()[64 * 7 + 2] == 2
    assert (tmp_path / "r.sqr").exists()


def test_a_plugin_that_breaks_over_it_is_an_outcome(run, tmp_path, monkeypatch):
    """An error of a kernel over what it was given is told behind the injection, not instead of it."""
    from emu_core.errors import PluginError
    from emu_core.injection import Injections

    def broken(self, _inputs):
        raise PluginError("kernel X raised IndexError", id="plugin.kernel-raised")

    monkeypatch.setattr(Injections, "execute", broken)
    code, out, _ = run(NOPS)
    assert code == 1
    assert "outcome stopped: the execution was stopped, plugin.kernel-raised" in out
