"""Makes a Qwen3-Next gated-delta-net layer: two graphs, weights, inputs; then runs prefill and one decoding step.

    python docs/examples/gdn_layer.py FOLDER

writes `gdn_prefill.json` and `gdn_decode.json` (the same nodes, for 70 tokens and for one), `gdn_weights.npz`, which
both graphs name, and `gdn_prefill.npz`, the inputs of the first; then it writes `gdn_decode.npz`, whose states are
those that the prefill left.
"""  # noqa: INP001 - a script

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from emu_core import CompileOptions, Device, PluginHost, compile_graph
from emu_plugins.importers import GraphBuilder

CHIP, PROMPT, STEP = "ascend310p3", 70, 1


@dataclass(frozen=True)
class Layer:
    """Sizes of the layer: elements of a token, heads and their widths, taps of the convolution."""

    hidden: int = 48
    key_heads: int = 2
    value_heads: int = 4
    key_width: int = 16
    value_width: int = 16
    taps: int = 4
    eps: float = 1e-6

    @property
    def channels(self) -> int:
        """Channels of the convolution: query, key, value."""
        return 2 * self.key_heads * self.key_width + self.value_heads * self.value_width

    @property
    def heads(self) -> dict[str, int]:
        """The head attributes of GdnSplit and GdnQkvNorm."""
        names = ("key_heads", "value_heads", "key_width", "value_width")
        return {name: getattr(self, name) for name in names}


def weights(layer: Layer, seed: int = 1) -> dict[str, Any]:
    """Random weights; names are those of the model's parameters."""
    rng = np.random.Generator(np.random.PCG64(seed))
    values = layer.value_heads * layer.value_width

    def normal(*shape: int) -> Any:  # noqa: ANN401 - an array
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float16)

    return {
        "in_proj_qkvz": normal(layer.channels + values, layer.hidden),
        "in_proj_ba": normal(2 * layer.value_heads, layer.hidden),
        "conv1d": normal(layer.channels, layer.taps),
        "a_log": np.log(rng.uniform(1, 16, layer.value_heads)).astype(np.float32),
        "dt_bias": rng.uniform(-4, 1, layer.value_heads).astype(np.float32),
        "norm": rng.uniform(0.5, 1.5, layer.value_width).astype(np.float16),
        "out_proj": normal(layer.hidden, values),
    }


def inputs(layer: Layer, tokens: int, seed: int = 2) -> dict[str, Any]:
    """One sequence of random tokens, and states of zeros."""
    rng = np.random.Generator(np.random.PCG64(seed))
    state = (1, layer.value_heads, layer.value_width, layer.key_width)
    return {
        "hidden": rng.standard_normal((tokens, layer.hidden)).astype(np.float16),
        "lens": np.array([tokens], np.int32),
        "conv_state": np.zeros((1, layer.channels, layer.taps - 1), np.float16),
        "state": np.zeros(state, np.float16),
    }


def graph(layer: Layer, tokens: int, made: dict[str, Any], name: str) -> dict[str, Any]:
    """The layer over one sequence of `tokens`; its constants name arrays of `gdn_weights.npz`."""
    g = GraphBuilder(name, {"ge.tiling_schedule_optimize": "1"})
    x, lens, conv_state, state = (
        g.input(key, str(array.dtype), list(array.shape)) for key, array in inputs(layer, tokens).items()
    )
    w = {key: g.constant(key, str(array.dtype), list(array.shape), array) for key, array in made.items()}
    qkvz = g.node("GdnLinear", x, w["in_proj_qkvz"], outputs=["qkvz"])
    ba = g.node("GdnLinear", x, w["in_proj_ba"], outputs=["ba"])
    mixed, z, b, a = g.nodes("GdnSplit", qkvz, ba, outputs=["mixed", "z", "b", "a"], **layer.heads)
    convolved = ["conv", "new_conv_state"]
    conv, new_conv = g.nodes("GdnCausalConv1d", mixed, w["conv1d"], conv_state, lens, outputs=convolved)
    query, key, value = g.nodes("GdnQkvNorm", conv, outputs=["query", "key", "value"], eps=1e-6, **layer.heads)
    decay, beta = g.nodes("GdnGate", a, b, w["a_log"], w["dt_bias"], outputs=["g", "beta"])
    core, new_state = g.nodes(
        "ChunkGatedDeltaRule", query, key, value, beta, state, lens, decay,
        outputs=["core", "new_state"], scale_value=layer.key_width**-0.5,
    )  # fmt: skip
    normed = g.node("GdnGatedRmsNorm", core, z, w["norm"], outputs=["normed"], eps=layer.eps)
    y = g.node("GdnLinear", normed, w["out_proj"], outputs=["y"])
    g.output(y, new_conv, new_state)
    built: dict[str, Any] = g.build()
    for constant in built["constants"]:
        constant["data"] = {"npz": "gdn_weights.npz", "key": constant["name"]}
    return built


def main(folder: str, host: PluginHost | None = None) -> dict[str, Any]:
    """Write the files, run both graphs, and give the outputs of both by graph."""
    layer, at, host = Layer(), Path(folder), host or PluginHost()
    made, given, found = weights(layer), inputs(layer, PROMPT), {}
    np.savez(at / "gdn_weights.npz", **made)
    for name, tokens in (("gdn_prefill", PROMPT), ("gdn_decode", STEP)):
        path = at / f"{name}.json"
        built = graph(layer, tokens, made, name)
        path.write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")
        np.savez(at / f"{name}.npz", **given)
        blob = compile_graph(built, CHIP, CompileOptions(source=str(path)), host)
        result = Device(CHIP, plugins=host).load(blob).execute(given)
        if not result.ok:
            raise SystemExit("\n".join(fault.text() for fault in result.faults))
        found[name] = {"hidden": given["hidden"], **result.outputs}
        states = {"conv_state": result.outputs["new_conv_state"], "state": result.outputs["new_state"]}
        given = {**inputs(layer, STEP, seed=3), **states}
    return found


if __name__ == "__main__":
    for name, outputs in main(sys.argv[1] if len(sys.argv) > 1 else ".").items():
        print(f"{name}: y {list(outputs['y'].shape)}, new_state {list(outputs['new_state'].shape)}")  # noqa: T201
