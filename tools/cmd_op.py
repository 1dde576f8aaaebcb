"""`sqemu op`: one operator on the arrays of an npz, through the whole machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from tools.executions import Execution, launch_facts
from tools.files import Outputs, read_npz
from tools.options import (
    chip_option,
    debug_option,
    json_option,
    pairs,
    plugin_option,
    policy_option,
    split_policies,
)
from tools.show import json_line, table
from tools.single_op import case_arrays, case_graph, find_operator, make_case
from tools.verify import Check, check_outputs

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.model import Result
    from emu_core.operators import Case, OperatorSpec


@click.command("op")
@click.argument("op")
@click.option("--inputs", required=True, metavar="CASE.npz", help="Arrays by input name; references by output name.")
@click.option("--outputs", metavar="OUT.npz", help="Where to write the outputs.")
@click.option("--verify", is_flag=True, help="Compare with the case's references, else with the operator's own.")
@click.option("--strict", is_flag=True, help="Exit with 1 when there are hazards.")
@chip_option
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    op: str,
    inputs: str,
    outputs: str | None,
    verify: bool,
    strict: bool,
    chip: str,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run operator OP (its type, or a short name such as cgdr) on CASE.npz with tiling sink.

    The case is compiled, loaded and executed like a graph of one node; inputs whose value the tiling reads are graph
    inputs, so the tiling runs on the device.
    """
    host = PluginHost(without=without)
    spec = find_operator(host, op)
    case = make_case(spec, read_npz(inputs), inputs)
    compile_time, rest = split_policies(host, pairs(policies, "--policy"))
    options = CompileOptions(offline=False, policies=compile_time, source=inputs)
    compiled = compile_with_report(case_graph(spec, case), chip, options, host)
    for warning in compiled.warnings:
        click.echo(f"warning: {warning}", err=True)
    device = Device(chip, rest, host)
    model = device.load(compiled.blob)
    result = model.execute(case_arrays(spec, case))
    checks = _verify(spec, case, device.chip, result) if verify and result.ok else []
    _show(spec, device, Execution.of(model, result), checks, as_json=as_json)
    with Outputs() as written:
        if outputs and result.ok:
            written.write_npz(outputs, result.outputs)
        written.commit()
    bad = not result.ok or not all(c.ok for c in checks) or (strict and bool(result.hazards))
    return int(bad)


def _verify(spec: OperatorSpec, case: Case, chip: Chip, result: Result) -> list[Check]:
    expected = case.references
    if not expected:
        if spec.reference is None:
            raise InputError(
                f"the case has no reference and {spec.type} has none of its own",
                id="case.no-reference",
                remedy=f"add arrays named {', '.join(o.name for o in spec.outputs)} to the npz",
            )
        expected = spec.reference(case_arrays(spec, case), case.attrs, chip)
    return check_outputs(result.outputs, expected, spec.tolerance)


def _show(spec: OperatorSpec, device: Device, found: Execution, checks: list[Check], *, as_json: bool) -> None:
    result = found.result
    assert result is not None
    facts = launch_facts(result)
    if as_json:
        listed = [
            {"output": c.output, "error": c.error, "limit": c.limit, "largest": c.largest, "ok": c.ok} for c in checks
        ]
        json_line({"op": spec.type, "chip": device.chip.name, "launches": facts, "checks": listed})
    else:
        click.echo(f"{spec.type} on {device.chip.name}")
        for note in _notes(spec, device):
            click.echo(f"note: {note}")
        for launch in facts:
            click.echo(
                f"launch: kernel {launch['kernel']}, tiling key {launch['tiling_key']}, block dim {launch['block_dim']}"
            )
    found.show(quiet=False, as_json=as_json)
    if checks and not as_json:
        rows = [
            (c.output, f"{c.error:.2e}", f"{c.limit:g}", f"{c.largest:.2e}", "ok" if c.ok else "FAILED") for c in checks
        ]
        columns = ("output", "normalised RMS", "limit", "largest error", "")
        table("check against the reference", columns, rows, right=columns[1:4])


def _notes(spec: OperatorSpec, device: Device) -> list[str]:
    """How the operator is labelled on this chip."""
    kernel = device.host.kernels.get(spec.kernel)
    labels = [text for product, text in kernel.note if product == device.chip.product] if kernel else []
    return [*spec.notes, *labels]
