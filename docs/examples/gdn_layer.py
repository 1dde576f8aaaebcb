"""Makes a Qwen3-Next gated-delta-net layer: two graphs, weights, inputs; then runs prefill and one decoding step.

    python docs/examples/gdn_layer.py FOLDER

writes `gdn_prefill.json` and `gdn_decode.json` (the same nodes, for 70 tokens and for one), `gdn_weights.npz`, which
both graphs name, and `gdn_prefill.npz`, the inputs of the first; then it writes `gdn_decode.npz`, whose states are
those that the prefill left.
"""  # noqa: INP001 - a script

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from emu_core import CompileOptions, Device, PluginHost, SqemuError, compile_graph
from emu_plugins.layer.example import Layer, graph, inputs, weights

CHIP, PROMPT, STEP = "ascend310p3", 70, 1


def main(folder: str, host: PluginHost | None = None) -> dict[str, Any]:
    """Write the files, run both graphs, and give the outputs of both by graph."""
    layer, at, host = Layer(), Path(folder), host or PluginHost()
    at.mkdir(parents=True, exist_ok=True)
    made, given, found = weights(layer), inputs(layer, PROMPT), {}
    np.savez(at / "gdn_weights.npz", **made)
    for name, tokens in (("gdn_prefill", PROMPT), ("gdn_decode", STEP)):
        path = at / f"{name}.json"
        built = graph(layer, tokens, made, name, "gdn_weights.npz")
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
    try:
        made_by_graph = main(sys.argv[1] if len(sys.argv) > 1 else ".")
    except (SqemuError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    for name, outputs in made_by_graph.items():
        print(f"{name}: y {list(outputs['y'].shape)}, new_state {list(outputs['new_state'].shape)}")  # noqa: T201
