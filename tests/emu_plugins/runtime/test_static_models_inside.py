"""A graph with host-scheduled and static parts in one model (`reference/tiling_sink_compiler.md` 4, 12)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.graph import CompileOptions
from emu_core.limits import uses
from emu_core.plugins import PluginHost
from emu_plugins.importers import GraphBuilder
from formats.blob import decode, encode

NOPS = 5


def chain(*kinds):
    """Probes behind each other: `h` is forced to the host, `s` may sink, `c` reads a constant."""
    g = GraphBuilder("mixed", {"ge.tiling_schedule_optimize": "1"})
    x, n, c = g.input("x", "float32", [40]), g.input("n", "int32", [1]), g.constant("c", "int32", [1], [2])
    for i, kind in enumerate(kinds):
        forced = {"_force_unknown_shape": True} if kind == "h" else {}
        x = g.node("TilingProbe", x, c if kind == "c" else n, name=f"{kind}{i}", add_x=1, **forced)
        g.output(x)
    return g.build()


def build(kinds, partition="parts", **policies):
    """The blob of a chain on a 310P."""
    options = CompileOptions(policies={"graph_partition": partition, **policies})
    return compile_with_report(chain(*kinds), "ascend310p3", options).blob


def run(blob, *values, policies=None):
    """The results of one execution per value of n."""
    model = Device("ascend310p3", policies or {}, PluginHost()).load(blob)
    return [model.execute({"x": np.zeros(40, np.float32), "n": np.array([n], np.int32)}) for n in values]


def test_streams_and_tasks_of_the_parts():
    """Stream 0 is the host's; each static part with a sink has streams, events and an end of its own."""
    blob = build("hschs")
    assert blob.unknown_shape
    assert [(s.id, s.name, s.serves) for s in blob.streams] == [
        (0, "main_0", None), (1, "part_0_main_0", None), (2, "part_0_tiling_stream_0", 1),
        (3, "part_1_main_0", None), (4, "part_1_tiling_stream_0", 3),
    ]  # fmt: skip
    sink = [(43, "s1", 2), (2, "s1", 1), *[(42, "s1", 1)] * NOPS, (26, "s1", 1), (41, "s1", 2), (1, "s1", 2)]
    second = [(43, "s4", 4), (2, "s4", 3), *[(42, "s4", 3)] * NOPS, (26, "s4", 3), (41, "s4", 4), (1, "s4", 4)]
    assert [(int(t.type), t.node, t.stream_id) for t in blob.tasks] == [
        (26, "h0", 0), *sink, (26, "c2", 1), (19, "", 1), (26, "h3", 0), *second, (19, "", 3), (19, "", 0),
    ]  # fmt: skip
    assert [e.id for e in blob.events] == [0, 1]
    assert [(op.sink, op.host_tiling) for op in blob.ops] == [
        (False, True), (True, False), (False, False), (False, True), (True, False),
    ]  # fmt: skip
    assert decode(encode(blob)) == blob


def test_a_static_part_without_a_sink_is_merged():
    """It is too small to be a model of its own, and its operator is launched by the host."""
    blob = build("hch")
    assert ([s.id for s in blob.streams], [t.stream_id for t in blob.tasks]) == ([0], [0] * 4)


@pytest.mark.parametrize("kinds", ["hs", "sh", "shs", "hschs", "sscs"])
def test_parts_give_what_the_merged_graph_gives(kinds):
    """In every run, with another value each time, both ways of partition have the same outputs and no hazard."""
    values = (3, 5, 4)
    merged, parts = run(build(kinds, "merge"), *values), run(build(kinds), *values)
    for one, other in zip(merged, parts, strict=True):
        assert (one.ok, other.ok, one.hazards, other.hazards) == (True, True, (), ())
        for name in one.outputs:
            np.testing.assert_array_equal(one.outputs[name], other.outputs[name])


def test_a_fault_inside_ends_the_run_and_can_be_aborted():
    """A kernel that starts before its patch faults; the host launches nothing more, and abort makes all of it whole."""
    model = Device("ascend310p3", {}, PluginHost()).load(build("hsh", nop_count="0"))
    inputs = {"x": np.zeros(40, np.float32), "n": np.array([3], np.int32)}
    first = model.execute(inputs)
    assert [fault.id for fault in first.faults] == ["kernel.placeholder-block-dim", "model.failed"]
    assert not any(getattr(event, "node", "") == "h2" for event in first.trace)
    model.abort()
    assert model.execute(inputs).ok


def test_a_part_without_its_end_is_refused():
    """A damaged list whose static part never ends is not loaded."""
    blob = build("hsh")
    tasks = tuple(t for t in blob.tasks if not (t.type == 19 and t.stream_id == 1))
    with pytest.raises(InputError, match="has no end of graph"):
        Device("ascend310p3", {}, PluginHost()).load(replace(blob, tasks=tasks))


def test_limits_count_the_parts():
    """Streams of the parts, the host's, their events and ends are counted against the chip."""
    found = {use.figure: use.used for use in uses(build("hsh"), PluginHost().chip("ascend310p3"))}
    # Sunk: wait and reset, NOPs, kernel, end on the one stream; tiling, update, record on the other.
    assert (found["max_streams"], found["max_events"], found["max_notifies"]) == (3, 1, 1)
    assert found["persistent_tasks"] == 2 + NOPS + 1 + 1 + 3
