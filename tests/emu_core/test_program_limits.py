"""What a program takes of each limit of a chip, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import LimitError
from emu_core.limits import require, uses
from emu_core.plugins import PluginHost
from formats.blob import Blob, BlobEvent, BlobOp, BlobStream, BlobTask, BlobTensor, TaskType, TensorRole

CHIP = replace(
    PluginHost().chip("ascend910b3"), sq_depth=16, usable_tasks=8, max_streams=3, max_events=2, max_notifies=1,
    persistent_tasks=10, memory_bytes=10_000,
)  # fmt: skip

# Stream 0: wait (2 entries), kernel, record, end = 5. Stream 1: tiling, update, record = 3.
BLOB = Blob(
    CHIP.name,
    "g",
    streams=(BlobStream(0, "main"), BlobStream(1, "side", serves=0)),
    events=(BlobEvent(0, "tiling"), BlobEvent(1, "other")),
    tasks=(
        BlobTask(TaskType.PREPROCESS_KERNEL, 1, op=0, node="a"),
        BlobTask(TaskType.EVENT_WAIT, 0, event_id=0, node="a"),
        BlobTask(TaskType.KERNEL, 0, op=0, node="a"),
        BlobTask(TaskType.UPDATE, 1, op=0, node="a"),
        BlobTask(TaskType.EVENT_RECORD, 1, event_id=0, node="a"),
        BlobTask(TaskType.EVENT_RECORD, 0, event_id=1, node="b"),
        BlobTask(TaskType.MODEL_END_GRAPH, 0),
    ),
    ops=(BlobOp("a", "T", (), (0,), workspaces=(100, 28)),),
    tensors=(BlobTensor("t", 0, (1000,), TensorRole.INTERMEDIATE, 4000),),
)


def _by_figure(blob=BLOB, **options):
    return [(u.figure, u.used, u.available, u.users) for u in uses(blob, CHIP, **options)]


def test_every_limit_is_counted():
    """Tasks per stream, streams with the caller, events by their recorder, notifies, sunk tasks, bytes."""
    assert _by_figure() == [
        ("usable_tasks", 5, 8, (("a", 3), ("b", 1), ("end of graph", 1))),
        ("usable_tasks", 3, 8, (("a", 3),)),
        ("max_streams", 3, 3, (("main", 1), ("side", 1), ("caller of the model", 1))),
        ("max_events", 2, 2, (("a", 1), ("b", 1))),
        ("max_notifies", 1, 1, (("end of graph", 1),)),
        ("persistent_tasks", 8, 10, (("main", 5), ("side", 3))),
        # 3 rings of 16 entries of 64 bytes, 4000 of the tensor, 128 of workspaces
        ("memory_bytes", 7200, 10_000, (("tensor t", 4000), ("submission rings", 3072), ("workspaces of a", 128))),
    ]
    assert not any(use.exceeded for use in uses(BLOB, CHIP))


def test_without_the_reset_a_wait_is_one_entry():
    """Policy wait_reset off writes no reset."""
    assert [u[1] for u in _by_figure(per_wait=1)] == [4, 3, 3, 2, 1, 7, 7200]


def test_a_host_scheduled_program_has_one_wrapping_ring():
    """Only its stream and its memory count: one ring of 1024 bytes."""
    found = _by_figure(replace(BLOB, unknown_shape=True, streams=(), events=()))
    assert [(figure, used) for figure, used, _, _ in found] == [("max_streams", 1), ("memory_bytes", 5152)]


def test_the_first_exceeded_limit_is_raised():
    """With its id, its place, and who takes how much."""
    require(uses(BLOB, CHIP), CHIP)
    tight = replace(CHIP, usable_tasks=4, max_events=1)
    with pytest.raises(LimitError) as caught:
        require(uses(BLOB, tight), tight, where="graph g")
    assert (caught.value.id, caught.value.where) == ("EE1019", "graph g")
    assert caught.value.what == (
        "stream 0 is full: a model-bound ring holds 4 tasks, the program takes 5: a 3, b 1, end of graph 1"
    )
    assert caught.value.remedy == "put fewer tasks on one stream"


def test_many_users_are_counted():
    """Four are named, the others counted."""
    events = tuple(BlobEvent(i, f"e{i}") for i in range(7))
    tasks = tuple(BlobTask(TaskType.EVENT_RECORD, 0, event_id=i, node=f"n{i}") for i in range(7))
    found = next(u for u in uses(replace(BLOB, events=events, tasks=tasks), CHIP) if u.figure == "max_events")
    assert found.exceeded
    assert found.text(CHIP.name) == "ascend910b3 has 2 events, the program takes 7: n0, n1, n2, n3 and 3 more operators"
    assert found.who(6) == "n0, n1, n2, n3, n4, n5 and 1 more operator"
