"""`sqemu debug`: a program in single steps, forward and back."""

from __future__ import annotations

import sys

import click

from emu_core.errors import SqemuError
from tools.files import read_bytes
from tools.given_plugins import make_host
from tools.options import chip_option, compile_options, debug_option, plugin_option, policy_option
from tools.program import Wanted
from tools.runtime_options import runtime_option, sink_flag, tiling_option, with_runtime
from tools.show import safe

PROMPT = "(sqemu) "


@click.command("debug")
@click.argument("program")
@click.option("--inputs", multiple=True, metavar="IN.npz", help="Input arrays; each file is one execution.")
@click.option("-x", "script_file", metavar="FILE", help="Do the commands of FILE instead of asking for them.")
@click.option(
    "--every", default=2000, show_default=True, type=click.IntRange(1, 10**9), help="Steps from snapshot to snapshot."
)
@click.option(
    "--budget", default=256, show_default=True, type=click.IntRange(1, 10**6), help="Memory for snapshots, in MiB."
)
@chip_option
@runtime_option
@tiling_option
@compile_options
@policy_option
@plugin_option
@debug_option
def command(
    program: str,
    inputs: tuple[str, ...],
    script_file: str | None,
    every: int,
    budget: int,
    chip: str,
    runtime: str | None,
    tiling: str | None,
    ge_options: tuple[str, ...],
    tiling_schedule_optimize: str | None,
    online: bool | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
) -> int:
    """Go through PROGRAM step by step: a graph, a task blob, a run record (.sqr), or a recording of a host program.

    The command `help` lists what can be done. With -x the exit code is 1 when an execution failed up to where the
    script ends, and 2 when a line cannot be done.
    """
    from emu_core.snapshot.travel import TimeTravel  # noqa: PLC0415 - help needs none of it
    from tools.debug.debugger import Debugger, script  # noqa: PLC0415
    from tools.debug.target import load  # noqa: PLC0415

    host = make_host(without)
    flag, policies = sink_flag(tiling, tiling_schedule_optimize), with_runtime(policies, runtime)
    wanted = Wanted(chip, ge_options, flag, online, policies, online_by_default=True, tiling=tiling)
    source = click.get_current_context().get_parameter_source("chip")
    asked = chip if source is click.core.ParameterSource.COMMANDLINE else None
    target = load(program, inputs, wanted, host, asked)
    travel = TimeTravel(target.device, target.session, every=every, budget_mib=budget)
    debugger = Debugger(travel, target.session)
    if script_file is not None:
        lines = read_bytes(script_file).decode(errors="replace").splitlines()
        script(debugger, lines, safe(script_file))
        return 1 if debugger.failed else 0
    while not debugger.over:
        line = _asked()
        if line is None:
            break
        try:
            debugger.do(line)
        except SqemuError as error:
            click.echo(f"{error.id}: {error.text()}", err=True)
    return 0


def _asked() -> str | None:
    """The next line of standard input; None at its end."""
    if sys.stdin is None:
        return None
    click.echo(PROMPT, nl=False)
    line = sys.stdin.readline()
    if not line:
        click.echo()
        return None
    return line
