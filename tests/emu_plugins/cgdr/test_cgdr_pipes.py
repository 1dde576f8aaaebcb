"""The model of the five pipes: costs by hand, order, what runs side by side, and the device clock under the policy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from emu_core import Device
from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.trace import PipeUsed, TaskDone
from emu_plugins.cgdr.items import work_items
from emu_plugins.cgdr.kernel import float16_spans, kernel_cost, run_float16
from emu_plugins.cgdr.paths import Geometry, full_chunk_steps
from emu_plugins.cgdr.pipes import (
    DEFAULT_COSTS,
    Pipe,
    PipeCosts,
    chunk_timeline,
    core_cycles,
    core_spans,
    launch_cycles,
    launch_slices,
)

CUBE = Geometry(128, 128, 128, 128, 128, 1, 128, 1.0)
FULL = full_chunk_steps(CUBE)


def timeline(slots=2, rows=64, geometry=CUBE):
    """A chunk."""
    return chunk_timeline(geometry, full_chunk_steps(geometry), rows, slots=slots)


def together(fills, work):
    """Cycles in which one of `fills` and one of `work` run at once."""
    return sum(max(min(a.end, b.end) - max(a.start, b.start), 0) for a in fills for b in work)


@pytest.mark.parametrize(
    ("cycles", "by_hand"),
    [
        (DEFAULT_COSTS.memory(64 * 128 * 2), 64 + 512),
        (DEFAULT_COSTS.memory(33), 64 + 2),
        (DEFAULT_COSTS.l1(64 * 128 * 2), 16 + 64),
        (DEFAULT_COSTS.mmad(64, 128, 128), 16 + 4 * 8 * 8),
        (DEFAULT_COSTS.mmad(1, 17, 16), 16 + 2),
        (DEFAULT_COSTS.vector(65, 3), 3 * (16 + 2)),
        (PipeCosts(fractals=2).mmad(64, 64, 64), 16 + 32),
    ],
)
def test_costs(cycles, by_hand):
    """Each figure is a start and whole units."""
    assert cycles == by_hand


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("rows", [64, 9])
def test_a_pipe_does_one_thing_at_a_time(slots, rows):
    """Operations of a pipe follow each other."""
    for pipe in Pipe:
        mine = [span for span in timeline(slots, rows).spans if span.pipe is pipe]
        assert all(a.end <= b.start for a, b in pairwise(mine))


@pytest.mark.parametrize("slots", [1, 2])
def test_a_slot_is_filled_before_it_is_read_and_read_before_it_is_filled_again(slots):
    """Fills and products of a slot alternate: none starts before the one before it has ended."""
    for slot in range(slots):
        phase_end, phase_kind = 0, ""
        latest = 0
        for span in (each for each in timeline(slots).spans if each.slot == slot):
            kind = span.product or "fill"
            if kind != phase_kind:
                phase_end, phase_kind = latest, kind
            assert span.start >= phase_end, span
            latest = max(latest, span.end)


def test_slot_1_is_filled_while_slot_0_is_multiplied():
    """With two slots a part of scale Q leaves UB while the Cube multiplies the keys; the Cube is seen to work then."""
    spans = timeline().spans
    fills = [span for span in spans if span.pipe is Pipe.MTE3 and span.slot == 1]
    keys = [span for span in spans if span.product == "beta K K^T"]
    assert [span.what for span in fills] == ["scale Q: high part", "scale Q: low part"]
    assert together(fills, [span for span in keys if span.pipe is Pipe.CUBE]) > 0
    assert together(fills, [span for span in keys if span.pipe is Pipe.MTE2]) > 0


def test_one_slot_serialises():
    """With one slot scale Q starts to leave UB when the product of the keys has ended, and the chunk takes longer."""
    spans = timeline(1).spans
    fills = [span for span in spans if span.what.startswith("scale Q: ") and span.pipe is Pipe.MTE3]
    ended = max(span.end for span in spans if span.product == "beta K K^T")
    assert min(span.start for span in fills) >= ended
    assert timeline(1).cycles > timeline(2).cycles


def test_a_tail_uses_neither_cube_nor_slots():
    """A chunk of 9 rows is on the Vector unit."""
    tail = timeline(rows=9)
    assert tail.busy(Pipe.CUBE) == tail.busy(Pipe.MTE1) == 0
    assert {span.slot for span in tail.spans} == {-1}


def test_products_of_a_chunk():
    """Two terms of 6 large products (two for V', two for O), and four of 6 inside the inverse: 14 + 24 on the Cube."""
    cube = [span for span in timeline().spans if span.pipe is Pipe.CUBE]
    inverse = [span for span in cube if span.product.startswith("inverse")]
    assert (len(inverse), len(cube) - len(inverse)) == (24, 2 * 8)


def test_cores_add_chunks_and_the_busiest_decides():
    """Three sequences of 64, 64 and 9 tokens on two blocks: block 0 has two of them."""
    items = list(work_items([64, 64, 9], hv=1, dv=128, v_step=128, block_num=2))
    full, tail = timeline().cycles, timeline(rows=9).cycles
    assert core_cycles(CUBE, FULL, items) == 2 * full + tail
    assert launch_cycles(CUBE, FULL, items) == max(
        sum(full if i.sequence.length == 64 else tail for i in items if i.block == b) for b in (0, 1)
    )
    assert launch_cycles(CUBE, FULL, []) == 0


def test_spans_of_a_core_go_on():
    """The second chunk's operations start where the first one's end."""
    items = list(work_items([73], hv=1, dv=128, v_step=128, block_num=1))
    spans = list(core_spans(CUBE, FULL, items))
    assert {row for _, row, _ in spans} == {0, 64}
    assert min(span.start for _, row, span in spans if row == 64) == timeline().cycles
    assert max(span.end for _, _, span in spans) == timeline().cycles + timeline(rows=9).cycles


def test_the_device_clock_follows_the_model():
    """On a 310P3 the kernel ends a launch latency and the busiest core's time after its start, as do its slices."""
    inputs = arrays()
    names = ("query", "key", "value", "beta", "initial_state", "actual_seq_lengths")
    given = {name: inputs[name] for name in names}
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "c",
        "inputs": [{"name": n, "dtype": str(a.dtype), "shape": list(a.shape)} for n, a in given.items()],
        "nodes": [{"name": "c", "type": "ChunkGatedDeltaRule", "inputs": [*names, None], "outputs": ["o", "s"]}],
        "outputs": ["o", "s"],
    }  # fmt: skip
    host = PluginHost()
    blob = compile_graph(graph, "ascend310p3", CompileOptions(offline=False), host)
    device = Device("ascend310p3", plugins=host, policies={"cgdr.time": "pipes"})
    result = device.load(blob).execute(given)
    (done,) = [e for e in result.trace if isinstance(e, TaskDone) and e.engine == "ai_core"]
    geometry, mhz = Geometry(64, 64, 64, 64, 64, 2, 64, 1.0), device.chip.cube_mhz
    items = list(work_items([67], hv=2, dv=64, v_step=64, block_num=2))
    began = done.started + device.chip.latencies.ai_core_launch_ns
    slices = list(launch_slices(geometry, full_chunk_steps(geometry), items, started=began, mhz=mhz))
    assert math.ceil(max(each.end for each in slices)) == done.time
    assert min(each.start for each in slices) == began
    assert {(each.core, each.head, each.row) for each in slices} == {(0, 0, 0), (0, 0, 64), (1, 1, 0), (1, 1, 64)}
    told = [e for e in result.trace if isinstance(e, PipeUsed)]
    assert [(e.core, e.pipe, e.started) for e in told] == [(s.core, str(s.pipe), math.floor(s.start)) for s in slices]
    assert (min(e.started for e in told), max(e.ended for e in told)) == (began, done.time)
    assert {(e.stream, e.task, e.node, e.time) for e in told} == {(done.stream, done.task, "c", done.time)}


def test_pipes_are_not_told_of_unless_the_clock_follows_them(make_board):
    """Under `cgdr.time=work` the durations are others, so no event says what a pipe does."""
    assert list(float16_spans(make_board(arrays(), {}).launch())) == []
    assert list(float16_spans(make_board(arrays(), {"cgdr.time": "pipes"}).launch()))


def arrays():
    """Two heads of 64 columns, 67 tokens."""
    rng = np.random.default_rng(1)
    return {
        "query": rng.random((67, 2, 64)).astype(np.float16), "key": (rng.random((67, 2, 64)) / 8).astype(np.float16),
        "value": rng.random((67, 2, 64)).astype(np.float16), "beta": rng.random((67, 2)).astype(np.float16),
        "initial_state": np.zeros((1, 2, 64, 64), np.float16), "actual_seq_lengths": np.array([67], np.int32),
        "scale": np.float32(0.125),
    }  # fmt: skip


def test_the_kernel_takes_the_time_of_the_model(make_board):
    """With `cgdr.time=pipes` each of the two blocks takes the cycles of its one item."""
    made = make_board(arrays(), {"cgdr.time": "pipes"})
    launch = made.launch()
    cost, geometry = kernel_cost(launch), Geometry(64, 64, 64, 64, 64, 2, 64, 0.125)
    expected = sum(chunk_timeline(geometry, full_chunk_steps(geometry), rows).cycles for rows in (64, 3))
    assert Fraction(cost.flops, launch.chip.cube_flops_per_cycle * launch.block_dim) == expected
    assert cost.bytes == 0


def test_one_slot_takes_longer_and_gives_the_same(make_board):
    """`cgdr.stage_slots=1` changes the time of the model and no value."""
    made = [make_board(arrays(), {"cgdr.time": "pipes", "cgdr.stage_slots": slots}) for slots in "12"]
    costs = [kernel_cost(each.launch()).flops for each in made]
    assert costs[0] > costs[1]
    for each in made:
        run_float16(each.launch())
    assert made[0].out().tobytes() == made[1].out().tobytes()
