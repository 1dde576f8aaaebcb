"""`sqemu demo --layer`: a gated-delta-net layer prefills a prompt, then decodes token by token from its own states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.graph import CompileOptions
from emu_core.trace import TaskStarted
from emu_plugins.accuracy import normalised_rms
from emu_plugins.layer.example import Layer, graph, inputs, weights
from tools.fitted import fitted
from tools.show import heading, json_line
from tools.stacked import paragraph

if TYPE_CHECKING:
    import numpy.typing as npt

    from emu_core.model import Result
    from emu_core.plugins import PluginHost

PROMPT, STEPS = 70, 3
LIMIT = 5e-3
"""Normalised RMS between decoding and one pass over all tokens: each rounds to float16 about ten times."""


@dataclass(frozen=True)
class Step:
    """One run of the layer: its name, how many tokens, and what came out."""

    name: str
    tokens: int
    result: Result


@dataclass(frozen=True)
class Outcome:
    """The steps, the pass over all tokens at once, and how far the steps are from it (normalised RMS by output)."""

    steps: tuple[Step, ...]
    whole: Result
    distances: dict[str, float]

    @property
    def ok(self) -> bool:
        """Everything ran, and decoding gives what the whole sequence gives."""
        ran = self.whole.ok and all(step.result.ok for step in self.steps)
        return ran and all(found <= LIMIT for found in self.distances.values())


def run(chip: str, host: PluginHost) -> Outcome:
    """Prefill, decode, and all tokens at once."""
    layer = Layer()
    made, everything = weights(layer), inputs(layer, PROMPT + STEPS)
    hidden, given = everything["hidden"], {**everything, "hidden": everything["hidden"][:PROMPT]}
    steps: list[Step] = []
    at = 0
    for name, tokens in (("prefill", PROMPT), *((f"decode {n + 1}", 1) for n in range(STEPS))):
        arrays = {**given, "hidden": hidden[at : at + tokens], "lens": np.array([tokens], np.int32)}
        steps.append(Step(name, tokens, _once(layer, made, arrays, chip, host)))
        if not steps[-1].result.ok:
            break
        outputs = steps[-1].result.outputs
        given = {**given, "conv_state": outputs["new_conv_state"], "state": outputs["new_state"]}
        at += tokens
    whole = _once(layer, made, everything, chip, host)
    return Outcome(tuple(steps), whole, _distances(steps, whole))


def _once(layer: Layer, made: dict[str, Any], arrays: dict[str, Any], chip: str, host: PluginHost) -> Result:
    built = graph(layer, len(arrays["hidden"]), made, "layer")
    blob = compile_graph(built, chip, CompileOptions(offline=False, source="demo"), host)
    return Device(chip, None, host).load(blob).execute(arrays)


def _distances(steps: list[Step], whole: Result) -> dict[str, float]:
    if not whole.ok or not all(step.result.ok for step in steps):
        return {}
    decoded: npt.NDArray[Any] = np.concatenate([step.result.outputs["y"] for step in steps])
    last = steps[-1].result.outputs
    pairs = {"y": decoded, "new_conv_state": last["new_conv_state"], "new_state": last["new_state"]}
    return {name: float(normalised_rms(found, whole.outputs[name])) for name, found in pairs.items()}


def tell(chip: str, found: Outcome) -> None:
    """Print the steps and the comparison."""
    nodes = (
        "projections, causal convolution with state, norm of q and k, gate, ChunkGatedDeltaRule, gated norm, projection"
    )
    paragraph(
        f"A gated-delta-net layer of Qwen3-Next on {chip}, with small seeded weights: {nodes}. All times are virtual."
    )
    heading("Prefill and decoding; each step starts from the states that the one before left")
    rows = [(s.name, str(s.tokens), _time(s.result), *_rule(s.result)) for s in found.steps]
    rows.append(("all at once", str(PROMPT + STEPS), _time(found.whole), *_rule(found.whole)))
    fitted(
        "", ("step", "tokens", "µs", "key", "blocks", "path of the rule"), rows, right=("tokens", "µs", "key", "blocks")
    )
    heading("Decoding beside all tokens at once, normalised RMS")
    for name, distance in found.distances.items():
        click.echo(f"  {name:15} {distance:.2e}  limit {LIMIT:.0e}  {'ok' if distance <= LIMIT else 'TOO FAR'}")
    for fault in [f for r in (*(s.result for s in found.steps), found.whole) for f in r.faults]:
        paragraph(fault.text(), indent="  ")


def as_json(chip: str, found: Outcome) -> None:
    """One object per step, and one for the comparison."""
    for step in found.steps:
        key, blocks, path = _rule(step.result)
        json_line(
            {"chip": chip, "step": step.name, "tokens": step.tokens, "ok": step.result.ok,
             "ns": step.result.ended - step.result.started, "tiling_key": key, "block_dim": blocks, "path": path}
        )  # fmt: skip
    json_line({"normalised_rms": found.distances, "limit": LIMIT, "ok": found.ok})


def _time(result: Result) -> str:
    return f"{(result.ended - result.started) / 1000:.1f}"


def _rule(result: Result) -> tuple[str, str, str]:
    """Tiling key, block dim and path of ChunkGatedDeltaRule."""
    for event in result.trace:
        if isinstance(event, TaskStarted) and "path" in event.facts:
            return str(event.facts["tiling_key"]), str(event.facts["block_dim"]), str(event.facts["path"])
    return "", "", ""
