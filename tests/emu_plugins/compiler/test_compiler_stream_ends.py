"""Several main streams, the join at the graph's end, and streams that are split (`tiling_sink_compiler.md` 9)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import LimitError
from emu_core.limits import entries_of
from emu_plugins.compiler.stream_ends import TaskList, join_ends, split_streams
from formats.blob.model import BlobEvent, BlobStream, BlobTask

RECORD, WAIT, END, NOP, KERNEL = 1, 2, 19, 42, 26


def short(tasks):
    """Type, stream and event of tasks, without NOPs."""
    return [(int(t.type), t.stream_id, t.event_id) for t in tasks if t.type != NOP]


def two_streams(lab, consumer="Probe"):
    """A node on stream 0 that feeds the value of a node with a label of its own."""
    return lab.graph(
        lab.node("n", "LensInt", ["x"]), lab.node("p", consumer, ["x", "n_out", None], _stream_label="side")
    )


def test_labels_are_main_streams(lab):
    """Each label has a main stream in order of first use, attached streams come behind all of them."""
    graph = lab.graph(
        lab.node("a", "Probe", ["x", "lens", None], _stream_label="two"),
        lab.node("b", "Probe", ["x", "lens", None]),
        lab.node("c", "Probe", ["x", "lens", None], _stream_label="one"),
        lab.node("d", "Probe", ["x", "lens", None], _stream_label="two"),
        outputs=["a_out", "b_out", "c_out", "d_out"],
    )
    blob = lab.compile(graph, policies={"nop_count": "0"}).blob
    assert blob.streams == (
        BlobStream(0, "main_0"), BlobStream(1, "main_1"), BlobStream(2, "main_2"),
        BlobStream(3, "tiling_stream_0", serves=0), BlobStream(4, "tiling_stream_1", serves=1),
        BlobStream(5, "tiling_stream_2", serves=2),
    )  # fmt: skip
    streams = {(t.node, int(t.type)): t.stream_id for t in blob.tasks if t.type in (26, 43)}
    assert streams == {
        ("a", 43): 4, ("a", 26): 1, ("b", 43): 3, ("b", 26): 0, ("c", 43): 5, ("c", 26): 2, ("d", 43): 4, ("d", 26): 1,
    }  # fmt: skip


def test_events_between_main_streams(lab):
    """A kernel waits for its producer on another main stream, its tiling on the attached one, and the end for both."""
    blob = lab.compile(two_streams(lab), policies={"nop_count": "0"}).blob
    assert [event.name for event in blob.events] == ["n_to_main_p", "n_to_tiling_p", "tiling_p", "main_1_to_end",
                                                     "tiling_stream_1_to_end"]  # fmt: skip
    assert short(blob.tasks) == [
        (KERNEL, 0, None), (RECORD, 0, 0), (RECORD, 0, 1),
        (WAIT, 1, 0), (WAIT, 2, 1), (43, 2, None), (WAIT, 1, 2), (KERNEL, 1, None), (41, 2, None), (RECORD, 2, 2),
        (RECORD, 1, 3), (WAIT, 0, 3), (RECORD, 2, 4), (WAIT, 0, 4), (END, 0, None),
    ]  # fmt: skip


def test_a_sinking_producer_on_another_attached_stream(lab):
    """It records on its own attached stream, and the user is warned that its kernel is not waited for (9.3)."""
    lab.host.operators["SinkLens"] = replace(
        lab.host.operators["Probe"], type="SinkLens", infer=lab.host.operators["LensInt"].infer
    )
    graph = lab.graph(
        lab.node("s", "SinkLens", ["x", "lens", None]),
        lab.node("p", "Probe", ["x", "s_out", None], _stream_label="side"),
    )
    compiled = lab.compile(graph, policies={"nop_count": "0"})
    events = {event.id: event.name for event in compiled.blob.events}
    at = [(events[t.event_id], t.stream_id, int(t.type)) for t in compiled.blob.tasks if t.event_id in (0, 1)]
    assert at == [
        ("s_to_main_p", 0, 1), ("s_to_tiling_p", 2, 1), ("s_to_main_p", 1, 2), ("s_to_tiling_p", 3, 2),
    ]  # fmt: skip
    assert any("both sink on two attached streams" in line for line in compiled.warnings)


@pytest.mark.parametrize(("policy", "joined"), [("needed", 0), ("always", 1)])
def test_join_of_the_attached_stream(lab, policy, joined):
    """The end waits for the attached stream: by the kernel's own wait, or by an event of its own by policy."""
    blob = lab.compile(lab.one(), policies={"end_join": policy, "nop_count": "0"}).blob
    assert [event.name for event in blob.events] == ["tiling_op", "tiling_stream_0_to_end"][: 1 + joined]
    assert short(blob.tasks)[-3:] == ([(RECORD, 1, 1), (WAIT, 0, 1), (END, 0, None)] if joined else
                                      [(41, 1, None), (RECORD, 1, 0), (END, 0, None)])  # fmt: skip


def long_list(nodes, each=5):
    """`nodes` operators of `each` entries on stream 0, and the end."""
    tasks = [BlobTask(NOP, 0, node=f"n{i}") for i in range(nodes) for _ in range(each)]
    return TaskList((*tasks, BlobTask(END, 0)), (BlobStream(0, "main_0"),), ())


def test_split():
    """Four operators of five entries and room for twelve: two fit, with the record that ends the part."""
    found = split_streams(long_list(4), 12)
    assert found.streams == (BlobStream(0, "main_0"), BlobStream(1, "main_0_part_1"), BlobStream(2, "main_0_part_2"))
    assert found.events == (BlobEvent(0, "split_main_0_part_1"), BlobEvent(1, "split_main_0_part_2"))
    # Part 1: 2 x 5 + 1; part 2: wait (2) + 5 and 5 more would need 13 with the record, so it ends; part 3: the rest.
    assert [(int(t.type), t.stream_id, t.event_id) for t in found.tasks if t.type != NOP] == [
        (RECORD, 0, 0), (WAIT, 1, 0), (RECORD, 1, 1), (WAIT, 2, 1), (END, 2, None),
    ]  # fmt: skip
    assert [t.stream_id for t in found.tasks if t.type == NOP] == [0] * 10 + [1] * 5 + [2] * 5


@pytest.mark.parametrize("capacity", [-3, 0, 3, 21])
def test_nothing_to_split(capacity):
    """A list that fits stays as it is, and so does one for which a ring is too small to go on at all."""
    assert split_streams(long_list(4), capacity) == long_list(4)


@given(
    sizes=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 6)), min_size=1, max_size=40),
    capacity=st.integers(10, 40),
)
def test_parts_fit_and_keep_their_tasks(sizes, capacity):
    """Every part fits, operators stay whole, order on a stream is kept, and each part waits for the one before."""
    tasks = [BlobTask(NOP, s, node=f"n{i}", op=i) for i, (s, n) in enumerate(sizes) for _ in range(n)]
    streams = tuple(BlobStream(i, f"s{i}") for i in range(3))
    found = split_streams(TaskList((*tasks, BlobTask(END, 0)), streams, ()), capacity)
    used = {s.id: sum(entries_of(t) for t in found.tasks if t.stream_id == s.id) for s in found.streams}
    assert max(used.values()) <= capacity
    assert [t.op for t in found.tasks if t.op is not None] == [t.op for t in tasks]
    assert all(len({t.stream_id for t in found.tasks if t.op == i}) == 1 for i in range(len(sizes)))
    for event in found.events:
        (record, wait) = (i for i, t in enumerate(found.tasks) if t.event_id == event.id)
        assert (found.tasks[record].type, found.tasks[wait].type) == (RECORD, WAIT)
        assert not any(t.stream_id == found.tasks[record].stream_id for t in found.tasks[record + 1 :])
        assert not any(t.stream_id == found.tasks[wait].stream_id for t in found.tasks[:wait])


def test_compiler_splits_with_the_margin(lab):
    """A stream is split when its entries and 27 exceed the ring; two operators take 11 entries each, the end one."""
    graph = lab.graph(lab.node("a", "Probe", ["x", "lens", None]), lab.node("b", "Probe", ["a_out", "lens", None]))
    assert len(lab.compile(graph, chip=replace(lab.chip, usable_tasks=23 + 27)).blob.streams) == 2
    split = lab.compile(graph, chip=replace(lab.chip, usable_tasks=22 + 27)).blob
    assert [s.name for s in split.streams] == ["main_0", "tiling_stream_0", "main_0_part_1"]
    assert {t.node: t.stream_id for t in split.tasks if t.type == KERNEL} == {"a": 0, "b": 2}
    whole = lab.compile(graph, chip=replace(lab.chip, usable_tasks=22 + 27), policies={"stream_split": "off"}).blob
    assert len(whole.streams) == 2


def test_an_operator_that_fits_no_ring_is_named(lab):
    """Tasks of one operator are never torn apart; when they alone are too many the refusal says whose they are."""
    with pytest.raises(LimitError, match="op 103") as caught:
        lab.compile(lab.one(), chip=replace(lab.chip, usable_tasks=60), policies={"nop_count": "100"})
    assert caught.value.id == "EE1019"


def test_join_leaves_the_last_task_the_end():
    """The end of the graph stays the last task whatever is joined."""
    tasks = (BlobTask(KERNEL, 0), BlobTask(KERNEL, 1), BlobTask(END, 0))
    found = join_ends(TaskList(tasks, (BlobStream(0, "a"), BlobStream(1, "b"), BlobStream(2, "c")), ()), always=False)
    assert short(found.tasks) == [(KERNEL, 0, None), (KERNEL, 1, None), (RECORD, 1, 0), (WAIT, 0, 0), (END, 0, None)]
