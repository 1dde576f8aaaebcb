"""Streams, events and limits (`reference/tiling_sink_compiler.md` 9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import LimitError
from formats.blob.model import BlobEvent, BlobStream


def two_probes(lab, lens="lens"):
    """Two sinking operators in a row."""
    return lab.graph(lab.node("a", "Probe", ["x", lens, None]), lab.node("b", "Probe", ["a_out", lens, None]))


def test_shared_attached_stream(lab):
    """All sinking operators of one main stream share one attached stream, each with an event of its own."""
    blob = lab.compile(two_probes(lab)).blob
    assert blob.streams == (BlobStream(0, "main_0"), BlobStream(1, "tiling_stream_0", serves=0))
    assert blob.events == (BlobEvent(0, "tiling_a"), BlobEvent(1, "tiling_b"))
    tiling = [(int(t.type), t.stream_id, t.event_id, t.node) for t in blob.tasks if t.type in (1, 2, 43)]
    assert tiling == [
        (43, 1, None, "a"), (2, 0, 0, "a"), (1, 1, 0, "a"), (43, 1, None, "b"), (2, 0, 1, "b"), (1, 1, 1, "b"),
    ]  # fmt: skip


def test_producer_event(lab):
    """The producer of a depended input records on the main stream, the tiling waits on the attached one."""
    graph = lab.graph(lab.node("n", "LensInt", ["x"]), lab.node("p", "Probe", ["x", "n_out", None]))
    blob = lab.compile(graph, policies={"nop_count": "0"}).blob
    assert blob.events == (BlobEvent(0, "n_to_tiling_p"), BlobEvent(1, "tiling_p"))
    assert [(int(t.type), t.stream_id, t.event_id, t.node, t.made_by) for t in blob.tasks] == [
        (26, 0, None, "n", "tasks"),
        (1, 0, 0, "n", "streams"),
        (2, 1, 0, "p", "streams"),
        (43, 1, None, "p", "tasks"),
        (2, 0, 1, "p", "tasks"),
        (26, 0, None, "p", "tasks"),
        (41, 1, None, "p", "tasks"),
        (1, 1, 1, "p", "tasks"),
        (19, 0, None, "", "tasks"),
    ]


def test_no_event_for_data_and_constants(lab):
    """Graph inputs and constants need no event; neither does a producer of an input that is not depended."""
    graph = lab.graph(lab.node("r", "Relu", ["x"]), lab.node("p", "Probe", ["r_out", "lens", None]))
    assert [event.name for event in lab.compile(graph).blob.events] == ["tiling_p"]


def test_one_producer_of_two_consumers(lab):
    """Each consumer has an event of its own, since a wait resets it."""
    graph = lab.graph(
        lab.node("n", "LensInt", ["x"]),
        lab.node("p", "Probe", ["x", "n_out", None]),
        lab.node("q", "Probe", ["p_out", "n_out", None]),
    )
    blob = lab.compile(graph).blob
    assert [event.name for event in blob.events] == ["n_to_tiling_p", "n_to_tiling_q", "tiling_p", "tiling_q"]
    assert [(t.stream_id, t.event_id) for t in blob.tasks if t.type == 1 and t.node == "n"] == [(0, 0), (0, 1)]


def test_producer_that_sinks_itself(lab):
    """Two operators on one attached stream get no event, and the user is warned of the order that is missing."""
    lab.host.operators["SinkLens"] = replace(
        lab.host.operators["Probe"], type="SinkLens", infer=lab.host.operators["LensInt"].infer
    )
    graph = lab.graph(lab.node("s", "SinkLens", ["x", "lens", None]), lab.node("p", "Probe", ["x", "s_out", None]))
    compiled = lab.compile(graph)
    assert [event.name for event in compiled.blob.events] == ["tiling_s", "tiling_p"]
    assert any("no event orders this tiling behind the kernel of s" in line for line in compiled.warnings)


@pytest.mark.parametrize(
    ("field", "enough", "id_"),
    [
        # Two streams of the graph and the one that calls the model.
        ("max_streams", 3, "207008"),
        ("max_events", 2, "207007"),
        # Main stream of two probes: 2 x (wait and reset, 8 bubbles, kernel) and the end = 23 entries.
        ("usable_tasks", 23, "EE1019"),
        # The attached one adds 2 x (tiling, update, record) = 6.
        ("persistent_tasks", 29, "limit.persistent-tasks"),
    ],
)
def test_limits(lab, field, enough, id_):
    """A program may use all that the chip has, and not one more."""
    lab.compile(two_probes(lab), chip=replace(lab.chip, **{field: enough}))
    with pytest.raises(LimitError) as caught:
        lab.compile(two_probes(lab), chip=replace(lab.chip, **{field: enough - 1}))
    assert caught.value.id == id_
    assert str(enough) in caught.value.what
    assert str(enough - 1) in caught.value.what


def test_memory_limit(lab):
    """Tensors, workspaces and rings must fit: 64 + 4 + 64 bytes, 1024, and three rings of 2048 entries of 64 bytes."""
    needed = 1156 + 3 * 2048 * 64
    lab.compile(lab.one(), chip=replace(lab.chip, memory_bytes=needed))
    with pytest.raises(LimitError, match="submission rings 393216, workspaces of op 1024") as caught:
        lab.compile(lab.one(), chip=replace(lab.chip, memory_bytes=needed - 1))
    assert (caught.value.id, caught.value.where) == ("limit.memory", "graph g")


def test_limits_name_who_used_them_up(lab):
    """The message names the operators that take most of what is too little."""
    with pytest.raises(LimitError, match="takes 2: a, b"):
        lab.compile(two_probes(lab), chip=replace(lab.chip, max_events=1))
