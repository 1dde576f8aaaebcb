"""Kernels split over AI Cores and vector cores on 310P (`reference/tiling_sink_compiler.md` 7.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.device import Device
from emu_core.errors import GraphError, InputError
from emu_core.limits import uses
from emu_core.plugins import PluginHost
from emu_plugins.compiler.split_kernels import shares
from emu_plugins.importers import GraphBuilder
from formats.blob import decode, encode

RECORD, WAIT, ALL, VECTOR, VECTOR_ALL, END = 14, 15, 26, 39, 40, 19
CHIP = "ascend310p3"


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


def builder(n=7, kind="MIX_AICORE", *, value=False, **attrs):
    """Two probes in a row, each split; n is a constant unless `value`."""
    g = GraphBuilder("split", {"ge.tiling_schedule_optimize": "1"})
    x = g.input("x", "float32", [30])
    count = g.input("n", "int32", [1]) if value else g.constant("n", "int32", [1], [n])
    first = g.node("TilingProbe", x, count, name="a", _cube_vector_core_type=kind, **attrs)
    g.output(g.node("TilingProbe", first, count, name="b", add_x=1, _cube_vector_core_type=kind, **attrs))
    return g


def compiled(host, *args, chip=CHIP, **more):
    """The blob of such a graph."""
    return compile_graph(builder(*args, **more).build(), chip, {}, host)


@pytest.mark.parametrize(("kind", "number"), [("MIX_AICORE", 11), ("MIX_VECTOR_CORE", 12)])
def test_tasks_of_a_split_kernel(host, kind, number):
    """Seven blocks go to 8 AI Cores and 7 vector cores as 4 and 3, between two pairs of notifies."""
    blob = compiled(host, kind=kind)
    found = [(t.type, t.stream_id, t.event_id, t.block_dim, t.kernel_type) for t in blob.tasks if t.node == "a"]
    assert found == [
        (RECORD, 0, 0, 0, 0), (WAIT, 1, 0, 0, 0), (ALL, 0, None, 4, number), (VECTOR_ALL, 1, None, 3, number),
        (RECORD, 1, 1, 0, 0), (WAIT, 0, 1, 0, 0),
    ]  # fmt: skip
    formats = {t.args_format for t in blob.tasks if t.type in (ALL, VECTOR_ALL)}
    assert formats == {"{i0*}{i1*}{o0*}{ws0*}{t}"}
    assert [(s.name, s.serves) for s in blob.streams] == [("main_0", None), ("mix_core_stream_0", 0)]
    assert [t.type for t in blob.tasks][-1] == END
    assert decode(encode(blob)) == blob


def test_both_parts_together_are_the_whole(host):
    """Block b of all seven writes slice b, whichever part it is in, in every execution."""
    model = Device(CHIP, {}, host).load(compiled(host))
    for _ in range(2):
        found = model.execute({"x": np.zeros(30, np.float32)})
        assert found.ok
        assert not found.hazards
        np.testing.assert_array_equal(found.outputs["b_out"], 2 * (100 + np.arange(30) // 5))
    details = [event.detail for event in found.trace if "block dim" in getattr(event, "detail", "")]
    assert set(details) == {"TilingProbe key 1 block dim 3", "TilingProbe key 1 block dim 4"}


@pytest.mark.parametrize("runtime", ["v1", "v2"])
def test_outputs_are_those_of_one_kernel(host, runtime):
    """With and without the split the outputs are the same, by either runtime."""
    arrays = {"x": np.arange(30, dtype=np.float32)}
    whole = builder().build()
    for node in whole["nodes"]:
        del node["attrs"]["_cube_vector_core_type"]
    found = [
        Device(CHIP, {"runtime": runtime}, host).load(compile_graph(raw, CHIP, {}, host)).execute(arrays)
        for raw in (whole, builder().build())
    ]
    np.testing.assert_array_equal(found[0].outputs["b_out"], found[1].outputs["b_out"])


def test_one_block_is_not_split(host):
    """A single block stays one kernel on the AI Cores, without notifies and without a second stream."""
    blob = compiled(host, 1)
    assert ([t.type for t in blob.tasks], len(blob.streams)) == ([ALL, ALL, END], 1)


@pytest.mark.parametrize(("blocks", "parts"), [(1, (1, 0)), (2, (2, 0)), (3, (2, 1)), (8, (5, 3)), (15, (8, 7))])
def test_shares(host, blocks, parts):
    """Blocks are shared out 8 to 7, rounded up for the AI Cores."""
    assert shares(blocks, Device(CHIP, {}, host).chip) == parts


def test_a_plain_kernel_is_split_as_well(host):
    """Without a kernel list the parts are KERNEL and VECTOR_KERNEL."""
    blob = compiled(host, compile_info_json="", _kernel_list_first_name="")
    assert [t.type for t in blob.tasks if t.kernel is not None] == [0, VECTOR, 0, VECTOR]
    assert Device(CHIP, {}, host).load(blob).execute({"x": np.zeros(30, np.float32)}).ok


def test_notifies_are_counted_as_such(host):
    """Two notifies per operator and one at the end of the graph; none of them is an event."""
    chip = Device(CHIP, {}, host).chip
    used = {each.figure: each.used for each in uses(compiled(host), chip)}
    assert (used["max_notifies"], used["max_events"]) == (5, 0)


def test_what_is_host_scheduled_is_one_kernel(host):
    """A value that the host reads decides the blocks of each launch, which is not split."""
    raw = builder(value=True, _force_unknown_shape=True).build()
    blob = compile_graph(raw, CHIP, {}, host)
    assert [t.type for t in blob.tasks] == [ALL, ALL, END]
    arrays = {"x": np.zeros(30, np.float32), "n": np.array([7], np.int32)}
    found = Device(CHIP, {}, host).load(blob).execute(arrays)
    np.testing.assert_array_equal(found.outputs["b_out"], 2 * (100 + np.arange(30) // 5))


@pytest.mark.parametrize(
    ("chip", "changes", "words"),
    [
        (CHIP, {"value": True}, "cannot sink: only its first part would be updated"),
        ("ascend910b1", {}, "ascend910b1 has none"),
    ],
)
def test_what_cannot_be_split(host, chip, changes, words):
    """A sinking operator, and a chip without vector cores of their own, are refused at the operator."""
    with pytest.raises(GraphError, match=words) as caught:
        compiled(host, chip=chip, **changes)
    assert {p.id for p in caught.value.problems} == {"graph.kernel"}


def test_a_kernel_that_has_no_parts(lab):
    """A kernel that does not declare that it can be launched in parts is refused."""
    with pytest.raises(GraphError, match="cannot be launched in parts") as caught:
        lab.compile(lab.one(lens="fixed", _cube_vector_core_type="MIX_AICORE"), chip=lab.p310)
    assert [p.id for p in caught.value.problems] == ["graph.kernel"]


def test_it_is_not_fused(host):
    """A member of a super kernel scope whose kernel is split is left out of the fusion."""
    blob = compiled(host, _super_kernel_scope="s")
    assert 44 not in [t.type for t in blob.tasks]


@pytest.mark.parametrize("blocks", [0, 0xFFFF, 0xFFFFFFFF])
def test_parts_that_no_entry_can_have(host, blocks):
    """A part without blocks, or blocks beyond 16 bits, are refused at load."""
    blob = compiled(host)
    tasks = tuple(replace(t, block_dim=blocks) if t.type == VECTOR_ALL else t for t in blob.tasks)
    with pytest.raises(InputError) as caught:
        Device(CHIP, {}, host).load(replace(blob, tasks=tasks))
    assert caught.value.id == "blob.task"


def test_a_missing_notify(host):
    """A blob whose notify tasks name one that its event table has not is refused at load."""
    blob = compiled(host)
    with pytest.raises(InputError, match="names the notify 3, which does not exist"):
        Device(CHIP, {}, host).load(replace(blob, events=blob.events[:3]))
