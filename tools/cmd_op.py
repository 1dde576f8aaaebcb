"""`sqemu op`: one operator on the arrays of an npz, through the whole machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import GraphError, InputError
from emu_core.graph import CompileOptions
from tools.executions import Execution, launch_facts
from tools.files import Outputs
from tools.fitted import fitted_lines
from tools.given_plugins import make_host
from tools.npz import NpzArrays
from tools.options import (
    chip_option,
    debug_option,
    json_option,
    pairs,
    plugin_option,
    policy_option,
    split_policies,
)
from tools.say import say
from tools.show import columns as room
from tools.show import json_line, safe
from tools.show import lines as show_lines
from tools.single_op import case_arrays, case_graph, find_operator, read_case
from tools.single_op_errors import in_words, warning_in_words
from tools.stacked import paragraph
from tools.verify import Check, check_outputs

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.model import Result
    from emu_core.operators import Case, OperatorSpec
    from emu_core.plugins import PluginHost


@click.command("op")
@click.argument("op", required=False)
@click.option("--inputs", metavar="CASE.npz", help="Arrays by input name; references by output name.")
@click.option("--list", "listing", is_flag=True, help="List the operators with their inputs and attributes.")
@click.option("--outputs", metavar="OUT.npz", help="Where to write the outputs.")
@click.option("--verify", is_flag=True, help="Compare with the case's references, else with the operator's own.")
@click.option("--strict", is_flag=True, help="Exit with 1 when there are hazards.")
@chip_option
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    op: str | None,
    inputs: str | None,
    listing: bool,
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
    host = make_host(without)
    if listing:
        _list(host, as_json=as_json)
        return 0
    if op is None or inputs is None:
        raise click.UsageError("give an operator and --inputs CASE.npz, or --list")
    spec = find_operator(host, op)
    case, ignored = read_case(spec, NpzArrays(inputs), inputs)
    if ignored:
        say(f"note: {inputs}: {spec.type} has no use for {', '.join(ignored)}; ignored")
    compile_time, rest = split_policies(host, pairs(policies, "--policy"))
    options = CompileOptions(offline=False, policies=compile_time, source=inputs)
    try:
        compiled = compile_with_report(case_graph(spec, case), chip, options, host)
    except GraphError as error:
        raise in_words(spec, error) from None
    for warning in compiled.warnings:
        say(f"warning: {warning_in_words(spec, warning)}")
    if outputs:
        Outputs(never=(inputs,)).check(outputs)
    device = Device(chip, rest, host)
    model = device.load(compiled.blob)
    result = model.execute(case_arrays(spec, case))
    checks = _verify(spec, case, device.chip, result) if verify and result.ok else Verdict()
    _show(spec, device, Execution.of(model, result), checks, as_json=as_json)
    with Outputs(never=(inputs,)) as written:
        if outputs and result.ok:
            written.write_npz(outputs, result.outputs)
        written.commit()
    if outputs and result.ok and not as_json:
        click.echo(f"outputs -> {safe(outputs)}")
    bad = not result.ok or not all(c.ok for c in checks.checks) or (strict and bool(result.hazards))
    return int(bad)


@dataclass(frozen=True)
class Verdict:
    """Checks of the outputs, where the references are from, and outputs that have none."""

    checks: tuple[Check, ...] = ()
    source: str = ""
    unchecked: tuple[str, ...] = ()


def _verify(spec: OperatorSpec, case: Case, chip: Chip, result: Result) -> Verdict:
    expected, source = case.references, "the case"
    if not expected:
        if spec.reference is None:
            raise InputError(
                f"the case has no reference and {spec.type} has none of its own",
                id="case.no-reference",
                remedy=f"add arrays named {', '.join(o.name for o in spec.outputs)} to the npz",
            )
        expected, source = spec.reference(case_arrays(spec, case), case.attrs, chip), f"{spec.type} itself"
    checks = check_outputs(result.outputs, expected, spec.tolerance)
    return Verdict(tuple(checks), source, tuple(n for n in result.outputs if n not in expected))


def _show(spec: OperatorSpec, device: Device, found: Execution, verdict: Verdict, *, as_json: bool) -> None:
    result = found.result
    assert result is not None
    facts = launch_facts(result)
    if as_json:
        listed = [
            {"output": c.output, "error": c.error, "limit": c.limit, "largest": c.largest, "ok": c.ok}
            for c in verdict.checks
        ]
        json_line({"op": spec.type, "chip": device.chip.name, "launches": facts, "checks": listed})
    else:
        click.echo(f"{spec.type} on {device.chip.name}")
        for note in _notes(spec, device):
            paragraph(f"note: {note}", others="  ")
        for launch in facts:
            key, blocks = launch["tiling_key"], launch["block_dim"]
            paragraph(
                f"launch: kernel {launch['kernel']}, tiling key {key}, block dim {blocks}{_more(launch)}", others="  "
            )
    found.show(quiet=False, as_json=as_json)
    if as_json or not verdict.source:
        return
    rows = [_row(c) for c in verdict.checks]
    columns = ("output", "normalised RMS", "limit", "largest error", "")
    click.echo(click.style(f"check against the references of {verdict.source}", bold=True))
    remarks = ["" if check.ok else check.remark.strip(" :;,") for check in verdict.checks]
    show_lines(fitted_lines(columns, rows, room(), right=columns[1:4], below=remarks))
    if verdict.unchecked:
        paragraph(f"not checked, for lack of a reference: {', '.join(verdict.unchecked)}", indent="  ")


def _more(launch: dict[str, int | str]) -> str:
    """The path that the kernel says it took, if it says so."""
    path = launch.get("path")
    return "" if path is None else f", path {path}"


def _row(check: Check) -> tuple[str, ...]:
    outcome = "ok" if check.ok else "FAILED"
    return (check.output, f"{check.error:.2e}", f"{check.limit:g}", f"{check.largest:.2e}", outcome)


def _list(host: PluginHost, *, as_json: bool) -> None:
    """Every operator: names, inputs, outputs, attributes, and what its tiling reads."""
    for spec in sorted(host.operators.values(), key=lambda s: s.type):
        inputs = [f"{i.name}{'?' if i.optional else ''}" for i in spec.inputs]
        reads = [spec.inputs[i].name for i in spec.depends]
        attrs = {a.name: a.default for a in spec.attrs}
        outputs = [o.name for o in spec.outputs]
        if as_json:
            json_line({
                "op": spec.type, "alias": spec.alias, "inputs": inputs, "outputs": outputs, "attrs": attrs,
                "tiling_reads": reads, "custom": spec.custom, "notes": list(spec.notes),
            })  # fmt: skip
            continue
        click.echo(click.style(spec.type, bold=True) + (f"  (short: {spec.alias})" if spec.alias else ""))
        for label, text in (
            ("inputs", ", ".join(inputs)),
            ("outputs", ", ".join(outputs)),
            ("attributes", ", ".join(f"{n}={v}" for n, v in attrs.items())),
            ("tiling reads", ", ".join(reads)),
        ):
            if text:
                click.echo(f"  {label:13} {text}")
        for note in spec.notes:
            click.echo(f"  {'note':13} {note}")


def _notes(spec: OperatorSpec, device: Device) -> list[str]:
    """How the operator is labelled on this chip."""
    kernel = device.host.kernels.get(spec.kernel)
    labels = [text for product, text in kernel.note if product == device.chip.product] if kernel else []
    return [*spec.notes, *labels]
