"""`sqemu run`: compile if needed, load once, execute once per input file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.plugins import PluginHost
from tools.executions import Execution, output_name, ring_files, trace_lines
from tools.files import Outputs, read_npz
from tools.options import chip_option, compile_options, debug_option, json_option, plugin_option, policy_option
from tools.program import Wanted, load_program
from tools.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.model import Model
    from tools.files import Arrays


@click.command("run")
@click.argument("program")
@click.option("--inputs", multiple=True, metavar="IN.npz", help="Input arrays; each file is one execution.")
@click.option("--outputs", metavar="OUT.npz", help="Where to write outputs; several executions add .0, .1, …")
@click.option(
    "--times", default=1, show_default=True, type=click.IntRange(1, 1_000_000), help="Repeat the list of inputs."
)
@click.option("--trace", "trace_file", metavar="T.jsonl", help="Write the events of all executions as JSON lines.")
@click.option("--dump-rings", metavar="DIR", help="Write before.bin, after.bin and executed.bin of each SQ.")
@click.option("--strict", is_flag=True, help="Exit with 1 when there are hazards.")
@click.option("--quiet", is_flag=True, help="Print only faults, deadlocks and hazards.")
@chip_option
@compile_options
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    program: str,
    inputs: tuple[str, ...],
    outputs: str | None,
    times: int,
    trace_file: str | None,
    dump_rings: str | None,
    strict: bool,
    quiet: bool,
    chip: str,
    ge_options: tuple[str, ...],
    tiling_schedule_optimize: str | None,
    online: bool | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run PROGRAM, a graph (JSON) or a task blob; `-` is standard input.

    All executions use one loaded model. Nothing is written unless every execution succeeds, except traces and ring
    dumps, which are there to find out why one did not.
    """
    host = PluginHost(without=without)
    wanted = Wanted(chip, ge_options, tiling_schedule_optimize, online, policies, online_by_default=True)
    loaded = load_program(program, wanted, host)
    device = Device(_chip(chip, loaded.blob.chip), loaded.policies, host, record_rings=dump_rings is not None)
    model = device.load(loaded.blob)
    files = _files(model, inputs, times)
    with Outputs() as results, Outputs() as records:
        worst = _execute(model, files, outputs, dump_rings, results, records, quiet=quiet, as_json=as_json)
        if trace_file:
            records.write(trace_file, trace_lines(device.trace))
        records.commit()
        if worst.failed:
            results.discard()
        results.commit()
    return 1 if worst.failed or (strict and worst.hazards) else 0


def _chip(asked: str, compiled_for: str) -> str:
    """The device's chip: the blob's own one when the user did not ask for another."""
    source = click.get_current_context().get_parameter_source("chip")
    return asked if source is click.core.ParameterSource.COMMANDLINE else compiled_for


def _files(model: Model, inputs: tuple[str, ...], times: int) -> list[str | None]:
    if not inputs and model.inputs:
        names = ", ".join(p.name for p in model.inputs)
        raise InputError(
            f"the graph has inputs ({names})", id="input.none", remedy="give --inputs IN.npz with these arrays"
        )
    return [*inputs, *([None] if not inputs else [])] * times


def _execute(
    model: Model,
    files: list[str | None],
    outputs: str | None,
    dump_rings: str | None,
    results: Outputs,
    records: Outputs,
    *,
    quiet: bool,
    as_json: bool,
) -> Execution:
    """All executions in order, up to the first that fails; returns the worst of them."""
    worst = Execution()
    with Progress("execution", len(files)) as progress:
        for index, arrays in enumerate(_arrays(files)):
            before = model.rings() if dump_rings else {}
            result = model.execute(arrays)
            found = Execution.of(model, result)
            found.show(quiet=quiet, as_json=as_json)
            worst = worst.worse(found)
            if dump_rings:
                for name, data in ring_files(model, before, index if len(files) > 1 else None):
                    records.write(f"{dump_rings}/{name}", data)
            if found.failed:
                break
            if outputs:
                results.write_npz(output_name(outputs, index, len(files)), result.outputs)
            progress.step()
    return worst


def _arrays(files: list[str | None]) -> Iterator[Arrays]:
    """Arrays of each execution, read when it is due; a file used again is read again."""
    for path in files:
        yield {} if path is None else read_npz(path)
