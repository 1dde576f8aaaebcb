"""`sqemu compare-tiling`: the same program with tiling on the device and on the host."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.trace import TaskDone
from tools.cli import main
from tools.compare.spent import Part, spent


def done(engine, started, time):
    """An entry that an engine had from `started` to `time`."""
    return TaskDone(time=time, stream=0, slot=0, task=0, engine=engine, kind="any", started=started)


class TestWhereTheTimeGoes:
    """Every nanosecond belongs to one part."""

    def test_by_hand(self):
        """Kernel 10-30, tiling 20-50, update 50-60, NOP 55-70, of 0 to 100: what is above hides what is below."""
        events = [done("ai_core", 10, 30), done("ai_cpu", 20, 50), done("task_update", 50, 60), done("event", 55, 70)]
        expected = {Part.KERNELS: 20, Part.TILING: 20, Part.UPDATES: 10, Part.OTHER: 10, Part.HOST: 10 + 30}
        assert spent(events, 0, 100) == expected

    def test_time_before_and_behind_does_not_count(self):
        """An entry that began before the execution counts from its start on."""
        found = spent([done("ai_core", 5, 20), done("ai_core", 25, 40)], 10, 30)
        assert (found[Part.KERNELS], found[Part.HOST]) == (15, 5)

    @given(st.lists(st.tuples(st.sampled_from(["ai_core", "ai_cpu", "other"]), st.integers(0, 90), st.integers(0, 90))))
    def test_parts_add_up(self, spans):
        """Whatever runs when, the parts add up to the whole time and none is negative."""
        found = spent([done(e, min(a, b), max(a, b)) for e, a, b in spans], 0, 100)
        assert sum(found.values()) == 100
        assert min(found.values()) >= 0


@pytest.fixture
def probe(tmp_path):
    """A graph of one probe that sinks, and its inputs."""
    graph = {
        "format": "sqemu-graph",
        "version": 1,
        "name": "probe",
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [100]},
            {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }
    (tmp_path / "probe.json").write_text(json.dumps(graph))
    np.savez(tmp_path / "in.npz", x=np.arange(100, dtype=np.float32), n=np.array([3], np.int32))
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error of the command."""
    with pytest.raises(SystemExit) as ended:
        main(["compare-tiling", *map(str, arguments)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def test_one_round_trip_is_saved(probe, capsys):
    """The host's way takes one round trip of 30 µs per operator, the other one tiling and one update instead."""
    code, out, err = run(capsys, probe / "probe.json", "--inputs", probe / "in.npz", "--json")
    sink, host, last = map(json.loads, out.splitlines())
    assert (code, err) == (0, "")
    assert last == {"outputs_equal": [True]}
    assert (sink["sunk_operators"], host["sunk_operators"]) == (1, 0)
    assert host["parts"]["host"] == 30_000
    assert sink["parts"]["tiling"] == 15_000
    assert sink["parts"]["updates"] == 2_000
    assert sink["parts"]["kernels"] == host["parts"]["kernels"]
    assert sum(sink["parts"].values()) == sink["duration"]


def test_text(probe, capsys):
    """Both timelines, the table of parts and the verdict are shown; long timelines say what is left out."""
    code, out, _ = run(capsys, probe / "probe.json", "--inputs", probe / "in.npz", "--rows", "2")
    assert code == 0
    for text in ("Tiling on the device (sink)", "Tiling on the host", "more rows; --rows", "host - sink", "are equal"):
        assert text in out


def test_options_of_the_graph_give_way(probe, capsys):
    """A graph that asks for the sink or not is compiled both ways all the same."""
    graph = json.loads((probe / "probe.json").read_text())
    for value in ("0", "1"):
        (probe / "own.json").write_text(json.dumps({**graph, "options": {"ge.tiling_schedule_optimize": value}}))
        _, out, _ = run(capsys, probe / "own.json", "--inputs", probe / "in.npz", "--json")
        assert [json.loads(line).get("sunk_operators") for line in out.splitlines()] == [1, 0, None]


def test_without_inputs(probe, capsys):
    """Inputs of the graph that no file gives are an error of usage that names them."""
    code, _, err = run(capsys, probe / "probe.json")
    assert code == 2
    assert "input.none" in err
    assert "x, n" in err


def test_a_graph_from_standard_input(probe, capsys, monkeypatch):
    """A graph that can be read only once is compiled both ways."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((probe / "probe.json").read_bytes())))
    code, out, _ = run(capsys, "-", "--inputs", probe / "in.npz", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1]) == {"outputs_equal": [True]}


def test_a_blob_is_refused(probe, tmp_path, capsys):
    """A task blob is compiled already: there is nothing to compare."""
    with pytest.raises(SystemExit):
        main(["compile", str(probe / "probe.json"), "-o", str(tmp_path / "probe.sqt")])
    capsys.readouterr()
    code, out, err = run(capsys, tmp_path / "probe.sqt", "--inputs", probe / "in.npz")
    assert (code, out) == (2, "")
    assert "option.compiled" in err
    assert "compiled both ways" in err
