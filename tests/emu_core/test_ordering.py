"""Policy `ordering=report`: each missing order shown by a smallest program, each repaired, and random programs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.engines import Handler, Run
from emu_core.hookspecs import hookimpl
from emu_core.journal import Writer
from emu_core.plugins import PluginHost
from emu_core.trace import Trace
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.runtime.sqes import Place, SqeBuilder

READ, WRITE, PATCH = 40, 41, 42
STRUCT = "EventWaitSqe"
SIZE = 8
CHIP = replace(ASCEND310P3, sq_depth=128, usable_tasks=120)


class _Engines:
    """Entries that read or write a word after 100 ns, or patch another entry."""

    @hookimpl
    def sqemu_engines(self, device):
        del device
        return (
            Handler("test", "read", READ, lambda task: Run(100, partial(_read, task))),
            Handler("test", "write", WRITE, lambda task: Run(100, partial(_write, task))),
            Handler("test", "patch", PATCH, lambda task: Run(100, partial(_patch, task))),
        )


def _address(task):
    return task.device.test_buffer + SIZE * task.field(STRUCT, "event_id")


def _read(task):
    task.memory.read(_address(task), SIZE)


def _write(task):
    task.memory.write(_address(task), task.task_id.to_bytes(SIZE, "little"))


def _patch(task):
    stream, slot = divmod(task.field(STRUCT, "event_id"), 64)
    struct = task.device.layout("AicoreKernelSqe")
    writer = Writer(task.stream.id, task.task_id, "test")
    task.device.patch_sqe(stream, slot, {"pc_addr_low": task.task_id}, struct, writer)


HOST = PluginHost([_Engines()])


class Program:
    """A device whose streams are written by hand: `program(0, "write 3", "record 1")`."""

    def __init__(self, *, trace=None, **policies):
        self.device = Device(CHIP, {"ordering": "report", **policies}, HOST, trace=trace)
        self.device.test_buffer = self.device.memory.allocate(64 * SIZE, label="buffer").address
        self.device.memory.write(self.device.test_buffer, bytes(64 * SIZE))
        self.build = SqeBuilder(HOST.registry, CHIP.family)
        self.streams = {}

    def stream(self, number):
        """Stream `number`, made if it is new."""
        while number not in self.streams:
            self.streams[len(self.streams)] = self.device.create_stream(f"s{len(self.streams)}", bound=False)
        return self.streams[number]

    def add(self, number, *steps):
        """Append entries, for example `write 3`, to a stream."""
        stream = self.stream(number)
        for step in steps:
            kind, _, at = step.partition(" ")
            place = Place(stream.id, stream.queue.next_task_id())
            if kind in ("read", "write", "patch"):
                value = int(at) if kind != "patch" else int(at.split(":")[0]) * 64 + int(at.split(":")[1])
                code = {"read": READ, "write": WRITE, "patch": PATCH}[kind]
                task = {"type": code, "event_id": value, "task_id": place.task_id}
                stream.queue.append(self.device.layout(STRUCT).build(task))
            else:
                made = getattr(self.build, KINDS[kind])
                stream.queue.append(made(place, int(at)) if at else made(place))
        return self

    def run(self):
        """The reports once everything has run."""
        for stream in self.streams.values():
            self.device.scheduler.ring_doorbell(stream)
        self.device.scheduler.run_until_idle()
        return self.device.hazards

    def ids(self):
        """Their ids."""
        return [h.id for h in self.run()]


KINDS = {
    "nop": "nop", "record": "event_record", "wait": "event_wait", "reset": "event_reset", "notify": "notify_record",
    "take": "notify_wait",
}  # fmt: skip


def program(**lines):
    """`program(s0="write 3; record 1", s1="wait 1; read 3")`."""
    made = Program()
    for name, steps in lines.items():
        made.add(int(name[1:]), *(s.strip() for s in steps.split(";")))
    return made


# ---- two accesses ------------------------------------------------------------------------------------------------


def test_a_read_that_nothing_orders_behind_a_write_is_reported_with_both_sides():
    """Stream 1 reads what stream 0 writes at the same time; the fix names a record and a wait."""
    (hazard,) = program(s0="nop; write 3", s1="nop; nop; read 3").run()
    assert hazard.id == "hazard.unordered-access"
    assert (hazard.stream, hazard.task, hazard.detail["other_stream"], hazard.detail["other_task"]) == (1, 2, 0, 1)
    assert hazard.what == "reads buffer, byte 24, which stream 0 task 1 (write) writes, and nothing orders the two"
    assert hazard.remedy == "let stream 0 record an event behind task 1 that stream 1 waits for before task 2"


def test_the_event_that_the_report_asks_for_repairs_it():
    """With the record and the wait there is nothing to report."""
    assert program(s0="nop; write 3; record 0", s1="wait 0; read 3").ids() == []


@pytest.mark.parametrize(
    ("lines", "reports"),
    [
        ({"s0": "write 3", "s1": "write 3"}, 1),
        ({"s0": "read 3", "s1": "write 3"}, 1),
        ({"s0": "read 3", "s1": "read 3"}, 0),
        ({"s0": "write 3", "s1": "read 4"}, 0),
        ({"s0": "write 3; read 3; write 3"}, 0),
        ({"s0": "write 3; notify 0", "s1": "take 0; write 3"}, 0),
        ({"s0": "write 3; record 0", "s1": "wait 0; record 1", "s2": "wait 1; read 3"}, 0),
        ({"s0": "record 0; write 3", "s1": "wait 0; read 3"}, 1),
        ({"s0": "write 3; record 0", "s1": "read 3; wait 0"}, 1),
    ],
)
def test_order_comes_from_flags_only(lines, reports):
    """Reads beside reads are fine, chains over a third stream count, a record before the write orders nothing."""
    assert len(program(**lines).ids()) == reports


def test_a_pair_is_reported_once_however_often_it_runs():
    """Two words of one pair of entries are one report; other entries are another one."""
    found = program(s0="write 3; write 3", s1="nop; nop; nop; read 3").run()
    assert [(h.detail["other_task"], h.task) for h in found] == [(1, 3)]


def test_what_the_host_waited_for_is_behind_it():
    """A second program on the same buffer, after all of the first is done, has nothing to report."""
    made = program(s0="write 3", s1="write 4")
    assert made.ids() == []
    made.add(1, "read 3").add(0, "write 4")
    assert made.ids() == []


# ---- flags -------------------------------------------------------------------------------------------------------


def test_a_flag_that_is_set_twice_orders_behind_neither_setter():
    """Two streams record event 0; the wait is told that it may come before either, and the read is unordered."""
    found = program(s0="write 3; record 0", s1="nop; nop; nop; nop; record 0", s2="nop; " * 20 + "wait 0; read 3").run()
    assert [h.id for h in found] == ["hazard.flag-reuse", "hazard.unordered-access"]
    assert (
        "passes event 0, which stream 0 task 1 (event_record) and stream 1 task 4 (event_record) both set"
        in found[0].what
    )
    assert found[0].remedy == "reset event 0 between the two, or give each its own"


def test_a_reset_between_two_records_ends_the_first_use():
    """Record, wait, reset, record, wait: each wait belongs to one record."""
    lines = {
        "s0": "write 3; record 0; wait 1; write 4; record 0",
        "s1": "wait 0; read 3; reset 0; record 1; wait 0; read 4",
    }
    assert program(**lines).ids() == []


# ---- patches -----------------------------------------------------------------------------------------------------


def test_an_entry_that_does_not_wait_for_its_patch_is_reported():
    """Stream 1 patches a kernel of stream 0 that nothing holds back until then."""
    found = program(s0="nop; " * 60 + "nop", s1="patch 0:50").run()
    assert [h.id for h in found] == ["hazard.unordered-update"]
    assert found[0].what == (
        "executes, and nothing orders it behind stream 1 task 0 (patch), which patches its pc_addr_low"
    )


def test_a_wait_in_front_of_the_patched_entry_orders_it():
    """The patch is recorded and waited for: nothing to report."""
    found = program(s0="wait 0; " + "nop; " * 59 + "nop", s1="patch 0:50; record 0").run()
    assert [h.id for h in found] == []


def test_two_patches_before_the_entry_runs_lose_the_first():
    """Both are named; that the second comes in order does not save the first."""
    found = program(s0="wait 0; " + "nop; " * 59 + "nop", s1="patch 0:50; patch 0:50; record 0").run()
    (lost,) = [h for h in found if h.id == "hazard.lost-update"]
    assert "which stream 1 task 0 (patch) patched before, and it has not executed in between" in lost.what
    assert "nothing orders the two" not in lost.what


def test_two_patches_of_two_streams_may_come_in_either_order():
    """The report says so."""
    lines = {
        "s0": "wait 0; wait 1; " + "nop; " * 59 + "nop",
        "s1": "patch 0:50; record 0",
        "s2": "nop; patch 0:50; record 1",
    }
    (lost,) = [h for h in program(**lines).run() if h.id == "hazard.lost-update"]
    assert lost.what.endswith("nothing orders the two, so either may be the one that stays")


# ---- all programs ------------------------------------------------------------------------------------------------


@st.composite
def ordered_programs(draw):
    """Programs whose every pair of conflicting accesses is ordered: a chain of streams, handed on by events.

    Word i belongs to one stream at a time; whoever wants it next waits for an event that its last owner records.
    """
    streams = draw(st.integers(2, 4))
    lines = {n: [] for n in range(streams)}
    owner, event, edges = {}, 0, []
    for _ in range(draw(st.integers(1, 14))):
        stream, word = draw(st.integers(0, streams - 1)), draw(st.integers(0, 3))
        if owner.get(word, stream) != stream:
            lines[owner[word]].append(f"record {event}")
            lines[stream].append(f"wait {event}")
            edges.append(event)
            event += 1
        owner[word] = stream
        for _ in range(draw(st.integers(0, 3))):
            lines[stream].append("nop")
        lines[stream].append(draw(st.sampled_from(("write", "read"))) + f" {word}")
    return lines, edges


def made_of(lines, **policies):
    """The program of these lines."""
    found = Program(**policies)
    for number, steps in lines.items():
        found.stream(number)
        found.add(number, *steps)
    return found


@settings(max_examples=300, deadline=None)
@given(case=ordered_programs())
def test_programs_that_are_ordered_by_construction_have_nothing_to_report(case):
    """Whatever the streams, words and distances."""
    lines, _ = case
    assert made_of(lines).ids() == []


@settings(max_examples=200, deadline=None)
@given(case=ordered_programs(), choice=st.integers(0, 100))
def test_a_missing_edge_is_found_unless_others_make_up_for_it(case, choice):
    """With one event gone, a report comes exactly when a slow comparison of all pairs finds one unordered."""
    lines, edges = case
    if not edges:
        return
    gone = edges[choice % len(edges)]
    cut = {n: [s for s in steps if s not in (f"record {gone}", f"wait {gone}")] for n, steps in lines.items()}
    reports = {(h.detail["other_stream"], h.detail["other_task"], h.stream, h.task) for h in made_of(cut).run()}
    wanted = unordered_pairs(cut)
    assert bool(reports) == bool(wanted)
    for a, i, b, j in reports:
        assert (a, i, b, j) in wanted or (b, j, a, i) in wanted


def unordered_pairs(lines):
    """Pairs of conflicting entries that no path over program order and events connects; by closure over all entries."""
    steps = {(n, i): step for n, line in lines.items() for i, step in enumerate(line)}
    before = {(n, i): {(n, i - 1)} if i else set() for n, i in steps}
    for entry, step in steps.items():
        if step.startswith("wait"):
            before[entry] |= {other for other, s in steps.items() if s == step.replace("wait", "record")}
    reach = {entry: closure(entry, before) for entry in steps}
    return {
        (*a, *b)
        for a in steps
        for b in steps
        if a[0] < b[0] and conflict(steps[a], steps[b]) and a not in reach[b] and b not in reach[a]
    }


def closure(entry, before):
    """All entries from which a path leads to `entry`."""
    seen, left = set(), [entry]
    while left:
        new = before[left.pop()] - seen
        seen |= new
        left += new
    return seen


def conflict(first, second):
    """Whether both touch one word and one of them writes it."""
    verbs = {first.split()[0], second.split()[0]}
    return first.split()[-1] == second.split()[-1] and verbs <= {"read", "write"} and "write" in verbs


@settings(max_examples=60, deadline=None)
@given(case=ordered_programs(), cut=st.integers(0, 100))
def test_reports_do_not_depend_on_queues_running_ahead(case, cut):
    """Watched kinds go in single steps: the same reports, at the same times."""
    lines, edges = case
    if edges:
        gone = edges[cut % len(edges)]
        lines = {n: [s for s in steps if s not in (f"record {gone}", f"wait {gone}")] for n, steps in lines.items()}
    found = []
    for single in (False, True):
        made = made_of(lines)
        if single:
            for kind in ("event_record", "event_wait"):
                made.device.scheduler.watch(kind, lambda *_: None)
        found.append([(h.id, h.what, h.time) for h in made.run()])
    assert found[0] == found[1]


def test_nothing_is_noted_and_nothing_changes_when_the_policy_is_off():
    """Times, memory and trace of a program are the same with the policy on, but for the reports."""
    outcomes = []
    for value in ("off", "report"):
        made = Program(ordering=value)
        made.add(0, "write 3", "record 0", "nop").add(1, "wait 0", "read 3", "nop")
        made.run()
        device = made.device
        outcomes.append((list(device.trace), device.clock.now, device.memory.read(device.test_buffer, 64 * SIZE)))
    assert outcomes[0] == outcomes[1]


def test_a_trace_that_keeps_nothing_still_finds_them():
    """Reports do not need any event to be kept."""
    made = Program(trace=Trace(()))
    made.add(0, "write 3").add(1, "read 3")
    assert made.ids() == ["hazard.unordered-access"]
    assert len(made.device.trace) == 0


def test_patches_are_followed_without_patch_events_and_after_the_entry_ran():
    """A late patch of an entry that executed before it is unordered, too; no event needs to be kept for that."""
    made = Program(trace=Trace(()))
    made.add(0, "nop", "read 3").add(1, *["nop"] * 9, "patch 0:1")
    found = made.run()
    assert [(h.id, h.stream, h.task, h.detail["other_stream"]) for h in found] == [("hazard.unordered-update", 0, 1, 1)]


def test_reading_the_trace_half_way_loses_nothing():
    """The log is handed on before it is made into events."""
    made = Program()
    made.add(0, "write 3").add(1, *["nop"] * 5, "read 3")
    made.device.clock.at(350, 9, lambda: len(list(made.device.trace)))
    assert made.ids() == ["hazard.unordered-access"]
