"""`sqemu check`: whether a program fits a chip and is well formed, without running it."""

from __future__ import annotations

import click

from tools.options import chip_option, compile_options, debug_option, json_option, plugin_option, policy_option


@click.command("check")
@click.argument("program")
@click.option("--strict", is_flag=True, help="Exit with 1 on any finding, warnings and notes included.")
@click.option(
    "--explore", type=click.IntRange(1, 1_000_000), metavar="N", help="Also run PROGRAM under N other schedules."
)
@click.option("--seed", default=0, show_default=True, type=int, help="Which schedules --explore draws.")
@click.option(
    "--inputs", multiple=True, metavar="IN.npz", help="Input arrays for --explore; each file is one execution."
)
@chip_option
@compile_options
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    program: str,
    strict: bool,
    explore: int | None,
    seed: int,
    inputs: tuple[str, ...],
    chip: str,
    ge_options: tuple[str, ...],
    tiling_schedule_optimize: str | None,
    online: bool | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Check PROGRAM, a graph (JSON, ONNX, GE text), a task blob or an offline model (.om), against a chip.

    Shows what it takes of each limit of the chip, and what is wrong with its task list. A graph is compiled as
    `sqemu run` would. Exit code 0 when there is no error, 1 when there is one, 2 when PROGRAM cannot be read.

    With --explore it is run as well, under schedules in which entries take longer than they usually do. Outputs that
    depend on the schedule, and entries that touch the same bytes in no fixed order, are errors.
    """
    from tools.check.run import Exploring, check  # noqa: PLC0415 - `sqemu check --help` stays quick
    from tools.program import Wanted  # noqa: PLC0415

    given = click.get_current_context().get_parameter_source
    explicit = given("chip") is click.core.ParameterSource.COMMANDLINE
    alone = [f"--{name}" for name in ("seed", "inputs") if given(name) is click.core.ParameterSource.COMMANDLINE]
    if alone and explore is None:
        raise click.UsageError(f"{' and '.join(alone)} without --explore: only --explore N runs the program")
    wanted = Wanted(chip, ge_options, tiling_schedule_optimize, online, policies, online_by_default=True)
    asked = None if explore is None else Exploring(explore, seed, inputs)
    return check(program, wanted, without, explicit_chip=explicit, strict=strict, as_json=as_json, exploring=asked)
