"""Deadlocks explained: which circle or which missing record, what became of the entry that sets the flag, pictures."""

from __future__ import annotations

import msgspec
import pytest

from emu_core.setters import SetterState
from emu_core.wait_graph import Cause
from emu_core.wait_pictures import dot, mermaid


def verdicts(bench, *streams):
    """The verdicts once `streams` have run as far as they can."""
    bench.run(*streams)
    report = bench.device.scheduler.deadlock(list(bench.device.streams.values()))
    return report.graph.verdicts


def crossed(bench):
    """Two streams: each waits for the event that the other records behind its own wait."""
    first, second = bench.stream(name="a"), bench.stream(name="b")
    bench.add(first, "nop")
    bench.add(first, "event_wait", 1)
    bench.add(first, "event_record", 0)
    bench.add(second, "event_wait", 0)
    bench.add(second, "event_record", 1)
    return first, second


def test_two_streams_that_wait_for_each_other_are_a_circle(queues):
    """Both waits and both records are named, and which record to put before which wait."""
    bench = queues()
    (verdict,) = verdicts(bench, *crossed(bench))
    assert (verdict.cause, verdict.streams) == (Cause.CYCLE, (0, 1))
    assert verdict.what == (
        "a circle: stream 0 task 1 (event_wait) waits for event 1 of stream 1 task 1 (event_record); "
        "stream 1 task 0 (event_wait) waits for event 0 of stream 0 task 2 (event_record); "
        "which stands behind stream 0 task 1"
    )
    assert verdict.remedy == "put task 1 of stream 1 before its wait, task 0; or break another link"


def test_the_remedy_of_a_circle_removes_it(queues):
    """The same program with task 1 of stream 1 before its task 0 runs to its end."""
    bench = queues()
    first, second = bench.stream(), bench.stream()
    for stream, steps in (
        (first, (("event_wait", 1), ("event_record", 0))),
        (second, (("event_record", 1), ("event_wait", 0))),
    ):
        for kind, event in steps:
            bench.add(stream, kind, event)
    bench.run(first, second)
    assert bench.device.scheduler.deadlock([first, second]) is None


def test_a_stream_that_waits_for_its_own_later_record_is_a_circle_of_one(queues):
    """Nobody else records the event: the record must come before the wait, or from another stream."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "event_wait", 2)
    bench.add(stream, "nop")
    bench.add(stream, "event_record", 2)
    (verdict,) = verdicts(bench, stream)
    assert (verdict.cause, verdict.streams) == (Cause.CYCLE, (0,))
    assert verdict.what.endswith("waits for event 2, which only its own stream sets later, at task 2")
    assert verdict.remedy == "put task 2 before task 0, or on another stream"


def test_a_missing_record_is_the_one_root_of_all_who_wait_behind_it(queues):
    """Stream 0 waits for an event that nobody records; 1 and 2 wait for what stands behind that."""
    bench = queues()
    streams = [bench.stream() for _ in range(3)]
    bench.add(streams[0], "event_wait", 0)
    bench.add(streams[0], "event_record", 1)
    bench.add(streams[1], "event_wait", 1)
    bench.add(streams[1], "notify_record", 1)
    bench.add(streams[2], "notify_wait", 1)
    (verdict,) = verdicts(bench, *streams)
    assert (verdict.cause, verdict.streams) == (Cause.MISSING, (0, 1, 2))
    assert verdict.what == "stream 0 task 0 (event_wait) waits for event 0, which no entry of any stream sets"
    assert verdict.remedy == "let a task of another stream set event 0, or take the wait out"


def test_a_record_behind_a_fault_blames_the_fault(queues):
    """The stream of a model that should record stopped at an entry that no engine handles."""
    bench = queues()
    bad, waits = bench.stream(bound=True), bench.stream()
    bad.model_id = 0  # a stream of a model stays where it failed
    _bad(bench, bad)
    bench.add(bad, "event_record", 0)
    bench.add(waits, "event_wait", 0)
    (verdict,) = verdicts(bench, bad, waits)
    assert (verdict.cause, verdict.streams) == (Cause.FAULT, (1,))
    assert "stream 0 task 1 (event_record) would set it, but that stream stopped at task 0" in verdict.what
    assert verdict.remedy == "repair the fault of stream 0 first"


def _bad(bench, stream):
    """An entry that no engine handles."""
    stream.queue.append(bench.device.layout("PhSqe").build({"type": 18, "task_id": stream.queue.next_task_id()}))


def test_a_record_on_a_stream_that_nobody_activates(queues):
    """The queue holds the record but nobody rang its doorbell."""
    bench = queues()
    idle, waits = bench.stream(bound=True), bench.stream()
    bench.add(idle, "event_record", 0)
    bench.add(waits, "event_wait", 0)
    (verdict,) = verdicts(bench, waits)
    assert verdict.cause is Cause.INACTIVE
    assert verdict.remedy == "activate stream 0, or bind it to the model as one that is"


def test_a_notify_that_another_wait_consumed(queues):
    """One record, two waits: the second is told that the record ran, and who took the notify at which time."""
    bench = queues()
    records, first, second = (bench.stream() for _ in range(3))
    bench.add(records, "notify_record", 0)
    bench.add(first, "notify_wait", 0)
    bench.add(second, "nop")
    bench.add(second, "notify_wait", 0)
    (verdict,) = verdicts(bench, records, first, second)
    assert (verdict.cause, verdict.streams) == (Cause.CONSUMED, (2,))
    notify_ns = bench.device.chip.latencies.notify_ns
    assert verdict.what.endswith(
        "stream 0 task 0 (notify_record) ran before, and the flag is clear; "
        f"stream 1 task 0 cleared it at {notify_ns} ns"
    )
    assert "once for each wait" in verdict.remedy


def test_who_cleared_a_flag_is_left_out_when_the_trace_does_not_have_it(queues, host, chip):
    """Without signal events in the trace the verdict says only that the record ran."""
    from emu_core.device import Device
    from emu_core.trace import Trace

    bench = queues()
    bench.device = Device(chip, None, host, trace=Trace(()))
    records, first, second = (bench.device.create_stream("s", bound=False) for _ in range(3))
    bench.add(records, "notify_record", 0)
    for stream in (first, second):
        bench.add(stream, "notify_wait", 0)
    (verdict,) = verdicts(bench, records, first, second)
    assert verdict.what.endswith("(notify_record) ran before, and the flag is clear")


def test_entries_of_a_wrapped_ring_are_found_where_they_are(queues, chip):
    """After 20 NOPs in a ring of 16 the record lies in slot 5 as task 21, behind the wait in slot 4."""
    bench = queues()
    stream = bench.stream()
    for _ in range(2):
        for _ in range(10):
            bench.add(stream, "nop")
        bench.run(stream)
    bench.add(stream, "event_wait", 0)
    bench.add(stream, "event_record", 0)
    bench.run(stream)
    graph = bench.device.scheduler.deadlock([stream]).graph
    (setter,) = graph.waits[0].setters
    assert (setter.slot, setter.task, setter.state, setter.head) == (5, 21, SetterState.BEHIND, 20)


@pytest.mark.parametrize("draw", [dot, mermaid])
def test_pictures_show_every_wait_and_every_setter(queues, draw):
    """Queues, flags and records of the circle are there, its six arrows are red."""
    bench = queues()
    bench.run(*crossed(bench))
    graph = bench.device.scheduler.deadlock(list(bench.device.streams.values())).graph
    text = draw(graph)
    for part in ("stream 0 (a)", "stream 1 (b)", "event 0", "event 1", "event_record: behind", "stands behind"):
        assert part in text
    assert text.count("color=red") == 6 or "linkStyle 0,1,2,3,4,5 stroke:red" in text


def test_names_cannot_break_out_of_a_picture(queues):
    """Quotes, brackets and backslashes of a stream's name are escaped in both languages."""
    bench = queues()
    stream = bench.stream(name='x"]; evil\\')
    bench.add(stream, "event_wait", 0)
    bench.run(stream)
    graph = bench.device.scheduler.deadlock([stream]).graph
    assert 'x\\"]; evil\\\\' in dot(graph)
    assert "x&quot;]; evil" in mermaid(graph)


def test_names_cannot_break_the_lines_of_a_report(queues):
    """Line breaks, control characters and quotes of a stream's name are escaped, in pictures line breaks as well."""
    bench = queues()
    stream = bench.stream(name='a\nfault: "b"\x1b[0m é')
    bench.add(stream, "event_wait", 0)
    bench.run(stream)
    report = bench.device.scheduler.deadlock([stream])
    assert 'stream 0 (a\\nfault: \\"b\\"\\x1b[0m é) task 0' in report.text()
    assert r"stream 0 (a\\nfault" in dot(report.graph)
    assert r"stream 0 (a\nfault" in mermaid(report.graph)


def test_the_report_becomes_json_whole(queues):
    """Verdicts and setters are plain values with their names."""
    bench = queues()
    bench.run(*crossed(bench))
    report = bench.device.scheduler.deadlock(list(bench.device.streams.values()))
    plain = msgspec.to_builtins(report)
    assert plain["graph"]["verdicts"][0]["cause"] == "cycle"
    assert plain["graph"]["waits"][1]["setters"][0]["state"] == "behind"
    assert report.text().splitlines()[-2].startswith("  because: a circle: ")
    assert report.text().splitlines()[-1].startswith("  do: put task 1")
