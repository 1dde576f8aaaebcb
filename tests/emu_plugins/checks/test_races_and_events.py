"""Order of tasks, races on tensors, waits that never pass, and an end that comes too early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from emu_core.chips import Latencies
from emu_core.device import Device
from emu_plugins.checks.events import stuck
from emu_plugins.checks.order import order_of
from formats.blob import Blob, BlobEvent, BlobStream, BlobTask, TaskType

WAIT, RECORD, NOP, END = TaskType.EVENT_WAIT, TaskType.EVENT_RECORD, TaskType.NOP, TaskType.MODEL_END_GRAPH


def _program(*tasks, streams=2, events=4):
    """A blob of (type, stream, event) tasks."""
    return Blob(
        "ascend910b3",
        "made",
        streams=tuple(BlobStream(i, f"s{i}") for i in range(streams)),
        events=tuple(BlobEvent(i, f"e{i}") for i in range(events)),
        tasks=tuple(BlobTask(kind, stream, event_id=event) for kind, stream, event in tasks),
    )


def _closure(blob):
    """Every ordered pair of tasks, by adding edges until nothing changes."""
    tasks = list(enumerate(blob.tasks))
    pairs = {(i, k) for i, a in tasks for k, b in tasks if i < k and a.stream_id == b.stream_id}
    for k, wait in tasks:
        found = [i for i, t in tasks if t.type == RECORD and t.event_id == wait.event_id]
        if wait.type == WAIT and len(found) == 1:
            pairs.add((found[0], k))
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


TASKS = st.lists(
    st.tuples(st.sampled_from([WAIT, RECORD, NOP]), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=9
)


@given(TASKS)
@example([(WAIT, 0, 0), (RECORD, 0, 1), (WAIT, 1, 1), (RECORD, 1, 2), (WAIT, 2, 2)])
def test_order_is_the_transitive_closure(tasks):
    """A task comes before another exactly when streams and events lead from one to the other.

    Programs whose waits form a circle never get there, so that nothing comes before anything.
    """
    blob = _program(*[(k, s, None if k == NOP else e) for k, s, e in tasks], streams=3)
    order, pairs = order_of(blob), _closure(blob)
    assume(not any(first == second for first, second in pairs))
    for first in range(len(tasks)):
        for second in range(len(tasks)):
            if blob.tasks[first].stream_id != blob.tasks[second].stream_id:
                assert order.before(first, second) is ((first, second) in pairs)


def _literally_stuck(blob):
    """Streams walked one entry at a time, round after round, until nothing moves."""
    recorded = {t.event_id for t in blob.tasks if t.type == RECORD}
    lines = {s.id: [i for i, t in enumerate(blob.tasks) if t.stream_id == s.id] for s in blob.streams}
    is_set, moved = set(), True
    while moved:
        moved = False
        for line in lines.values():
            task = blob.tasks[line[0]] if line else None
            if task is None or (task.type == WAIT and task.event_id in recorded - is_set):
                continue
            if task.type == RECORD:
                is_set.add(task.event_id)
            line.pop(0)
            moved = True
    return sorted(line[0] for line in lines.values() if line)


@given(TASKS)
def test_stuck_streams_are_those_of_a_literal_walk(tasks):
    """The waits at which streams stay for ever."""
    blob = _program(*[(k, s, None if k == NOP else e) for k, s, e in tasks], streams=3)
    assert stuck(order_of(blob)) == _literally_stuck(blob)


def test_an_event_of_two_recorders_orders_nothing():
    """Any of the two may let the wait pass."""
    order = order_of(_program((RECORD, 0, 0), (RECORD, 0, 0), (WAIT, 1, 0), (NOP, 1, None)))
    assert not order.before(0, 3)


@pytest.fixture
def race(probe):
    """Two probes that sink, the second tiled by what the first computes: the pattern of 9.3."""
    blob = probe(2)
    first, second = blob.ops
    return replace(blob, ops=(first, replace(second, inputs=(second.inputs[0], first.outputs[0]))))


def test_a_sinking_producer_races_with_the_tiling_of_its_consumer(race, findings):
    """9.3: the tiling of op1 is ordered behind the tiling of op0, not behind its kernel."""
    found = findings(race, full=True)
    assert [f.id for f in found] == ["check.value-race"]
    assert "(PREPROCESS_KERNEL of op1)" in found[0].where
    assert "reads the value of y0" in found[0].what
    assert "(ALL_KERNEL of op0)" in found[0].what


def test_the_machine_sees_the_race_too(race, host):
    """On a chip whose AI Core launch is slow, that tiling reads bytes nobody has written yet."""
    slow = replace(host.chip("ascend910b3"), latencies=Latencies(ai_core_launch_ns=100_000))
    model = Device(slow, {}, host).load(race)
    result = model.execute({"x": np.zeros(40, "f4"), "n": np.array([3], "i4")})
    assert "hazard.uninitialised-read" in [h.id for h in result.hazards]


def test_an_event_behind_the_producer_ends_the_race(race, findings):
    """With a record behind op0's kernel and a wait before op1's tiling there is nothing to find."""
    kernel = next(i for i, t in enumerate(race.tasks) if t.type == TaskType.ALL_KERNEL)
    tiling = max(i for i, t in enumerate(race.tasks) if t.type == TaskType.PREPROCESS_KERNEL)
    event = len(race.events)
    tasks = [
        *race.tasks[: kernel + 1],
        BlobTask(RECORD, 0, event_id=event),
        *race.tasks[kernel + 1 : tiling],
        BlobTask(WAIT, 1, event_id=event),
        *race.tasks[tiling:],
    ]
    fixed = replace(race, tasks=tuple(tasks), events=(*race.events, BlobEvent(event, "after op0")))
    assert findings(fixed) == []


def test_kernels_on_two_streams_without_an_event_race(race, findings):
    """A kernel that reads a tensor of another stream's kernel is a race as well."""
    streams = (*race.streams, BlobStream(2, "second"))
    moved = tuple(replace(t, stream_id=2) if t.node == "op1" and t.stream_id == 0 else t for t in race.tasks)
    ids = [f[0] for f in findings(replace(race, streams=streams, tasks=moved))]
    assert {"check.value-race", "check.data-race"} <= set(ids)


def test_a_wait_without_a_record(findings):
    """The task and the event are named."""
    found = findings(_program((WAIT, 0, 2), (END, 0, None), streams=1), full=True)
    assert [(f.id, f.where) for f in found] == [("check.wait-no-record", "task #0 (EVENT_WAIT)")]
    assert "event 2" in found[0].what


def test_a_record_without_a_wait_is_a_note(findings):
    """Nobody is harmed by it."""
    found = findings(_program((RECORD, 0, 1), (END, 0, None), streams=1), full=True)
    assert [(f.id, f.level) for f in found] == [("check.record-no-wait", "info")]


def test_a_circle_of_waits(findings):
    """Two streams that each record behind a wait for the other."""
    made = _program((WAIT, 0, 0), (RECORD, 0, 1), (END, 0, None), (WAIT, 1, 1), (RECORD, 1, 0))
    assert [w for id_, w in findings(made) if id_ == "check.deadlock"] == [
        "task #0 (EVENT_WAIT)",
        "task #3 (EVENT_WAIT)",
    ]


def test_no_end(findings):
    """A task list without an end of graph cannot be loaded."""
    assert findings(_program((NOP, 0, None))) == [("blob.no-end", "graph made")]


def test_an_early_end(findings):
    """A stream nobody waits for may be at work when the end is reported; one that is waited for may not."""
    loose = _program((NOP, 1, None), (END, 0, None))
    assert findings(loose) == [("check.end-early", "task #0 (NOP)")]
    joined = _program((NOP, 1, None), (RECORD, 1, 0), (WAIT, 0, 0), (END, 0, None))
    assert findings(joined) == []
