"""`sqemu run`: compile if needed, load once, execute once per input file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError, OptionError
from tools.explain_compile import explain_as_json, explain_as_text
from tools.explain_execution import execution_as_json, execution_as_text
from tools.files import input_name
from tools.given_plugins import make_host
from tools.injection import tell
from tools.injection.compared import Compared
from tools.injection.compared import Program as Loadable
from tools.injection.plan_file import read_plan
from tools.log_options import log_options, log_wishes
from tools.options import chip_option, compile_options, debug_option, json_option, plugin_option, policy_option
from tools.program import Wanted, load_program
from tools.runtime_options import V2, runtime_of, runtime_option, sink_flag, tiling_option, with_runtime
from tools.say import say
from tools.series import Series, Wishes
from tools.stand_ins import say_stand_ins

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.model import Model
    from tools.program import Program


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
@click.option("--inject", metavar="PLAN.json", help="Let go wrong what a plan says, and compare with a run without it.")
@click.option("--explain", is_flag=True, help="Say what the compiler decided; with --runtime v2 its execution graph.")
@click.option(
    "--wait-graph", metavar="FILE", help="At a deadlock, write who waits for whom: .dot, .mmd (Mermaid) or .json."
)
@log_options
@click.option("--patches", is_flag=True, help="Print every patch of a submitted SQE.")
@click.option("--strict", is_flag=True, help="Exit with 1 when there are hazards.")
@click.option("--quiet", is_flag=True, help="Print only faults, deadlocks and hazards.")
@chip_option
@runtime_option
@tiling_option
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
    inject: str | None,
    explain: bool,
    wait_graph: str | None,
    patches: bool,
    strict: bool,
    quiet: bool,
    chip: str,
    runtime: str | None,
    tiling: str | None,
    ge_options: tuple[str, ...],
    tiling_schedule_optimize: str | None,
    online: bool | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run PROGRAM, a graph (JSON, ONNX, GE text), a task blob or an offline model (.om); `-` is standard input.

    All executions use one loaded model. Nothing is written unless every execution succeeds, except traces and ring
    dumps, which are there to find out why one did not.
    """
    plan = read_plan(inject) if inject else None
    host = make_host(without)
    log = log_wishes()
    flag, policies = sink_flag(tiling, tiling_schedule_optimize), with_runtime(policies, runtime)
    wanted = Wanted(chip, ge_options, flag, online, policies, online_by_default=True, details=explain, tiling=tiling)
    loaded = load_program(program, wanted, host)
    subject = Loadable(loaded.blob, _chip(chip, loaded.blob.chip), loaded.policies, host, bool(dump_rings or record))
    compared = Compared(subject, plan, source=input_name(inject or "")) if plan is not None else None
    if compared is not None and compared.refusal is not None:
        tell.causes(compared.refusal, as_json=as_json)
        tell.outcome(compared.refusal, as_json=as_json)
        return 1
    model = subject.load(subject.chip) if compared is None or compared.model is None else compared.model
    say_stand_ins(loaded.blob)
    if flag == "1" and runtime_of(model.device.policies) == V2:
        say("note: runtime v2 never looks at the option of the tiling sink; only static models inside sink")
    if explain:
        _explain(loaded, model.device, program, as_json=as_json)
    wishes = Wishes(
        outputs or "", trace_file or "", dump_rings or "", record or "", quiet, as_json, patches, wait_graph or "", log
    )
    files = _files(model, inputs, times)
    tally = Series(model, files, wishes, program=program, blob=loaded.blob, compared=compared).run()
    return 1 if tally.failed or (strict and tally.hazards) else 0


def _explain(loaded: Program, device: Device, program: str, *, as_json: bool) -> None:
    """What the compiler decided, if there was a graph; the execution graph, if runtime V2 has made one."""
    v2 = runtime_of(device.policies) == V2
    if loaded.compiled is None and not v2:
        raise OptionError(
            f"{program} is compiled already: there is nothing to explain",
            id="option.compiled",
            remedy="give the graph, or --runtime v2 to see its execution graph",
        )
    if loaded.compiled is not None:
        (explain_as_json if as_json else explain_as_text)(loaded.compiled)
    if v2:
        (execution_as_json if as_json else execution_as_text)(loaded.blob, device.host)


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
