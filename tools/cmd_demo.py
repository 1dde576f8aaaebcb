"""`sqemu demo`: the main job on built-in data, told step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from formats.blob import TaskType
from tools.demo import scene, story
from tools.executions import as_values
from tools.options import chip_option, debug_option, json_option
from tools.patch_table import show_patches
from tools.show import heading, json_line
from tools.side_by_side import streams_as_they_ran
from tools.stacked import paragraph
from tools.verify import Check, check_outputs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from emu_core.model import Model, Result
    from formats.blob import Blob

    Arrays = dict[str, npt.NDArray[np.generic]]


@click.command("demo")
@click.option("--layer", is_flag=True, help="A gated-delta-net layer instead: prefill, then decoding from its states.")
@chip_option
@json_option
@debug_option
def command(layer: bool, chip: str, as_json: bool) -> int:
    """Run the main job: a graph whose tiling sinks to the device, three executions of one loaded model.

    Prints the task list, the streams as they ran, every patch, the checks against float64 references, and what
    tiling on the host would have cost.
    """
    host = PluginHost()
    if layer:
        return _layer(chip, host, as_json=as_json)
    sink_blob, model, sink = _run(host, chip, sink=True)
    _, _, on_host = _run(host, chip, sink=False)
    checks = _checks(host, model, sink)
    same = all((s.outputs[n] == h.outputs[n]).all() for s, h in zip(sink, on_host, strict=True) for n in s.outputs)
    if as_json:
        _as_json(chip, sink, checks, same=bool(same))
    else:
        _tell(chip, sink_blob, model, sink, on_host, checks, same=bool(same))
    good = all(r.ok for r in (*sink, *on_host)) and same and all(c.ok for _, _, c in checks)
    return 0 if good else 1


def _layer(chip: str, host: PluginHost, *, as_json: bool) -> int:
    from tools.demo import layer  # noqa: PLC0415 - the usual demo does not need it

    found = layer.run(chip, host)
    (layer.as_json if as_json else layer.tell)(chip, found)
    return 0 if found.ok else 1


def _run(host: PluginHost, chip: str, *, sink: bool) -> tuple[Blob, Model, list[Result]]:
    options = CompileOptions(offline=False, source="demo")
    blob = compile_graph(scene.demo_graph(sink=sink), chip, options, host)
    model = Device(chip, None, host).load(blob)
    return blob, model, [model.execute(scene.demo_inputs(i)) for i in range(scene.EXECUTIONS)]


def _checks(host: PluginHost, model: Model, results: list[Result]) -> list[tuple[int, str, Check]]:
    """Every output of every execution against its operator's reference."""
    found = []
    for result in results:
        tensors: Arrays = {**scene.demo_inputs(result.run - 1), **result.outputs}
        for name, (kind, _, outputs, attrs) in scene.OPERATORS.items():
            spec = host.operators[kind]
            assert spec.reference is not None
            arrays = scene.operator_arrays(name, tensors, tuple(i.name for i in spec.inputs))
            expected = spec.reference(arrays, attrs, model.device.chip)
            renamed = {ir.name: tensors[t] for ir, t in zip(spec.outputs, outputs, strict=True)}
            found += [(result.run, name, check) for check in check_outputs(renamed, expected, spec.tolerance)]
    return found


def _tell(
    chip: str,
    blob: Blob,
    model: Model,
    sink: list[Result],
    on_host: list[Result],
    checks: list[tuple[int, str, Check]],
    *,
    same: bool,
) -> None:
    latencies = model.device.chip.latencies
    paragraph(f"One model on {chip}, executed {scene.EXECUTIONS} times with different inputs; all times are virtual.")
    heading("The graph: three operators whose tiling reads a value of the device")
    for name, (kind, inputs, outputs, _) in scene.OPERATORS.items():
        read = inputs[blob.ops[[o.name for o in blob.ops].index(name)].depends[0]]
        click.echo(f"  {name:5} {kind:19} -> {', '.join(outputs):16}  tiling reads {read}")
    heading("1. The task list the compiler wrote")
    story.task_list(blob)
    heading("2. Both streams as they ran in execution 1")
    streams_as_they_ran(sink[0], {s.id: s.name for s in model.streams})
    paragraph(_why_it_works(blob, model), indent="  ")
    heading("3. Every patch of a submitted SQE, in all executions")
    show_patches(sink)
    heading("4. Outputs against the references")
    story.checks(checks)
    heading("5. The same inputs with tiling on the host (modelled)")
    story.comparison(sink, on_host, len(scene.OPERATORS), latencies.host_round_trip_ns)
    click.echo(f"  outputs of both ways are {'equal, byte for byte' if same else 'NOT equal'}")
    hazards = [h for r in sink for h in r.hazards]
    click.echo(f"\n{len(hazards)} hazards, {sum(len(r.faults) for r in sink)} faults.")
    for hazard in hazards:
        paragraph(hazard.text(), indent="  ")


def _why_it_works(blob: Blob, model: Model) -> str:
    """The distance that keeps each patch ahead of the fetch."""
    nops = sum(t.type == TaskType.NOP for t in blob.tasks) // len(scene.OPERATORS)
    depth = model.device.prefetch_depth
    return (
        f"Each kernel lies {nops + 2} entries past its wait (reset, {nops} NOPs, kernel), more than the prefetch depth "
        f"{depth}: it is not fetched while the stream waits, so the patch is seen."
    )


def _as_json(chip: str, sink: list[Result], checks: list[tuple[int, str, Check]], *, same: bool) -> None:
    for result in sink:
        json_line({"chip": chip, **as_values(result, {})})
    for run, op, check in checks:
        json_line({"run": run, "operator": op, "output": check.output, "limit": check.limit, "ok": check.ok})
    json_line({"host_and_sink_equal": same})
