"""A gated-delta-net layer of Qwen3-Next as a graph, with seeded weights and inputs: for demonstrations and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from emu_plugins.importers import GraphBuilder


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
    def heads(self) -> dict[str, Any]:
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


def graph(layer: Layer, tokens: int, made: dict[str, Any], name: str, npz: str = "") -> dict[str, Any]:
    """The layer over one sequence of `tokens`; with `npz`, its constants name arrays of that file."""
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
    for constant in built["constants"] if npz else ():
        constant["data"] = {"npz": npz, "key": constant["name"]}
    return built
