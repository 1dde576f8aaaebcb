"""The layer of docs/examples as a module, a host with its operators, single launches, and the layer in float64."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from emu_core import CompileOptions, Device, PluginHost, compile_graph
from emu_plugins import layer as layer_plugin
from emu_plugins.importers import GraphBuilder

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "gdn_layer.py"


@pytest.fixture(scope="session")
def layer_host():
    """Installed plugins, and the layer's where it is not among them."""
    host = PluginHost()
    return host if "GdnLinear" in host.operators else PluginHost([layer_plugin])


@pytest.fixture(scope="session")
def example():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("gdn_layer_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def run_one(layer_host):
    """Run one operator through compiler and device: outputs by position, or the result when it fails."""

    def run(op_type, arrays, count, dtype="float16", chip="ascend310p3", **attrs):
        g = GraphBuilder("one")
        names = [dtype if a.dtype in (np.float16, np.uint16) else str(a.dtype) for a in arrays]
        tensors = [g.input(f"i{k}", name, list(a.shape)) for k, (a, name) in enumerate(zip(arrays, names, strict=True))]
        outs = g.nodes(op_type, *tensors, count=count, **attrs)
        g.output(*outs)
        model = Device(chip, plugins=layer_host).load(compile_graph(g.build(), chip, CompileOptions(), layer_host))
        result = model.execute({f"i{k}": a for k, a in enumerate(arrays)})
        return [result.outputs[t.name] for t in outs] if result.ok else result

    return run


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


class Reference:
    """The layer in float64, token by token, from its definition; keeps both states between calls."""

    def __init__(self, sizes, weights):
        self.s, self.w = sizes, {name: np.asarray(a, np.float64) for name, a in weights.items()}
        self.window = np.zeros((sizes.taps - 1, sizes.channels))
        self.state = np.zeros((sizes.value_heads, sizes.key_width, sizes.value_width))

    def token(self, x):
        """Output of one token."""
        s, w = self.s, self.w
        ratio = s.value_heads // s.key_heads
        groups = (w["in_proj_qkvz"] @ x).reshape(s.key_heads, -1)
        pairs = (w["in_proj_ba"] @ x).reshape(s.key_heads, -1)
        dk, served = s.key_width, ratio * s.value_width
        row = np.concatenate([
            groups[:, :dk].ravel(), groups[:, dk : 2 * dk].ravel(), groups[:, 2 * dk : 2 * dk + served].ravel()
        ])  # fmt: skip
        z = groups[:, 2 * dk + served :].reshape(s.value_heads, s.value_width)
        b, a = pairs[:, :ratio].ravel(), pairs[:, ratio:].ravel()
        rows = np.vstack([self.window, row])
        self.window = rows[1:]
        mixed = np.sum(rows.T * w["conv1d"], axis=1)
        mixed = mixed * sigmoid(mixed)
        query, key, value = np.split(mixed, (s.key_heads * dk, 2 * s.key_heads * dk))
        query, key = (p.reshape(s.key_heads, dk) for p in (query, key))
        query, key = (p / np.sqrt((p**2).sum(1, keepdims=True) + 1e-6) for p in (query, key))
        value = value.reshape(s.value_heads, s.value_width)
        decay = np.exp(-np.exp(w["a_log"]) * np.log1p(np.exp(a + w["dt_bias"])))
        out = np.stack([
            self.head(h, query[h // ratio], key[h // ratio], value[h], decay[h], sigmoid(b[h]))
            for h in range(s.value_heads)
        ])  # fmt: skip
        normed = w["norm"] * out / np.sqrt((out**2).mean(1, keepdims=True) + s.eps)
        return w["out_proj"] @ (normed * z * sigmoid(z)).ravel()

    def head(self, h, query, key, value, decay, beta):
        """The gated delta rule of one head and token."""
        state = self.state[h] * decay
        state = state + np.outer(key, beta * (value - state.T @ key))
        self.state[h] = state
        return state.T @ query / np.sqrt(len(query))

    def run(self, hidden):
        """Outputs of all tokens."""
        return np.stack([self.token(x) for x in np.asarray(hidden, np.float64)])


@pytest.fixture(scope="session")
def layer_reference():
    """The class above."""
    return Reference


@pytest.fixture(scope="session")
def ran(example, layer_host, tmp_path_factory):
    """Outputs of prefill and decode, and the folder that the script filled."""
    folder = tmp_path_factory.mktemp("layer")
    return example.main(str(folder), layer_host), folder
