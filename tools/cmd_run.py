"""`sqemu run`: compile if needed, load once, execute once per input file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.device import Device
from emu_core.errors import InputError
from tools.given_plugins import make_host
from tools.options import chip_option, compile_options, debug_option, json_option, plugin_option, policy_option
from tools.program import Wanted, load_program
from tools.series import Series, Wishes

if TYPE_CHECKING:
    from emu_core.model import Model


@click.command("run")
@click.argument("program")
@click.option("--inputs", multiple=True, metavar="IN.npz", help="Input arrays; each file is one execution.")
@click.option("--outputs", metavar="OUT.npz", help="Where to write outputs; several executions add .0, .1, …")
@click.option(
    "--times", default=1, show_default=True, type=click.IntRange(1, 1_000_000), help="Repeat the list of inputs."
)
@click.option("--trace", "trace_file", metavar="T.jsonl", help="Write the events of all executions as JSON lines.")
@click.option("--dump-rings", metavar="DIR", help="Write before.bin, after.bin and executed.bin of each SQ.")
@click.option("--record", metavar="F.sqr", help="Write a run record: all of the above and more in one file.")
@click.option("--patches", is_flag=True, help="Print every patch of a submitted SQE.")
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
    record: str | None,
    patches: bool,
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
    """Run PROGRAM, a graph (JSON, ONNX, GE text) or a task blob; `-` is standard input.

    All executions use one loaded model. Nothing is written unless every execution succeeds, except traces and ring
    dumps, which are there to find out why one did not.
    """
    host = make_host(without)
    wanted = Wanted(chip, ge_options, tiling_schedule_optimize, online, policies, online_by_default=True)
    loaded = load_program(program, wanted, host)
    device = Device(_chip(chip, loaded.blob.chip), loaded.policies, host, record_rings=bool(dump_rings or record))
    model = device.load(loaded.blob)
    wishes = Wishes(outputs or "", trace_file or "", dump_rings or "", record or "", quiet, as_json, patches)
    tally = Series(model, _files(model, inputs, times), wishes, program=program, blob=loaded.blob).run()
    return 1 if tally.failed or (strict and tally.hazards) else 0


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
