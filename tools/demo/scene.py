"""The graph of the demo and the arrays of its three executions.

| operator | why it is here |
|---|---|
| ChunkGatedDeltaRule | head sizes of Qwen3-Next (128), a quarter of its heads, 192 tokens in two sequences |
| TilingProbe | its output shows the tiling key and block dim it was launched with |
| AddCustomTilingSink | a custom operator that reads the probe's output |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Arrays = dict[str, npt.NDArray[np.generic]]

TOKENS, KEY_HEADS, VALUE_HEADS, HEAD = 192, 4, 8, 128
SEQUENCES = 2
ELEMENTS = 1000
SCALE = HEAD**-0.5
LENGTHS = ((128, 64), (65, 127), (30, 162))
BLOCKS = (3, 7, 5)
ADD_BLOCKS = (4, 1, 6)
EXECUTIONS = len(LENGTHS)

CGDR_INPUTS = {
    "query": ("float16", (TOKENS, KEY_HEADS, HEAD)),
    "key": ("float16", (TOKENS, KEY_HEADS, HEAD)),
    "value": ("float16", (TOKENS, VALUE_HEADS, HEAD)),
    "beta": ("float16", (TOKENS, VALUE_HEADS)),
    "initial_state": ("float16", (SEQUENCES, VALUE_HEADS, HEAD, HEAD)),
    "actual_seq_lengths": ("int32", (SEQUENCES,)),
    "g": ("float32", (TOKENS, VALUE_HEADS)),
}
OTHER_INPUTS = {
    "x": ("float32", (ELEMENTS,)),
    "n": ("int32", (1,)),
    "bias": ("float32", (ELEMENTS,)),
    "m": ("int32", (1,)),
}
OPERATORS = {
    "cgdr": ("ChunkGatedDeltaRule", tuple(CGDR_INPUTS), ("out", "final_state"), {"scale_value": SCALE}),
    "probe": ("TilingProbe", ("x", "n"), ("y",), {}),
    "add": ("AddCustomTilingSink", ("y", "bias", "m"), ("z",), {}),
}
OUTPUTS = ("out", "final_state", "y", "z")


def demo_graph(*, sink: bool) -> dict[str, object]:
    """The JSON graph, with tiling on the device (`sink`) or on the host."""
    return {
        "format": "sqemu-graph",
        "version": 1,
        "name": "demo",
        "options": {"ge.tiling_schedule_optimize": "1" if sink else "0"},
        "inputs": [
            {"name": name, "dtype": dtype, "shape": list(shape)}
            for name, (dtype, shape) in {**CGDR_INPUTS, **OTHER_INPUTS}.items()
        ],
        "nodes": [
            {"name": name, "type": kind, "inputs": list(inputs), "outputs": list(outputs), "attrs": attrs}
            for name, (kind, inputs, outputs, attrs) in OPERATORS.items()
        ],
        "outputs": list(OUTPUTS),
    }


def demo_inputs(execution: int) -> Arrays:
    """The arrays of one execution, from a fixed seed."""
    random = np.random.Generator(np.random.PCG64(2024 + execution))

    def normal(name: str) -> npt.NDArray[np.float64]:
        return random.standard_normal(CGDR_INPUTS[name][1])

    return {
        "query": _unit(normal("query")).astype(np.float16),
        "key": _unit(normal("key")).astype(np.float16),
        "value": normal("value").astype(np.float16),
        "beta": (1 / (1 + np.exp(-normal("beta")))).astype(np.float16),
        "initial_state": (0.3 * normal("initial_state")).astype(np.float16),
        "actual_seq_lengths": np.array(LENGTHS[execution], np.int32),
        "g": -random.random(CGDR_INPUTS["g"][1], np.float32),
        "x": np.arange(ELEMENTS, dtype=np.float32),
        "n": np.array([BLOCKS[execution]], np.int32),
        "bias": np.full(ELEMENTS, 0.5, np.float32),
        "m": np.array([ADD_BLOCKS[execution]], np.int32),
    }


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    length = np.sqrt((rows**2).sum(-1, keepdims=True))
    unit: npt.NDArray[np.float64] = rows / length
    return unit


def operator_arrays(name: str, arrays: Mapping[str, npt.NDArray[np.generic]], ir_names: tuple[str, ...]) -> Arrays:
    """The inputs of operator `name` under the names its definition uses."""
    return {ir: arrays[tensor] for ir, tensor in zip(ir_names, OPERATORS[name][1], strict=True)}
