"""The verifier rules of a sink sequence, one broken at a time.

With nop_count=1 the task list of one operator is: 0 tiling, 1 wait, 2 NOP, 3 kernel, 4 update, 5 record, 6 end;
tiling, update and record on stream 1, the others on stream 0.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from formats.blob import BlobEvent, BlobStream, BlobTask, TaskType

SAFE = {"prefetch_depth": 0}


@pytest.fixture
def blob(probe):
    """The seven tasks above."""
    made = probe(nop_count=1)
    kinds = [TaskType(task.type).name for task in made.tasks]
    assert kinds == [
        "PREPROCESS_KERNEL", "EVENT_WAIT", "NOP", "ALL_KERNEL", "UPDATE", "EVENT_RECORD", "MODEL_END_GRAPH"
    ]  # fmt: skip
    return made


@pytest.mark.parametrize("chip", ["ascend310p3", "ascend910b3", "ascend910_9391", "edu-large"])
@pytest.mark.parametrize("nodes", [1, 3])
def test_compiled_programs_are_clean(probe, findings, chip, nodes):
    """What the compiler writes breaks no rule."""
    assert findings(probe(nodes, chip=chip)) == []


def test_host_scheduled_programs_are_clean(probe, findings):
    """Without the sink there are no rings and no sequences to check."""
    made = probe(2, sink=False)
    assert made.unknown_shape
    assert findings(made) == []


def test_two_kernels(blob, findings):
    """An update with two kernels of its operator is ambiguous."""
    made = replace(blob, tasks=(*blob.tasks[:4], blob.tasks[3], *blob.tasks[4:]))
    found = findings(made, full=True, **SAFE)
    assert [each.id for each in found if each.id.startswith("check.sink")] == ["check.sink-unmatched"]
    assert "exactly one kernel of op0, there are 2" in found[0].what


def test_no_tiling_task(blob, findings):
    """An update without a tiling task has nothing to read."""
    made = replace(blob, tasks=blob.tasks[1:])
    assert ("check.sink-unmatched", "task #3 (UPDATE of op0)") in findings(made, **SAFE)


@pytest.mark.parametrize("dropped", [(4,), (0, 4)])
def test_no_update(blob, findings, dropped):
    """A tiling task without update, or a kernel with the placeholder block dim and neither, is an error."""
    made = replace(blob, tasks=tuple(t for i, t in enumerate(blob.tasks) if i not in dropped))
    found = findings(made, full=True, **SAFE)
    assert [each.id for each in found if each.id.startswith("check.sink")] == ["check.sink-unmatched"]
    assert "has no update" in found[0].what


@pytest.mark.parametrize(
    ("order", "where"),
    [
        ((1, 2, 3, 0, 4, 5, 6), "task #2 (ALL_KERNEL of op0)"),
        ((0, 1, 2, 4, 3, 5, 6), "task #3 (UPDATE of op0)"),
        ((0, 1, 2, 3, 5, 4, 6), "task #4 (EVENT_RECORD of op0)"),
    ],
)
def test_list_order(blob, findings, reordered, order, where):
    """Kernel before tiling, update before kernel, record before update: each is named at the task that is too early."""
    assert ("check.sink-order", where) in findings(reordered(blob, order), **SAFE)


def test_the_picture_order_is_an_error(probe, findings):
    """Policy sink_run_order=picture records before it patches."""
    assert ("check.sink-order", "task #4 (EVENT_RECORD of op0)") in findings(
        probe(nop_count=1, sink_run_order="picture"), **SAFE
    )


def test_wait_and_record_have_different_events(blob, findings, edited):
    """The kernel's wait names an event that the attached stream never records."""
    made = replace(edited(blob, 1, event_id=7), events=(*blob.events, BlobEvent(7, "other")))
    ids = dict(findings(made, **SAFE))
    assert ids["check.sink-event"] == "task #1 (EVENT_WAIT of op0)"
    assert ids["check.wait-no-record"] == "task #1 (EVENT_WAIT of op0)"


def test_wait_and_record_are_on_one_stream(blob, findings, edited):
    """A record on the kernel's own stream cannot release it."""
    ids = [id_ for id_, _ in findings(edited(blob, 5, stream_id=0), **SAFE)]
    assert "check.sink-event" in ids


def test_no_wait(blob, findings):
    """A kernel without a wait before it does not wait for its tiling."""
    made = replace(blob, tasks=(blob.tasks[0], *blob.tasks[2:]))
    assert ("check.sink-wait", "task #2 (ALL_KERNEL of op0)") in findings(made, **SAFE)


def test_something_between_wait_and_kernel(blob, findings, edited):
    """Only NOPs may stand between the two."""
    made = replace(edited(blob, 2, type=TaskType.EVENT_RECORD, event_id=1), events=(*blob.events, BlobEvent(1, "e")))
    assert ("check.sink-wait", "task #2 (EVENT_RECORD of op0)") in findings(made, **SAFE)


@pytest.mark.parametrize(("stream", "count"), [(0, 2), (2, 1)])
def test_the_update_is_on_another_stream(blob, findings, edited, stream, count):
    """On the kernel's stream it breaks two rules (not with its tiling, with its kernel), on a third stream one."""
    made = replace(edited(blob, 4, stream_id=stream), streams=(*blob.streams, BlobStream(2, "third")))
    ids = [id_ for id_, _ in findings(made, **SAFE)]
    assert ids.count("check.sink-stream") == count


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{i0*}{i1*}{o0*}{ws0*}", "0 addresses of tiling data"),
        ("{i0*}{ws0*}{tiling_context.tiling_data}{tiling_context.tiling_data}", "2 addresses of tiling data"),
        ("{i0*}{tiling_context.tiling_data}{ws0*}", "elsewhere than directly behind a workspace"),
        ("{tiling_context.tiling_data}", "elsewhere than directly behind a workspace"),
        ("{what}", "cannot be read"),
    ],
)
def test_address_of_the_tiling_data(blob, findings, edited, text, what):
    """One address of tiling data, directly behind a workspace."""
    found = [f for f in findings(edited(blob, 3, args_format=text), full=True, **SAFE) if "tiling-data" in f.id]
    assert len(found) == 1
    assert what in found[0].what


def test_tasks_of_unknown_types_are_named(blob, findings):
    """A type that no loader knows is an error at the task, and no check stumbles over it."""
    made = replace(blob, tasks=(*blob.tasks, BlobTask(99, 0)))
    assert ("blob.task-type", "task #7 (type 99)") in findings(made, **SAFE)
