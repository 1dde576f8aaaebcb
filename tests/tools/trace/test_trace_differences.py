"""`sqemu trace diff`: equal recordings, and the first difference of each stream, time, patches and reports."""

from __future__ import annotations

import pytest

from emu_core.trace import TaskDone
from tools.trace.differences import NOTHING, differences
from tools.trace.source import RecordedRun


def done(time, task, kind="nop", stream=0, started=0):
    """An entry that ended."""
    return TaskDone(time=time, run=1, stream=stream, slot=task, task=task, engine="e", kind=kind, started=started)


def run(*events):
    """An execution of these events."""
    return RecordedRun(0, 1, events)


def found(a, b, **more):
    """Differences of two executions."""
    return [(d.about, d.where, d.a, d.b) for d in differences([run(*a)], [run(*b)], **more)]


class TestDifferences:
    def test_equal(self):
        """The same events are equal."""
        assert found([done(5, 0)], [done(5, 0)]) == []

    def test_other_origin(self):
        """Times count from the start of the execution: the same 100 ns later is equal."""
        a, b = [done(5, 0), done(9, 1, started=5)], [done(105, 0, started=100), done(109, 1, started=105)]
        assert found(a, b) == []

    def test_kind(self):
        """The first entry of a stream that is another one is told, not what follows from it."""
        a, b = [done(5, 0), done(9, 1), done(9, 2)], [done(5, 0), done(9, 1, "kernel"), done(9, 2, "kernel")]
        assert found(a, b) == [("task", "stream 0, entry 1 that ran", "0:1 nop", "0:1 kernel")]

    def test_missing(self):
        """A stream that ends earlier has nothing there."""
        assert found([done(5, 0), done(5, 1)], [done(5, 0)]) == [
            ("task", "stream 0, entry 1 that ran", "0:1 nop", NOTHING)
        ]

    def test_times(self):
        """The same entries at other times differ in time, unless times are left out."""
        a, b = [done(5, 0), done(20, 1, started=5)], [done(5, 0), done(21, 1, started=5)]
        assert found(a, b) == [
            ("time", "", "15 ns", "16 ns"), ("task", "stream 0, entry 1 that ran", "0:1 nop: 0 to 15 ns",
                                             "0:1 nop: 0 to 16 ns"),
        ]  # fmt: skip
        assert found(a, b, times=False) == []

    def test_number_of_executions(self):
        """Another number of executions is a difference of its own."""
        (only,) = differences([run()], [run(), run()])
        assert (only.about, only.a, only.b) == ("executions", "1", "2")


class TestCommand:
    def test_record_and_its_lines(self, sqemu, record, lines):
        """A record equals the lines of the same run."""
        found = sqemu("trace", "diff", record, lines)
        assert (found.code, found.out) == (0, "equal: 2 executions\n")

    def test_two_inputs(self, sqemu, record, folder):
        """Inputs 3 and 5 differ in key and block dim of patch and kernel, and in time by 1 ns."""
        one, two = (folder / f"one{n}.jsonl" for n in (0, 1))
        lines = (folder / "a.jsonl").read_text().splitlines(keepends=True)
        one.write_text("".join(line for line in lines if '"run": 1' in line))
        two.write_text("".join(line for line in lines if '"run": 2' in line))
        found = sqemu("trace", "diff", one, two, "--json")
        assert found.code == 1
        told = {(d["about"], d["where"]): (d["a"], d["b"]) for d in found.objects}
        assert told["time", ""] == ("22603 ns", "22602 ns")
        kernels = told["task", "stream 0, entry 7 that ran"]
        assert "TilingProbe key 0 block dim 3" in kernels[0]
        assert "TilingProbe key 2 block dim 5" in kernels[1]
        assert told["patch", "write 0"] == (
            "tiling key of probe0: 0x0 -> 0x0 by 1:0 ai_cpu", "tiling key of probe0: 0x0 -> 0x2 by 1:0 ai_cpu",
        )  # fmt: skip

    def test_outcomes(self, sqemu, record, stale):
        """A failed run differs in its outcome, hazard and fault; what is told fits 80 columns."""
        found = sqemu("trace", "diff", record, stale, "--run", "0")
        assert found.code == 1
        assert "execution 0: outcome\n  A: ok\n  B: failed" in found.out
        assert "B: hazard.stale-prefetch at 0:2" in found.out
        assert "B: kernel.placeholder-block-dim at 0:2" in found.out
        assert max(map(len, found.out.splitlines())) <= 80

    @pytest.mark.parametrize("option", [(), ("--ignore-times",)])
    def test_itself(self, sqemu, dead, option):
        """A deadlock equals itself."""
        found = sqemu("trace", "diff", dead, dead, *option)
        assert found.code == 0
        assert found.out == ("equal: 1 execution, times left out\n" if option else "equal: 1 execution\n")
