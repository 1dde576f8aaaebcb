"""ChunkGatedDeltaRule tiled on the device, on the host and at compile time: one result."""

from __future__ import annotations

import numpy as np
import pytest

from formats.blob import TaskType

P3 = "ascend310p3"
T, HEADS, DK, DV = 70, 2, 16, 16


def _inputs():
    def wave(shape, step, scale):
        return (np.sin(np.arange(np.prod(shape)) * step) * scale).reshape(shape).astype(np.float16)

    return {
        "query": wave((T, HEADS, DK), 0.37, 0.5),
        "key": wave((T, HEADS, DK), 0.53, 0.3),
        "value": wave((T, HEADS, DV), 0.29, 1.0),
        "beta": wave((T, HEADS), 0.11, 0.4),
        "initial_state": wave((1, HEADS, DV, DK), 0.07, 0.1),
    }


def _graph(*, constant=False, sink=True):
    arrays = {k: {"name": k, "dtype": "float16", "shape": list(v.shape)} for k, v in _inputs().items()}
    lens = {"name": "lens", "dtype": "int32", "shape": [1]}
    return {
        "format": "sqemu-graph", "version": 1, "name": "gdn",
        "options": {"ge.tiling_schedule_optimize": str(int(sink))},
        "inputs": [*arrays.values(), *([] if constant else [lens])],
        "constants": [{**lens, "data": [T]}] if constant else [],
        "nodes": [{
            "name": "cgdr0", "type": "ChunkGatedDeltaRule",
            "inputs": ["query", "key", "value", "beta", "initial_state", "lens", None],
            "outputs": ["out", "final_state"], "attrs": {"scale_value": 0.25},
        }],
        "outputs": ["out", "final_state"],
    }  # fmt: skip


@pytest.fixture
def run(lab):
    """Runs a graph once; it must be clean."""

    def once(graph, **policies):
        arrays = _inputs()
        if len(graph["inputs"]) == 6:
            arrays["lens"] = np.array([T], np.int32)
        bench = lab(P3, graph=graph, inputs=arrays, **policies)
        result = bench.run()
        assert result.ok
        assert result.hazards == ()
        assert result.unwritten == {}
        return bench, result.outputs

    return once


def test_an_input_sinks_and_a_constant_does_not(run):
    """Lengths that arrive at run time sink; known lengths, or the policy, leave a plain kernel and no second stream."""
    sunk, _ = run(_graph())
    assert [t.type for t in sunk.blob.tasks] == [
        TaskType.PREPROCESS_KERNEL,
        TaskType.EVENT_WAIT,
        *[TaskType.NOP] * 5,
        TaskType.ALL_KERNEL,
        TaskType.UPDATE,
        TaskType.EVENT_RECORD,
        TaskType.MODEL_END_GRAPH,
    ]
    for bench, _ in (run(_graph(constant=True)), run(_graph(), cgdr__tiling_depend="none")):
        types = [t.type for t in bench.blob.tasks]
        assert {TaskType.PREPROCESS_KERNEL, TaskType.UPDATE, TaskType.EVENT_WAIT, TaskType.NOP}.isdisjoint(types)
        assert len(bench.blob.streams) == 1
        assert not bench.blob.unknown_shape


def test_all_ways_of_tiling_give_the_same_bytes(run):
    """Device, host, constant lengths, and no declared dependency."""
    ways = [
        run(_graph())[1],
        run(_graph(sink=False))[1],
        run(_graph(constant=True))[1],
        run(_graph(), cgdr__tiling_depend="none")[1],
    ]
    assert np.abs(ways[0]["out"]).max() > 0
    for other in ways[1:]:
        for name in ("out", "final_state"):
            assert other[name].tobytes() == ways[0][name].tobytes()
