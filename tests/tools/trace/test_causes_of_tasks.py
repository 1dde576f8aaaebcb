"""`sqemu trace why` and `critical-path`: chains of causes of small programs, with times worked out by hand.

Of the probe on 310P3: model execute 1000 ns, tiling 15000, update 2000, event record 500, reset and NOPs 100 each.
"""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from emu_core.trace import Doorbell, FaultRaised, SignalChanged, TaskDone, TaskStarted, TaskWaits
from tools.trace.causes import CORELESS, HELD, HOST, NOTICED, RAN, WAITED, Causes
from tools.trace.source import RecordedRun


def start(time, stream, task, kind="nop", engine="place_holder", **more):
    """An entry that starts."""
    return TaskStarted(time=time, run=1, stream=stream, slot=task, task=task, engine=engine, kind=kind, **more)


def done(time, stream, task, started, kind="nop", engine="place_holder", detail=""):
    """An entry that ends."""
    return TaskDone(
        time=time, run=1, stream=stream, slot=task, task=task, engine=engine, kind=kind, started=started, detail=detail
    )


def waits(time, stream, task, signal):
    """An entry that comes to wait."""
    return TaskWaits(time=time, run=1, stream=stream, slot=task, task=task, kind="event_wait", signal=signal)


def flag(time, signal, stream, task, value=1):
    """A flag that changes."""
    return SignalChanged(time=time, run=1, signal=signal, value=value, stream=stream, task=task)


def bell(time, stream, tail, reason="submit"):
    """A doorbell."""
    return Doorbell(time=time, run=1, stream=stream, tail=tail, reason=reason)


def causes(*events):
    """The causes in these events."""
    return Causes(RecordedRun(0, 1, events))


def told(links):
    """Links as (what, from, to, task)."""
    return [(k.what, k.since, k.until, None if k.task is None else (k.task.stream, k.task.task)) for k in links]


class TestChain:
    def test_queue_then_host(self):
        """What comes second in a queue started because the first ended, and that because the host submitted it."""
        found = causes(bell(0, 0, 2), start(10, 0, 0), done(30, 0, 0, 10), start(30, 0, 1), done(50, 0, 1, 30))
        assert told(found.chain(found.tasks.named((0, 1)))) == [
            (RAN, 10, 30, (0, 0)), (HELD, 0, 10, (0, 0)), (HOST, 0, 0, None),
        ]  # fmt: skip

    def test_wait_follows_the_setter(self):
        """A wait that passed leads to who set its flag last, not to the entry before it."""
        found = causes(
            bell(0, 0, 2), bell(0, 1, 1), waits(0, 0, 0, "event 4"), start(0, 1, 0, "event_record", "event"),
            flag(500, "event 4", 1, 0), done(500, 1, 0, 0, "event_record", "event"),
            start(500, 0, 0, "event_wait", "event"), done(500, 0, 0, 500, "event_wait", "event"), start(500, 0, 1),
        )  # fmt: skip
        assert told(found.chain(found.tasks.named((0, 1)))) == [
            (RAN, 500, 500, (0, 0)), (WAITED, 500, 500, (0, 0)), (RAN, 0, 500, (1, 0)), (HOST, 0, 0, None),
        ]  # fmt: skip

    def test_flag_noticed_late(self):
        """Time from the setting of a flag to the end of its wait is a link of its own."""
        found = causes(
            bell(0, 0, 1), bell(0, 1, 1), waits(0, 0, 0, "event 4"), start(0, 1, 0, "event_record", "event"),
            flag(500, "event 4", 1, 0), done(500, 1, 0, 0, "event_record", "event"),
            start(900, 0, 0, "event_wait", "event"), done(900, 0, 0, 900, "event_wait", "event"),
        )  # fmt: skip
        assert told(found.path(found.last()))[-3:] == [
            (NOTICED, 500, 900, (0, 0)), (WAITED, 900, 900, (0, 0)), (RAN, 900, 900, (0, 0)),
        ]  # fmt: skip

    def test_flag_of_the_host(self):
        """A flag that the host set ends the chain."""
        found = causes(waits(0, 0, 0, "notify 1"), flag(70, "notify 1", -1, -1), start(70, 0, 0, "notify_wait"))
        assert told(found.chain(found.tasks.named((0, 0)))) == [(WAITED, 70, 70, (0, 0)), (HOST, 70, 70, None)]

    def test_nobody_set_the_flag(self):
        """A wait that ends without a flag event is held until then, and what came before goes on the chain."""
        found = causes(bell(5, 0, 1), waits(5, 0, 0, "notify 1"), start(70, 0, 0, "notify_wait"))
        assert told(found.chain(found.tasks.named((0, 0)))) == [
            (WAITED, 70, 70, (0, 0)), (HELD, 5, 70, (0, 0)), (HOST, 5, 5, None),
        ]  # fmt: skip

    def test_time_without_a_core(self):
        """A launch that had no core for 40 of its 100 ns gives two links, and names who held the cores."""
        found = causes(
            bell(0, 0, 2), bell(0, 1, 1), start(0, 1, 0, "kernel", "ai_core"), start(0, 0, 0, "kernel", "ai_core"),
            done(40, 1, 0, 0, "kernel", "ai_core"),
            done(100, 0, 0, 0, "kernel", "ai_core", "K key 0 block dim 8, in 2 waves, after 40 ns without a core"),
            start(100, 0, 1),
        )  # fmt: skip
        first = found.tasks.named((0, 0))
        assert told(found.chain(found.tasks.named((0, 1))))[:2] == [
            (RAN, 40, 100, (0, 0)), (CORELESS, 0, 40, (0, 0)),
        ]  # fmt: skip
        assert (first.detail, first.waves, first.coreless) == ("K key 0 block dim 8", 2, 40)
        assert [task.name for task in found.holders(first)] == [(1, 0)]

    def test_activated_by_a_task(self):
        """A queue that a task activated began because of that task."""
        found = causes(
            bell(0, 2, 1), start(0, 2, 0, "model_execute", "condition"), bell(1000, 0, 1, "activate"),
            done(1000, 2, 0, 0, "model_execute", "condition"), start(1000, 0, 0),
        )  # fmt: skip
        assert told(found.chain(found.tasks.named((0, 0)))) == [(RAN, 0, 1000, (2, 0)), (HOST, 0, 0, None)]

    def test_host_that_comes_back(self):
        """What the host submits after a pause is led back to what ended before."""
        found = causes(
            bell(0, 0, 1), start(0, 0, 0), done(20, 0, 0, 0), bell(30020, 0, 2), start(30020, 0, 1)
        )  # fmt: skip
        assert told(found.chain(found.tasks.named((0, 1)))) == [
            (HOST, 20, 30020, None), (RAN, 0, 20, (0, 0)), (HOST, 0, 0, None),
        ]  # fmt: skip

    def test_loop(self):
        """An entry that executes twice is two tasks; the chain of the second leads through the first."""
        found = causes(
            bell(0, 0, 1), start(0, 0, 0), done(10, 0, 0, 0), start(10, 0, 0), done(20, 0, 0, 10)
        )  # fmt: skip
        assert found.tasks.count((0, 0)) == 2
        assert told(found.chain(found.tasks.named((0, 0)))) == [(RAN, 0, 10, (0, 0)), (HOST, 0, 0, None)]
        assert told(found.chain(found.tasks.named((0, 0), 1))) == [(HOST, 0, 0, None)]

    def test_refused_at_its_start(self):
        """An entry of which nothing but a fault is told failed at that time, and is last."""
        fault = FaultRaised(time=10, run=1, id="x.y", stream=0, slot=1, task=1, ts_code=1, what="no")
        found = causes(bell(0, 0, 2), start(0, 0, 0), done(10, 0, 0, 0), fault)
        assert told(found.path(found.last())) == [(HOST, 0, 0, None), (RAN, 0, 10, (0, 0)), (RAN, 10, 10, (0, 1))]
        assert found.last().fault == "x.y"


class TestWhy:
    def test_kernel_of_the_probe(self, sqemu, record):
        """The kernel began at 19100: record at 18500 + reset 100 + 5 NOPs; back through tiling to the host at 0."""
        found = sqemu("trace", "why", record, "0:7", "--run", "0", "--json")
        assert found.code == 0
        head, *links = found.objects
        assert (head["started"], head["ended"]) == (19100, 22103)
        chain = [(k["what"], k["from"], k["to"], k.get("task")) for k in links if k["what"] != WAITED]
        nops = [(RAN, 18600 + 100 * (k - 2), 18700 + 100 * (k - 2), f"0:{k}") for k in range(6, 1, -1)]
        assert chain == [
            *nops, (RAN, 18500, 18600, "0:1"), (RAN, 18500, 18500, "0:0"), (RAN, 18000, 18500, "1:2"),
            (RAN, 16000, 18000, "1:1"), (RAN, 1000, 16000, "1:0"), (RAN, 0, 1000, "2:0"), (HOST, 0, 0, None),
        ]  # fmt: skip

    def test_text(self, sqemu, record):
        """The text names the kernel, who patched it, the group of entries before it, and fits 80 columns."""
        found = sqemu("trace", "why", record, "0:7", "--run", "0")
        assert "0:7 kernel of probe0: started at 19100 ns" in found.out
        assert "patched before by 1:1 task_update at 18000 ns" in found.out
        assert "block_dim 0xffff -> 0x3" in " ".join(found.out.split())
        assert "0:0 to 0:6 (event_wait, event_reset, 5 nop)" in found.out
        assert max(map(len, found.out.splitlines())) <= 80

    def test_lines_and_record_say_the_same(self, sqemu, record, lines):
        """The JSON lines of a trace give the chain that the record gives."""
        for run in ("0", "1"):
            arguments = ("0:7", "--run", run, "--json")
            assert sqemu("trace", "why", record, *arguments).out == sqemu("trace", "why", lines, *arguments).out

    def test_deadlock(self, sqemu, dead):
        """A task that never came is traced to the wait before it, and to the flag that nothing sets."""
        found = sqemu("trace", "why", dead, "2:1")
        text = " ".join(found.out.split())
        assert "2:1 never started in execution 0" in text
        assert "stream 2 stands at 2:1 notify_wait, which waits for notify 0 since 1000 ns" in text
        assert "stream 0 stands at 0:0 event_wait of probe0, which waits for event 0 since 1000 ns" in text
        assert "let a task of another stream set event 0" in text

    def test_behind_a_deadlock(self, sqemu, dead):
        """An entry that was submitted and never came to the head is told by what stands there."""
        found = sqemu("trace", "why", dead, "0:5", "--json")
        assert found.objects[0]["started"] is None
        assert "stands at 0:0 event_wait" in found.objects[0]["why"][1]

    def test_flag_of_another_execution(self):
        """Without a report, the execution in which the flag was set says who sets it."""
        from tools.trace.source import Recording
        from tools.trace.stuck import why_never
        from tools.trace.tasks import Tasks

        good = RecordedRun(0, 1, (flag(5, "event 4", 1, 2),))
        bad = RecordedRun(1, 2, (waits(9, 0, 0, "event 4"),))
        told = why_never(Recording("f", "", (good, bad)), bad, Tasks(bad.events), (0, 3))
        assert told[1] == "stream 0 stands at 0:0 event_wait, which waits for event 4 since 9 ns"
        assert told[2] == "in execution 0 it was 1:2 that set event 4"

    def test_behind_a_fault(self, sqemu, stale):
        """What lies behind a failed kernel never started because its stream stopped there."""
        found = sqemu("trace", "why", stale, "0:3")
        assert "stream 0 stopped at 0:2 task of probe0, which failed at 18600 ns" in " ".join(found.out.split())

    def test_stale_launch_names_its_hazard(self, sqemu, stale):
        """The fault and the hazard of a stale launch are told with it."""
        found = sqemu("trace", "why", stale, "0:2")
        assert "hazard.stale-prefetch:" in found.out
        assert "kernel.placeholder-block-dim" in found.out

    @pytest.mark.parametrize(
        ("task", "id_"), [("0:99", "trace.task"), ("7", "trace.task-form"), ("0:7x", "trace.task-form")]
    )
    def test_unknown(self, sqemu, record, task, id_):
        """A task that is not there, or is written otherwise, is refused with exit 2."""
        found = sqemu("trace", "why", record, task, "--json")
        assert (found.code, found.error["error"]) == (2, id_)

    def test_nth(self, sqemu, record):
        """An execution of an entry that did not happen is refused."""
        assert sqemu("trace", "why", record, "0:7", "--nth", "1").code == 0
        assert sqemu("trace", "why", record, "0:7", "--nth", "2", "--json").error["error"] == "trace.task"


class TestCores:
    def test_three_launches_of_all_cores(self, sqemu, probe):
        """Three launches of 8 blocks of 2 ns on 8 cores come at once: they get cores after 0, 2 and 4 ns."""
        graph = json.loads((probe / "probe.json").read_text())
        (node,) = graph["nodes"]
        graph["nodes"] = [
            {**node, "name": f"p{k}", "outputs": [f"y{k}"], "attrs": {"_stream_label": f"s{k}"}} for k in range(3)
        ]
        graph["outputs"] = ["y0", "y1", "y2"]
        (probe / "three.json").write_text(json.dumps(graph))
        np.savez(probe / "in8.npz", x=np.arange(40, dtype="f4"), n=np.array([8], "i4"))
        path = probe / "three.sqr"
        assert sqemu("run", probe / "three.json", "--inputs", probe / "in8.npz", "--record", path).code == 0
        rows = sqemu(
            "trace", "sql", path, "select stream, task, coreless from tasks where kind = 'kernel' order by coreless",
            "--json",
        ).objects  # fmt: skip
        assert [row["coreless"] for row in rows] == [0, 2, 4]
        last = rows[-1]
        found = sqemu("trace", "why", path, f"{last['stream']}:{last['task']}")
        assert "no core was free for it for 4 ns; held by" in found.out
        events = sqemu("trace", "timeline", path, "-o", probe / "t.json", "--json").objects[0]
        assert events["slices"] > 100


class TestCriticalPath:
    @pytest.mark.parametrize("run", ["0", "1"])
    def test_no_gaps(self, sqemu, record, run):
        """The links follow each other without a gap and add up to the time of the execution."""
        links = sqemu("trace", "critical-path", record, "--run", run, "--json").objects
        assert all(a["to"] == b["from"] for a, b in pairwise(links))
        began = 0 if run == "0" else 22603
        assert (links[0]["from"], links[-1]["to"]) == (began, began + (22603 if run == "0" else 22602))

    def test_shares(self, sqemu, record):
        """Tiling takes 15000 of 22603 ns: 66.4 percent, named first."""
        found = sqemu("trace", "critical-path", record, "--run", "0")
        assert "critical path of execution 0: 22603 ns, from 0 to 22603 ns" in found.out
        assert "shares: aicpu 66.4 %, kernel 13.3 %" in found.out

    def test_host_tiling(self, sqemu, probe):
        """With tiling on the host its round trip of 30000 ns is the first link of the second execution."""
        path = probe / "host.sqr"
        ran = sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--times", "2", "--tiling", "host",
            "--record", path,
        )  # fmt: skip
        assert ran.code == 0
        links = sqemu("trace", "critical-path", path, "--json").objects
        assert (links[0]["what"], links[0]["to"] - links[0]["from"]) == (HOST, 30000)

    def test_nothing_ended(self, sqemu, tmp_path):
        """A trace without tasks has no path, and says so."""
        path = tmp_path / "t.jsonl"
        path.write_text(json.dumps({"event": "model", "time": 0, "run": 1, "model": 0, "phase": "start"}) + "\n")
        assert "no task ended" in sqemu("trace", "critical-path", path).out
