"""Checks of host-scheduled programs: what the host orders, and the static models inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.graph import CompileOptions
from emu_plugins.checks.order import order_of
from formats.blob import Blob, BlobEvent, BlobStream, BlobTask, TaskType

WAIT, RECORD, NOP, END = TaskType.EVENT_WAIT, TaskType.EVENT_RECORD, TaskType.NOP, TaskType.MODEL_END_GRAPH


def _node(name, n, out, **attrs):
    return {"name": name, "type": "TilingProbe", "inputs": ["x", n], "outputs": [out], "attrs": attrs}


def _graph(*nodes, outputs):
    return {
        "format": "sqemu-graph", "version": 1, "name": "mixed", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": list(nodes), "outputs": outputs,
    }  # fmt: skip


@pytest.fixture
def compiled(host):
    """Compiles nodes for a 910B3 into a host-scheduled blob."""

    def make(*nodes, outputs, **policies):
        given = {name: str(value) for name, value in policies.items()}
        options = CompileOptions(offline=False, policies=given)
        blob = compile_graph(_graph(*nodes, outputs=outputs), "ascend910b3", options, host)
        assert blob.unknown_shape
        return blob

    return make


@pytest.fixture
def mixed(compiled):
    """One operator the host tiles, one that sinks in a static model inside, and one more of the host."""
    return compiled(
        _node("first", "n", "a", _force_unknown_shape=True),
        _node("inside", "n", "b"),
        _node("last", "n", "c", _force_unknown_shape=True),
        outputs=["a", "b", "c"],
    )


def _at(blob, kind, node):
    return next(i for i, task in enumerate(blob.tasks) if task.type == kind and task.node == node)


def _reads(blob, reader, writer):
    """The blob with operator `reader` reading the output of `writer` as its first input."""
    tensor = next(op.outputs[0] for op in blob.ops if op.name == writer)
    ops = tuple(
        replace(op, inputs=(tensor, *op.inputs[1:]), host_tiling=False) if op.name == reader else op for op in blob.ops
    )
    return replace(blob, ops=ops)


def test_a_compiled_program_is_in_order(mixed, findings, host):
    """Nothing is found in a program with a static model inside, and the machine agrees: no hazard, no fault."""
    assert findings(mixed) == []
    model = Device(host.chip("ascend910b3"), {}, host).load(mixed)
    result = model.execute({"x": np.arange(40, dtype="f4"), "n": np.array([3], "i4")})
    assert result.ok
    assert not result.hazards


def test_distances_inside_are_checked(compiled, findings):
    """A static model inside is patched like any other: with 6 NOPs the kernel is among the 8 that are fetched."""
    nodes = (_node("first", "n", "a", _force_unknown_shape=True), _node("inside", "n", "b"))
    assert findings(compiled(*nodes, outputs=["a", "b"], nop_count=6))[0][0] == "check.nop-distance"
    assert findings(compiled(*nodes, outputs=["a", "b"], nop_count=7)) == []


def test_the_host_orders_its_launches_and_the_models(mixed):
    """The host goes through the list: its first kernel before the model, the model before its last kernel."""
    order = order_of(mixed)
    first, inside, last = (_at(mixed, TaskType.ALL_KERNEL, name) for name in ("first", "inside", "last"))
    assert order.before(first, inside)
    assert order.before(inside, last)
    assert order.before(first, last)
    assert not order.before(inside, first)


def test_a_reader_before_its_writer(mixed, findings):
    """A kernel that the host launches first reads what the model behind it writes: nothing orders the two."""
    found = findings(_reads(mixed, "first", "inside"), full=True)
    assert [(f.id, f.where) for f in found] == [("check.data-race", "task #0 (ALL_KERNEL of first)")]
    assert "put the writer before the reader" in found[0].remedy


def test_a_model_that_ends_before_its_streams(mixed, findings):
    """Without the wait for its tiling stream the model ends early; the host's next launch may overtake the update.

    A kernel of the host that is tiled there waits until the device is idle, one that is not does not.
    """
    kernel = _at(mixed, TaskType.ALL_KERNEL, "inside")
    third = max(stream.id for stream in mixed.streams) + 1
    tasks = tuple(replace(t, stream_id=third) if i == kernel else t for i, t in enumerate(mixed.tasks))
    moved = replace(mixed, tasks=tasks, streams=(*mixed.streams, BlobStream(third, "loose")))
    ids = [each[0] for each in findings(moved)]
    assert "check.end-early" in ids
    assert "check.data-race" in [each[0] for each in findings(_reads(moved, "last", "inside"))]
    assert order_of(moved).before(kernel, _at(mixed, TaskType.ALL_KERNEL, "last"))


def test_an_event_inside_that_nobody_records(mixed, findings):
    """Waits of a static model inside are checked like those of a static graph."""
    record = _at(mixed, RECORD, "inside")
    cut = replace(mixed, tasks=tuple(t for i, t in enumerate(mixed.tasks) if i != record))
    assert "check.wait-no-record" in [each[0] for each in findings(cut)]


def _program(*tasks, streams=3, events=3):
    """A host-scheduled blob of (type, stream, event) tasks; stream 0 is the host's."""
    return Blob(
        "ascend910b3", "made", unknown_shape=True,
        streams=tuple(BlobStream(i, f"s{i}") for i in range(streams)),
        events=tuple(BlobEvent(i, f"e{i}") for i in range(events)),
        tasks=tuple(BlobTask(kind, stream, event_id=event) for kind, stream, event in (*tasks, (END, 0, None))),
    )  # fmt: skip


def test_a_circle_inside(findings):
    """Two streams of a model inside that wait for each other."""
    made = _program((WAIT, 1, 0), (RECORD, 1, 1), (WAIT, 2, 1), (RECORD, 2, 0), (END, 1, None))
    assert [w for id_, w in findings(made) if id_ == "check.deadlock"] == [
        "task #0 (EVENT_WAIT)",
        "task #2 (EVENT_WAIT)",
    ]


def test_a_record_in_a_later_model(findings):
    """The host executes the second model only when the first has ended, so the first waits for ever."""
    made = _program((WAIT, 1, 0), (END, 1, None), (RECORD, 2, 0), (END, 2, None))
    assert [w for id_, w in findings(made) if id_ == "check.deadlock"] == ["task #0 (EVENT_WAIT)"]


def test_a_static_part_without_an_end(findings):
    """The loader refuses it, so the check says it first."""
    assert findings(_program((NOP, 1, None))) == [("blob.no-end", "graph made")]


TASKS = st.lists(
    st.tuples(st.sampled_from([WAIT, RECORD, NOP, END]), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=9
)


def _models(blob):
    """The model of each task by the loader's rule: a number per end, and the host's own tasks as such."""
    model, number = [], 0
    for task in blob.tasks:
        model.append("host" if task.stream_id == 0 else number)
        number += task.stream_id != 0 and task.type == END
    return model


def _closure(blob):
    """Every ordered pair of tasks, by adding edges until nothing changes."""
    tasks, model = list(enumerate(blob.tasks)), _models(blob)
    ends = {model[i]: i for i, t in tasks if t.stream_id and t.type == END}
    pairs = set()
    for i, a in tasks:
        for k, b in tasks:
            if model[i] == model[k] != "host":
                pairs |= {(i, k)} if i < k and a.stream_id == b.stream_id else set()
                recorders = [r for r, t in tasks if t.type == RECORD and t.event_id == b.event_id and t.stream_id]
                pairs |= {(i, k)} if b.type == WAIT and recorders == [i] else set()
                continue
            point, start = (ends.get(model[j], 99) if model[j] != "host" else j for j in (i, k))
            pairs |= {(i, k)} if i == point and point < start else set()
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


@settings(max_examples=300)
@given(TASKS)
@example([(WAIT, 2, 0), (END, 1, 0), (RECORD, 1, 0)])
@example([(WAIT, 2, 0), (END, 1, 0), (WAIT, 2, 1), (RECORD, 1, 0)])
@example([(RECORD, 1, 0), (NOP, 2, 0), (WAIT, 2, 0), (NOP, 2, 0), (END, 1, 0), (NOP, 0, 0)])
def test_order_is_the_transitive_closure_of_the_hosts_order_and_events(tasks):
    """Tasks come after each other exactly when list, streams and events of one model lead from one to the other."""
    blob = _program(*[(k, s, e if k in {WAIT, RECORD} else None) for k, s, e in tasks])
    order, pairs = order_of(blob), _closure(blob)
    assume(not any(first == second for first, second in pairs))
    for first in range(len(blob.tasks)):
        for second in range(len(blob.tasks)):
            if first != second:
                assert order.before(first, second) is ((first, second) in pairs), (first, second)
