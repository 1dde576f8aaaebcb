"""Queues that run ahead do exactly what single steps do: same times, memory, trace, journal and states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.engines import Effect, Handler, Launch, Run
from emu_core.errors import DeviceFault
from emu_core.hookspecs import hookimpl
from emu_core.lines import line
from emu_core.plans import Acts, Fixed, Holds
from emu_core.plugins import PluginHost
from emu_core.signals import Signal
from emu_core.trace import EVENTS, Patched, SignalChanged, TaskDone, TaskStarted, TaskWaits, Trace
from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.chips.ascend950 import ASCEND950PR_9599
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.sqes import Place

STREAMS = 3
FLAGS = st.integers(0, 2)
HELD, ZERO, ACT, ACT_NOW = 40, 41, 42, 43
"""SQE types that no engine of the product has: one unit of the pool for some time; nothing, in no time; an act of its
own after 70 ns, or at once."""


class _Engines:
    """A plugin with a pooled kind and one that takes no time at all."""

    @hookimpl
    def sqemu_engines(self, device):
        return handlers(device)


def handlers(device):
    """Both kinds, each with `start` and plan."""
    if device.chip.family != "v100":
        return ()
    from fractions import Fraction

    from emu_core.cores import CUBE, Demand

    def hold(task):
        length = task.field("EventWaitSqe", "timeout")
        return Launch(0, device.cores, Demand({CUBE: 1}, 1, Fraction(length)), detail="held")

    def act(task):
        what, number = divmod(task.field("EventWaitSqe", "event_id"), STREAMS)
        streams = list(task.device.streams.values())
        other, scheduler = streams[number], task.device.scheduler
        if what == 0:
            scheduler.set_signal(Signal("event", number), task)
        elif what == 1:
            slot = (other.queue.head + 3) % 64
            if slot < other.queue.tail:
                struct = task.device.layout("EventWaitSqe")
                task.device.patch_sqe(other.id, slot, {"task_id": task.slot}, struct)
        elif what == 2:
            scheduler.pause(other)
        elif what == 3:
            len(task.device.trace)
        else:
            raise DeviceFault("no such act", ts_code=0x26, id="test.act")

    def start(duration):
        return lambda task: Run(duration, lambda: act(task), "act")

    plan = Holds(device.cores, CUBE, ("EventWaitSqe", "timeout"), "held")
    return (
        Handler("test", "held", HELD, hold, effect=Effect.RESOURCE, plan=plan),
        Handler("test", "act", ACT, start(70), plan=Acts(70, act, "act")),
        Handler("test", "act_now", ACT_NOW, start(0), plan=Acts(0, act, "act")),
        Handler("test", "zero", ZERO, lambda _: Run(0), effect=Effect.LOCAL, plan=Fixed(0)),
    )


HOST = PluginHost([_Engines()])
SMALL = {"sq_depth": 64, "usable_tasks": 60, "cq_depth": 4, "core_num_aic": 2}
CHIP = replace(ASCEND910B3, **SMALL)
CHIP_V200 = replace(ASCEND950PR_9599, **SMALL)

ENTRY = st.one_of(
    st.just(("nop",)),
    st.just(("nop",)),
    st.just(("zero",)),
    st.tuples(st.just("event_record"), FLAGS),
    st.tuples(st.just("event_wait"), FLAGS),
    st.tuples(st.just("event_reset"), FLAGS),
    st.tuples(st.just("stored"), FLAGS),
    st.tuples(st.just("notify_record"), FLAGS),
    st.tuples(st.just("notify_wait"), FLAGS),
    st.tuples(st.just("limited_wait"), FLAGS),
    st.just(("reported",)),
    st.just(("firmware",)),
    st.just(("unknown",)),
    st.tuples(st.just("held"), st.integers(0, 700)),
    st.tuples(st.just("launched"), st.integers(1, 3)),
    st.tuples(st.just("act"), st.integers(0, 12)),
    st.tuples(st.just("act_now"), st.integers(0, 12)),
)
ENTRY_V200 = st.one_of(
    st.just(("nop",)),
    st.tuples(st.sampled_from(("event_record", "event_wait", "event_reset", "notify_record", "notify_wait")), FLAGS),
    st.tuples(
        st.just("any_record"),
        FLAGS,
        st.sampled_from((0, 0, 2, 4, 6, 8, 9, 11)),
        st.fixed_dictionaries({"clr_flag": st.integers(0, 1), "cnt_flag": st.sampled_from((None, None, 0, 1))}),
        st.fixed_dictionaries({"cnt_value": st.integers(0, 2), "record_mode_bit": st.integers(0, 4)}),
    ),
    st.tuples(
        st.just("any_wait"),
        FLAGS,
        st.sampled_from((1, 1, 3, 5, 7, 10, 10, 11)),
        st.fixed_dictionaries({"clr_flag": st.integers(0, 1), "cnt_flag": st.sampled_from((None, None, 0, 1))}),
        st.fixed_dictionaries({"timeout": st.sampled_from((0, 0, 1, 0xFFFFFFFF)), "cnt_value": st.integers(0, 2)}),
    ),
    st.just(("reported",)),
    st.just(("firmware",)),
    st.just(("unknown",)),
)
"""Notify entries as the builders write them, and with other flags, modes, sub types and seconds."""
NOPS = st.integers(2, 6).map(lambda n: [("nop",)] * n)


def programs(entry):
    """One list of entries per stream, NOPs among them."""
    one = entry.map(lambda entry: [entry])
    part = st.lists(st.one_of(NOPS, NOPS, one), max_size=10).map(lambda ps: [e for p in ps for e in p])
    return st.lists(part, min_size=STREAMS, max_size=STREAMS)


PROGRAMS = programs(ENTRY)
PROGRAMS_V200 = programs(ENTRY_V200)
ACTIONS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 2500), st.integers(0, 12).map(lambda n: 100 * n)),
        st.integers(0, STREAMS),
        st.sampled_from(
            (
                "pause",
                "resume",
                "halt",
                "patch",
                "patch_far",
                "replace",
                "look",
                "look",
                "replace",
                "submit",
                "look",
                "trace",
                "disable",
                "jobs",
            )
        ),
        st.integers(0, STREAMS - 1),
    ),
    max_size=5,
)


class Bench:
    """A device with a program in plain streams, and what the host does to it at given times."""

    chip = CHIP
    wait = "EventWaitSqe"

    def __init__(self, program, actions, depth, *, on, bound=False, events=EVENTS, readers="prompt"):
        policies = {"prefetch_depth": str(depth), "completion_reader": readers}
        self.device = Device(self.chip, policies, HOST, record_rings=True, trace=Trace(events))
        self.device.scheduler.lanes.on = on
        self.device.scheduler.lanes.least = 1
        self.build = builder_for(HOST.registry, self.chip.family)
        self.streams = [self.device.create_stream(f"s{i}", bound=bound) for i in range(STREAMS)]
        self.seen = []
        for stream, part in zip(self.streams, program, strict=True):
            for entry in part:
                self.append(stream, entry)
        for time, order, what, number in actions:
            self.device.clock.at(time, order, lambda what=what, s=self.streams[number]: self.act(what, s))

    def append(self, stream, entry):
        """Submit one entry."""
        kind, *values = entry
        place = Place(stream.id, stream.queue.next_task_id())
        made = self.others(place, values)
        stream.queue.append(made[kind]() if kind in made else getattr(self.build, kind)(place, *values))

    def others(self, place, values):
        """Entries that no builder writes, by kind."""
        layout = self.device.layout
        return {
            "zero": lambda: layout("PhSqe").build({**place.header(ZERO)}),
            "reported": lambda: layout("PhSqe").build({**place.header(3), "task_type": 103, "wr_cqe": 1}),
            "firmware": lambda: layout("PhSqe").build({**place.header(3), "task_type": 103, "pre_p": 1}),
            "unknown": lambda: layout("PhSqe").build({**place.header(18)}),
            "act": lambda: layout("EventWaitSqe").build({**place.header(ACT), "event_id": values[0]}),
            "act_now": lambda: layout("EventWaitSqe").build({**place.header(ACT_NOW), "event_id": values[0]}),
            "stored": lambda: layout("WriteValueSqe").build(
                {**place.header(8), "kernel_credit": 254, "event_id": values[0], "awsize": 3, "va": 1}
            ),
            "held": lambda: layout("EventWaitSqe").build({**place.header(HELD), "timeout": values[0]}),
            "launched": lambda: layout("EventWaitSqe").build({**place.header(HELD), "timeout": 90, "pre_p": 1}),
            "limited_wait": lambda: layout("EventWaitSqe").build(
                {**place.header(5), "event_id": values[0], "timeout": 1}
            ),
        }

    def act(self, what, stream):
        """One thing that somebody outside of the queues does."""
        device, scheduler, queue = self.device, self.device.scheduler, stream.queue
        if what in ("pause", "resume", "halt"):
            getattr(scheduler, what)(stream)
        elif what in ("patch", "patch_far"):
            slot = queue.head + (1 if what == "patch" else 4)
            if slot < queue.tail:
                device.patch_sqe(stream.id, slot, {"task_id": 777}, device.layout(self.wait))
        elif what == "replace":
            slot = queue.head + 4
            if slot < queue.tail:
                device.replace_sqe(stream.id, slot, self.build.event_record(Place(stream.id, slot), 1))
        elif what == "submit":
            self.append(stream, ("nop",))
            scheduler.ring_doorbell(stream)
        elif what == "disable":
            queue.enabled = False
        elif what == "trace":
            self.seen.append(len(device.trace))
        elif what == "jobs":
            self.seen.append([(j.stream_id, j.started, j.asked) for j in device.cores.jobs])
        else:
            running = stream.running
            place = (stream.state, queue.head, queue.pending, stream.waits_for, running and running.since)
            self.seen.append((device.clock.now, place, stream.waiting and stream.waiting[0].slot))

    def run(self):
        """Run to the end; everything there is to compare."""
        scheduler = self.device.scheduler
        for stream in self.streams:
            if stream.queue.bound:
                scheduler.activate(stream)
            else:
                scheduler.ring_doorbell(stream)
        scheduler.run_until_idle()
        return self.state()

    def state(self):
        """Times, states, memory, trace, journal, reports."""
        device = self.device
        return {
            "now": device.clock.now,
            "seen": self.seen,
            "streams": [(s.state, s.queue.head, s.last_wait, s.waits_for, s.executed) for s in self.streams],
            "rings": [s.queue.contents() for s in self.streams],
            "cq": device.memory.read(device.cq.ring.address, device.cq.ring.size),
            "trace": list(device.trace),
            "journal": list(device.journal),
            "hazards": device.hazards,
            "faults": device.scheduler.faults,
            "blocked": [b.text() for b in device.scheduler.blocked(self.streams)],
            "flags": sorted(str(device.signals.signal(key)) for key in device.signals.values),
        }


class BenchV200(Bench):
    """The same with entries of v200."""

    chip = CHIP_V200
    wait = "NotifyWaitSqe"

    def others(self, place, values):
        """Entries that no builder writes, by kind."""
        layout = self.device.layout
        header = {"task_id": place.task_id}
        return {
            "reported": lambda: layout("PhSqe").build({**header, "type": 3, "task_type": 103, "wr_cqe": 1}),
            "firmware": lambda: layout("PhSqe").build({**header, "type": 3, "task_type": 103, "pre_p": 1}),
            "unknown": lambda: layout("PhSqe").build({**header, "type": 18}),
            "any_record": lambda: layout("NotifyRecordSqe").build({**header, "type": 6, **_flags(values)}),
            "any_wait": lambda: layout("NotifyWaitSqe").build({**header, "type": 7, **_flags(values)}),
        }


def _flags(values):
    number, sub_type, flags, further = values
    counted = int(sub_type in (2, 3, 6, 7, 9)) if flags["cnt_flag"] is None else flags["cnt_flag"]
    return {"notify_id": number, "sub_type": sub_type, **flags, "cnt_flag": counted, **further}


def _same(make):
    ahead, single = make(on=True), make(on=False)
    first, second = ahead.run(), single.run()
    for name, value in second.items():
        assert first[name] == value, name
    return ahead, single


ANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@ANY
@given(PROGRAMS, ACTIONS, st.integers(0, 9))
def test_running_ahead_cannot_be_told_from_single_steps(program, actions, depth):
    """Plain streams of every kind of entry, with a host that pauses, halts, patches, submits, disables and looks."""
    _same(lambda on: Bench(program, actions, depth, on=on))


@ANY
@given(PROGRAMS_V200, ACTIONS.map(lambda them: [a for a in them if a[2] != "jobs"]), st.integers(0, 9))
def test_notify_entries_of_v200_run_ahead_the_same(program, actions, depth):
    """Every sub type, with and without the flags, modes and seconds that plans leave to single steps."""
    _same(lambda on: BenchV200(program, actions, depth, on=on))


@settings(ANY, max_examples=100)
@given(PROGRAMS_V200, st.integers(0, 9))
def test_model_streams_of_v200_run_ahead_the_same_in_each_execution(program, depth):
    """Two executions of one ring of notify entries."""
    ahead, single = _same(lambda on: BenchV200(program, [], depth, on=on, bound=True))
    if all(s.queue.head == s.queue.tail for s in single.streams):
        assert ahead.run() == single.run()


@pytest.mark.parametrize("bench", [Bench, BenchV200])
def test_chains_of_flags_stay_in_lanes(bench):
    """Record, wait and reset of an event, and of a notify, are planned on both families: no entry is asked singly."""
    program = [[("event_record", 0), ("event_wait", 1), ("event_reset", 1), ("notify_record", 2)] * 5]
    program += [[("event_wait", 0), ("event_reset", 0), ("notify_wait", 2), ("event_record", 1)] * 5, []]
    found = bench(program, [], 8, on=True)
    planned = [found.device.scheduler.lanes.planner.codes_of(s.queue.view()[: s.queue.tail]) for s in found.streams[:2]]
    assert all(codes.all() for codes in planned)
    assert [s.queue.pending for s in found.streams] == [20, 20, 0]


@ANY
@given(PROGRAMS, st.integers(0, 9))
def test_model_streams_run_ahead_the_same_in_each_execution(program, depth):
    """Three executions of one ring: what was decoded in the first serves the others."""
    ahead, single = _same(lambda on: Bench(program, [], depth, on=on, bound=True))
    if all(s.queue.head == s.queue.tail for s in single.streams):
        assert ahead.run() == single.run()


@settings(ANY, max_examples=100)
@given(PROGRAMS, ACTIONS, st.sets(st.sampled_from((TaskStarted, TaskDone, TaskWaits, SignalChanged)), max_size=4))
def test_every_selection_of_events_comes_in_the_same_order(program, actions, events):
    """Columns give the events that are on, and no others, where single steps would have put them."""
    _same(lambda on: Bench(program, actions, 8, on=on, events=events))


@settings(ANY, max_examples=100)
@given(PROGRAMS, ACTIONS)
def test_a_clock_that_is_stepped_by_hand_gives_the_same(program, actions):
    """`Clock.step` ends lanes where it meets them; the rest of the program is the same."""
    stepped, single = (Bench(program, actions, 8, on=on) for on in (True, False))
    for stream in stepped.streams:
        stepped.device.scheduler.ring_doorbell(stream)
    while stepped.device.clock.step():
        pass
    assert stepped.state() == single.run()


@pytest.mark.parametrize("reader", ["none", "round_trip"])
@settings(ANY, max_examples=60)
@given(program=PROGRAMS)
def test_queues_that_hold_for_completion_entries_are_the_same(reader, program):
    """A full completion ring holds queues in either case."""
    _same(lambda on: Bench(program, [], 8, on=on, readers=reader))


PICKED = st.sets(st.sampled_from((TaskStarted, TaskDone, TaskWaits, SignalChanged)), max_size=4)


@settings(ANY, max_examples=60)
@given(PROGRAMS, ACTIONS, PICKED)
def test_lines_and_slices_say_what_the_events_say(program, actions, events):
    """JSON lines made from columns are those of the events; slices are the completed entries."""
    _lines_are_events(Bench, program, actions, events)


@settings(ANY, max_examples=60)
@given(PROGRAMS_V200, ACTIONS, PICKED)
def test_lines_and_slices_of_notify_entries_say_what_the_events_say(program, actions, events):
    """The same for entries of v200: resets are named as such, and those that no plan covers are there as well."""
    _lines_are_events(BenchV200, program, [a for a in actions if a[2] != "jobs"], events)


def _lines_are_events(kind, program, actions, events):
    events = {*events, Patched}
    bench = kind(program, [a for a in actions if a[2] != "trace"], 8, on=True, events={*events, TaskDone})
    for stream in bench.streams:
        bench.device.scheduler.ring_doorbell(stream)
    bench.device.scheduler.run_until_idle()
    trace = bench.device.trace
    lines, found = trace.lines(events).splitlines(keepends=True), trace.slices()
    rows = [(*row.item()[:6], *found.kinds[row["kind"]]) for row in found.rows]
    assert lines == [line(event) for event in trace if type(event) in events]
    done = [e for e in trace if type(e) is TaskDone]
    assert sorted(rows) == sorted((e.started, e.time, e.stream, e.slot, e.task, e.run, e.engine, e.kind) for e in done)


@pytest.mark.parametrize("order", range(STREAMS + 1))
@pytest.mark.parametrize(
    "what", ["look", "pause", "halt", "patch", "patch_far", "replace", "disable", "submit", "trace"]
)
def test_whoever_looks_at_the_very_moment_sees_what_he_would_see(what, order):
    """At ends of entries, smaller stream ids come before the queue's step and larger ones after it."""
    program = [[("nop",)] * 12, [("nop",)] * 4 + [("event_record", 1), ("nop",)], [("event_wait", 1), ("nop",)]]
    for time in (0, 50, 100, 200, 300, 400, 900, 1000):
        for number in range(STREAMS):
            actions = [(time, order, what, number), (time, order, "look", number), (time, STREAMS, "look", number)]
            _same(lambda on, actions=actions: Bench(program, actions, 3, on=on))
