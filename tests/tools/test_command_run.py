"""`sqemu compile` and `sqemu run`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from formats.blob import TaskType, decode, encode


def y_of(path):
    """Output y of an npz; the file is closed."""
    with np.load(path) as found:
        return found["y"]


class TestRun:
    def test_each_input_file_is_one_execution(self, sqemu, probe):
        """Two input files give OUT.0.npz and OUT.1.npz, each with the key and block of its own n."""
        found = sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--inputs", probe / "in5.npz", "--outputs",
            probe / "out.npz",
        )  # fmt: skip
        assert found.code == 0
        first, second = (y_of(probe / f"out.{i}.npz") for i in (0, 1))
        # n = 3: key 0, 3 blocks of 14; n = 5: key 2, 5 blocks of 8.
        assert first.tolist() == [0.0] * 14 + [1.0] * 14 + [2.0] * 12
        assert second.tolist() == [200.0 + i // 8 for i in range(40)]

    def test_times_repeats_the_list(self, sqemu, probe):
        """`--times 2` runs the list of inputs twice, in order."""
        found = sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--inputs", probe / "in5.npz", "--times", "2",
            "--outputs", probe / "o.npz", "--json",
        )  # fmt: skip
        assert [o["run"] for o in found.objects] == [1, 2, 3, 4]
        assert y_of(probe / "o.3.npz")[0] == 200
        assert y_of(probe / "o.2.npz")[0] == 0

    def test_one_execution_keeps_the_name(self, sqemu, probe):
        """A single execution writes the output file under the name given."""
        sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--outputs", probe / "out.npz")
        assert sorted(p.name for p in probe.glob("out*")) == ["out.npz"]

    def test_blob_and_graph_agree(self, sqemu, probe):
        """A compiled blob gives the same output bytes as its graph."""
        assert sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--online").code == 0
        for program, out in ((probe / "probe.json", "a.npz"), (probe / "p.sqt", "b.npz")):
            assert sqemu("run", program, "--inputs", probe / "in5.npz", "--outputs", probe / out).code == 0
        assert (probe / "a.npz").read_bytes() == (probe / "b.npz").read_bytes()

    def test_a_blob_brings_its_chip(self, sqemu, probe):
        """A blob runs on the chip it was compiled for unless --chip says otherwise, which is refused."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--chip", "ascend910b3")
        assert sqemu("run", probe / "p.sqt", "--inputs", probe / "in3.npz").code == 0
        refused = sqemu("run", probe / "p.sqt", "--inputs", probe / "in3.npz", "--chip", "ascend310p3")
        assert refused.code == 2
        assert "blob.chip" in refused.err

    def test_same_input_same_bytes(self, sqemu, probe):
        """Two runs write the same trace, outputs and ring dumps, byte for byte."""
        for name in ("a", "b"):
            (probe / name).mkdir()
            sqemu(
                "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--outputs", probe / name / "out.npz",
                "--trace", probe / name / "t.jsonl", "--dump-rings", probe / name / "rings",
            )  # fmt: skip
        files = [p.relative_to(probe / "a") for p in sorted((probe / "a").rglob("*")) if p.is_file()]
        assert len(files) == 8
        for file in files:
            assert (probe / "a" / file).read_bytes() == (probe / "b" / file).read_bytes()

    def test_trace_is_json_lines_with_integer_times(self, sqemu, probe):
        """Each line of a trace has an event name and an integer time; patches name field and writer."""
        sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--trace", probe / "t.jsonl")
        events = [json.loads(line) for line in (probe / "t.jsonl").read_text().splitlines()]
        assert all(type(e["time"]) is int and e["event"] for e in events)
        patch = next(e for e in events if e["event"] == "sqe.patch" and e["field"] == "block_dim")
        assert (patch["before"], patch["after"], patch["engine"], patch["tiling_key"]) == (0xFFFF, 3, "task_update", 0)

    def test_ring_dumps_of_several_executions(self, sqemu, probe):
        """Several executions get a folder each, numbered like their outputs; the ring starts with the patch before."""
        sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--inputs", probe / "in5.npz", "--dump-rings",
            probe / "rings",
        )  # fmt: skip
        assert sorted(p.name for p in (probe / "rings").iterdir()) == ["0", "1"]
        first, second = ((probe / f"rings/{i}/sq0/{n}.bin").read_bytes() for i, n in ((0, "after"), (1, "before")))
        assert first == second

    def test_host_scheduled_rings(self, sqemu, probe):
        """A host-scheduled graph dumps the ring of its plain stream."""
        sqemu(
            "run", probe / "probe.json", "--tiling_schedule_optimize", "0", "--inputs", probe / "in3.npz",
            "--dump-rings", probe / "rings",
        )  # fmt: skip
        assert len((probe / "rings/sq0/executed.bin").read_bytes()) == 64

    def test_patches(self, sqemu, probe):
        """--patches prints both patched fields of the execution, with operator and writer."""
        found = sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--patches")
        lines = [line.split() for line in found.out.splitlines() if " probe0 " in line]
        # the update is entry 1 of stream 1, the kernel has task id 7 behind wait, reset and 5 NOPs
        assert lines[0][1:4] + lines[0][-1:] == ["probe0", "0:7", "pc_addr", "1:1"]
        assert lines[1][1:] == ["probe0", "0:7", "block_dim", "0xffff", "5", "1:1"]

    def test_patches_have_the_times_of_the_trace(self, sqemu, probe):
        """The second execution too: nanoseconds of the device's clock, as the header says."""
        given = ("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--times", "2", "--patches")
        found = sqemu(*given, "--trace", probe / "t.jsonl")
        traced = [json.loads(line) for line in (probe / "t.jsonl").read_text().splitlines()]
        expected = [str(e["time"]) for e in traced if e["event"] == "sqe.patch" and e["field"] == "block_dim"]
        assert "  time ns  " in found.out
        assert [x.split()[0] for x in found.out.splitlines() if " block_dim " in x] == expected

    def test_a_deadlock_says_what_to_do(self, sqemu, probe):
        """A program whose event nobody records: the report leads to the check that finds it."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--online")
        blob = decode((probe / "p.sqt").read_bytes())
        left = tuple(task for task in blob.tasks if task.type != TaskType.EVENT_RECORD)
        (probe / "dead.sqt").write_bytes(encode(replace(blob, tasks=left)))
        found = sqemu("run", probe / "dead.sqt", "--inputs", probe / "in3.npz")
        assert found.code == 1
        assert "sqemu check PROGRAM names the waits that can never pass" in " ".join(found.out.split())
        assert "check.wait-no-record" in sqemu("check", probe / "dead.sqt").out

    @pytest.mark.parametrize("option", ["--outputs", "--trace", "--record", "--dump-rings"])
    def test_a_mistyped_folder_is_not_made(self, sqemu, probe, option):
        """The folder that is missing is named before anything runs, and nothing is made."""
        found = sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", option, probe / "nope/deep/f")
        assert (found.code, found.out) == (2, "")
        assert "nope does not exist" in found.err
        assert not (probe / "nope").exists()

    def test_outputs_are_told_when_they_are_there(self, sqemu, probe):
        """The last line names the files; a run that fails names none."""
        given = ("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--outputs", probe / "y.npz")
        found = sqemu(*given)
        assert found.out.splitlines()[-1] == f"outputs -> {probe / 'y.npz'}"
        assert (probe / "y.npz").exists()
        failed = sqemu(*given, "--policy", "nop_count=0")
        assert "->" not in failed.out

    def test_plugin_from_a_file(self, sqemu, probe):
        """--plugin loads a Python file; one that is broken is named with the reason."""
        (probe / "mine.py").write_text(
            "from emu_core import PolicySpec, Scope, hookimpl\n\n\n@hookimpl\ndef sqemu_policies():\n"
            "    return [PolicySpec('mine.x', Scope.DEVICE, 'a', ('a', 'b'), 'mine')]\n"
        )
        given = ("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--policy", "mine.x=b")
        assert sqemu(*given, "--plugin", probe / "mine.py").code == 0
        assert sqemu(*given).code == 2
        (probe / "mine.py").write_text("1 / 0")
        found = sqemu(*given, "--plugin", probe / "mine.py", "--json")
        assert (found.code, found.error["error"]) == (2, "plugin.import")

    def test_arrays_without_a_use_are_said(self, sqemu, probe):
        """An array that is no input of the graph is named, since it is ignored."""
        np.savez(probe / "more.npz", x=np.zeros(40, "f4"), n=np.ones(1, "i4"), N=np.ones(1, "i4"))
        assert "is called N; ignored" in sqemu("run", probe / "probe.json", "--inputs", probe / "more.npz").err


class TestHazardsAndFaults:
    def test_no_nops_is_a_fault_without_output(self, sqemu, probe):
        """Without NOPs the stale copy runs, the placeholder faults: exit 1, hazard and fault said, no output file."""
        found = sqemu(
            "run", probe / "probe.json", "--policy", "nop_count=0", "--inputs", probe / "in3.npz", "--outputs",
            probe / "no.npz",
        )  # fmt: skip
        assert found.code == 1
        assert "hazard.stale-prefetch" in found.out
        assert "kernel.placeholder-block-dim" in found.out
        assert "507011" in found.out
        assert not list(probe.glob("*no*"))

    @pytest.mark.parametrize(
        ("chip", "nops", "code"),
        [("ascend310p3", 3, 1), ("ascend310p3", 4, 0), ("ascend910b3", 6, 1), ("ascend910b3", 7, 0)],
    )
    def test_n_nops_are_safe_when_n_plus_2_exceeds_the_depth(self, sqemu, probe, chip, nops, code):
        """Depth 5 on 310P and 8 on 910B: the smallest safe counts are 4 and 7."""
        found = sqemu(
            "run", probe / "probe.json", "--chip", chip, "--policy", f"nop_count={nops}", "--inputs", probe / "in3.npz"
        )
        assert found.code == code

    def test_ring_dumps_differ_exactly_where_a_stale_copy_ran(self, sqemu, probe):
        """`executed.bin` differs from `after.bin` in the kernel's slot and nowhere else."""
        sqemu(
            "run", probe / "probe.json", "--policy", "nop_count=0", "--policy", "block_dim_placeholder=compiled",
            "--inputs", probe / "in3.npz", "--dump-rings", probe / "rings",
        )  # fmt: skip
        after = (probe / "rings/sq0/after.bin").read_bytes()
        executed = (probe / "rings/sq0/executed.bin").read_bytes()
        differing = {i // 64 for i in range(len(after)) if after[i] != executed[i]}
        assert differing == {2}  # wait, reset, kernel

    def test_clean_ring_dumps(self, sqemu, probe):
        """In a clean run `executed.bin` equals `after.bin`, and `before.bin` still has the placeholder."""
        sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--dump-rings", probe / "rings")
        before, after, executed = ((probe / f"rings/sq0/{n}.bin").read_bytes() for n in ("before", "after", "executed"))
        assert after == executed
        kernel = 7 * 64
        assert before[kernel + 2 : kernel + 4] == b"\xff\xff"
        assert after[kernel + 2 : kernel + 4] == b"\x03\x00"

    def test_strict_makes_hazards_an_error(self, sqemu, probe):
        """A run with hazards exits 0, and 1 with --strict."""
        given = (
            "run", probe / "probe.json", "--policy", "nop_count=0", "--policy", "block_dim_placeholder=compiled",
            "--inputs", probe / "in3.npz",
        )  # fmt: skip
        assert sqemu(*given).code == 0
        assert sqemu(*given, "--strict").code == 1

    def test_the_message_says_how_many_nops_are_missing(self, sqemu, probe):
        """With one NOP at depth 5 the kernel lies 3 past the wait, and 3 more NOPs are needed."""
        found = sqemu(
            "run", probe / "probe.json", "--policy", "nop_count=1", "--inputs", probe / "in3.npz", "--inputs",
            probe / "in5.npz", "--outputs", probe / "o.npz",
        )  # fmt: skip
        assert "kernel of probe0" in found.out
        assert "3 entries past the wait in slot 0" in found.out
        assert "put 3 more NOPs" in found.out
        assert "1 more execution was not started; no output was written" in found.out

    def test_json_has_faults_as_values(self, sqemu, probe):
        """`--json` gives faults with TS and ACL codes, first cause first."""
        found = sqemu(
            "run", probe / "probe.json", "--policy", "nop_count=0", "--inputs", probe / "in3.npz", "--json"
        ).objects[0]
        assert [f["ts_code"] for f in found["faults"]] == [0x31, 0x91]
        assert found["faults"][1]["acl_code"] == 507011
        assert found["outputs"] == {}


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("run", "missing.json"), "input.file"),
            (("run", "."), "input.file"),
            (("run", "probe.json"), "input.none"),
            (("run", "probe.json", "--inputs", "missing.npz"), "input.file"),
            (("run", "probe.json", "--inputs", "probe.json"), "input.npz"),
            (("run", "probe.json", "--inputs", "in3.npz", "--chip", "ascend0"), "chip.unknown"),
            (("run", "probe.json", "--inputs", "in3.npz", "--policy", "nop_count"), "option.pair"),
            (("run", "probe.json", "--inputs", "in3.npz", "--policy", "nop_count=-1"), "policy.value"),
            (("run", "probe.json", "--inputs", "in3.npz", "--policy", "nops=1"), "policy.unknown"),
            (("run", "probe.json", "--inputs", "in3.npz", "--tiling_schedule_optimize", "2"), "E10006"),
            (("run", "probe.json", "--inputs", "in3.npz", "--option", "ge.tiling_schedule_optimize=on"), "E10001"),
            (("run", "probe.json", "--inputs", "in3.npz", "--outputs", "in3.npz/out.npz"), "output.file"),
            (("compile", "probe.json", "-o", "in3.npz/p.sqt"), "output.file"),
            (("compile", "probe.json", "-o", "p.sqt", "--chip", "x"), "chip.unknown"),
        ],
    )
    def test_errors_are_short_and_leave_nothing(self, sqemu, probe, monkeypatch, arguments, error):
        """Every kind of bad input gives exit 2, one JSON object with its id, and no new file."""
        monkeypatch.chdir(probe)
        before = sorted(p.name for p in probe.iterdir())
        found = sqemu(*arguments, "--json")
        assert found.code == 2
        assert found.error["error"] == error
        assert found.error["remedy"]
        assert sorted(p.name for p in probe.iterdir()) == before

    @pytest.mark.parametrize(
        ("arrays", "error"),
        [
            ({"x": np.zeros(40, "f4")}, "input.missing"),
            ({"x": np.zeros(40, "f8"), "n": np.zeros(1, "i4")}, "input.dtype"),
            ({"x": np.zeros(41, "f4"), "n": np.zeros(1, "i4")}, "input.shape"),
            ({"x": np.array([None]), "n": np.zeros(1, "i4")}, "input.npz"),
        ],
    )
    def test_wrong_arrays(self, sqemu, probe, arrays, error):
        """A missing, mistyped, misshapen or pickled array is named, exit 2."""
        np.savez(probe / "bad.npz", **arrays)
        found = sqemu(
            "run", probe / "probe.json", "--inputs", probe / "bad.npz", "--outputs", probe / "o.npz", "--json"
        )
        assert (found.code, found.error["error"]) == (2, error)
        assert not list(probe.glob("*o.npz*"))

    def test_a_later_bad_input_leaves_no_output(self, sqemu, probe):
        """When the second input file is bad, the first execution's output is not written either."""
        found = sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--inputs", probe / "nothing.npz", "--outputs",
            probe / "o.npz",
        )  # fmt: skip
        assert found.code == 2
        assert not list(probe.glob("*o.*npz*"))

    def test_damaged_blob(self, sqemu, probe):
        """A blob with one flipped byte, or cut anywhere, is refused with an offset or reason, exit 2."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt")
        whole = (probe / "p.sqt").read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        for damaged in (bytes(flipped), whole[:100], whole[:-1], whole[:8]):
            (probe / "bad.sqt").write_bytes(damaged)
            found = sqemu("run", probe / "bad.sqt", "--inputs", probe / "in3.npz")
            assert found.code == 2
            assert "bad.sqt" in found.err

    def test_compile_options_on_a_blob_are_refused(self, sqemu, probe):
        """Options that were decided at compile time cannot be given for a blob."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt")
        found = sqemu("run", probe / "p.sqt", "--inputs", probe / "in3.npz", "--policy", "nop_count=1", "--json")
        assert (found.code, found.error["error"]) == (2, "option.compiled")

    def test_device_policies_are_no_business_of_compile(self, sqemu, probe):
        """`compile` refuses a policy that is decided on the device and says where it belongs."""
        found = sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--policy", "prefetch_depth=3")
        assert found.code == 2
        assert "sqemu run" in found.err
        assert not (probe / "p.sqt").exists()

    def test_huge_shapes(self, sqemu, probe):
        """A shape of 10^18 elements is refused by the compiler, not by running out of memory."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["inputs"][0]["shape"] = [10**18]
        (probe / "huge.json").write_text(json.dumps(graph))
        found = sqemu("compile", probe / "huge.json", "-o", probe / "h.sqt")
        assert found.code == 2
        assert "x" in found.err

    def test_a_plugin_switched_off_is_missed_by_name(self, sqemu, probe):
        """Without the plugin of the operator the graph is refused with the operator's name."""
        found = sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--no-plugin", "kernels")
        assert found.code == 2
        assert "TilingProbe" in found.err


class TestCompile:
    def test_default_is_offline(self, sqemu, probe):
        """`compile` builds offline, --online builds online, the graph's mode decides otherwise."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["options"]["ge.buildGraphMode"] = "online"
        (probe / "online.json").write_text(json.dumps(graph))

        def mode(*arguments):
            found = sqemu("compile", *arguments, "-o", probe / "p.sqt", "--explain")
            return found.out.partition("options")[2].partition("probe0")[0]

        assert "offline" in mode(probe / "probe.json")
        assert "online" in mode(probe / "probe.json", "--online")
        assert "online" in mode(probe / "online.json")
        assert "offline" in mode(probe / "online.json", "--offline")

    def test_json_counts(self, sqemu, probe):
        """`--json` counts tasks: tiling, wait, 5 NOPs, kernel, update, record, end of graph."""
        found = sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--json").objects[0]
        assert (found["tasks"], found["streams"], found["events"]) == (11, 2, 1)
        assert found["bytes"] == (probe / "p.sqt").stat().st_size

    def test_standard_input(self, sqemu, probe, monkeypatch):
        """`-` reads the graph from standard input."""
        import io
        import sys

        raw = io.BytesIO((probe / "probe.json").read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
        assert sqemu("compile", "-", "-o", probe / "p.sqt").code == 0
