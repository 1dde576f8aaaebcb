"""Entry point of `sqemu`: lazy subcommands, and the one place where errors become messages and exit codes.

| exit code | meaning |
|---|---|
| 0 | done; hazards are printed, `--strict` makes them 1 |
| 1 | emulated fault or deadlock, failed check, a difference found by diff, a dump that skipped bytes |
| 2 | usage, unreadable or damaged input |
| 70 | a bug of this product |
| 130 | interrupted; 128 + signal when terminated |

Only click is imported before a subcommand is known: `--help` and `--version` stay quick.
"""

from __future__ import annotations

import importlib
import os
import sys
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, NoReturn

import click

from tools import switches
from tools.std_streams import Terminated, catch_signals, prepare, silence_stdout

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "demo": "Run the main job on built-in data and explain what happened.",
    "compile": "Compile a graph into a task blob.",
    "check": "Say before a run whether a program fits a chip and is well formed.",
    "run": "Compile if needed, load, and execute on input arrays.",
    "debug": "Go through a program step by step, forward and back.",
    "compare-tiling": "Run a graph with tiling on the device and on the host, and compare.",
    "op": "Run one operator on the arrays of an npz.",
    "tiling": "Show what the host tiling of an operator derives for a shape, and why.",
    "dump": "Show a task blob, SQEs or completion entries, field by field.",
    "postmortem": "Say which task failed first in logs of host and device, and why.",
    "asm": "Turn the text or JSON of a dump back into bytes.",
    "diff": "Compare two ring files or two blobs by stream, task and field.",
    "trace": "Look into a recorded run: summary, patches, causes, timeline.",
    "report": "Make one HTML page of a recorded run that needs no network.",
    "formats": "List binary layouts, or show one with a picture of its bits.",
    "header": "Write the layouts of a family as a C header.",
    "chips": "List chips with their figures and sources.",
    "plugins": "List plugins, write a new one, check one.",
    "policies": "List policies with their values.",
    "explain": "Say what a code or id means and what to do.",
    "bench": "Measure ratios against named peers.",
}
"""Subcommands and their one-line help; each lives in the module `tools.cmd_NAME` as `command`, - as _."""

USAGE, BUG, INTERRUPTED = 2, 70, 130


class _Lazy(click.Group):
    """A group that imports a subcommand only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand, imported now; one that is not ours is looked for in plugins."""
        if cmd_name not in COMMANDS:
            return _of_plugin(ctx, cmd_name)
        command: click.Command = importlib.import_module(f"tools.cmd_{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest names when there is no such command."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and _of_plugin(ctx, name) is None:
            ctx.fail(f"no such command {name!r}{_nearest(name)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of subcommands from the table, without importing any."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        formatter.write_text("Plugins may add more: sqemu plugins list names them.")


def _of_plugin(ctx: click.Context, name: str) -> click.Command | None:
    """The subcommand of a plugin; plugins are imported only if there are any beside ours."""
    from tools.installed import others_installed  # noqa: PLC0415 - only for a command that is not ours

    if not (switches.given(ctx) or others_installed()):
        return None
    if name not in ctx.meta:
        from tools.plugin_commands import command_called  # noqa: PLC0415

        ctx.meta[name] = command_called(name)
    found: click.Command | None = ctx.meta[name]
    return found


def _nearest(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistyped command

    found = get_close_matches(name, COMMANDS, 1)
    return f"; did you mean {found[0]!r}?" if found else f"; commands: {', '.join(COMMANDS)}"


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from tools.version import VERSION  # noqa: PLC0415 - only for --version

        click.echo(f"sqemu {VERSION}")
        ctx.exit()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
@click.option(
    "--plugin",
    multiple=True,
    metavar="MODULE_OR_PATH",
    expose_value=False,
    callback=switches.remember,
    help="Load one more plugin, whatever the subcommand.",
)
@click.option(
    "--no-plugin",
    multiple=True,
    metavar="NAME",
    expose_value=False,
    callback=switches.leave_out,
    help="Leave a plugin out, whatever the subcommand.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Emulator of Ascend-class NPU task queues."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    prepare(given)
    code = _run(given)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:  # no room for what was still to be written
        code = _ending(error, given)
    sys.exit(code)


def _run(given: list[str]) -> int:
    try:
        if current_thread() is main_thread():
            catch_signals()
        found = cli.main(args=given, prog_name="sqemu", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - every way to end is sorted out in one place
        try:
            return _ending(error, given)
        except OSError:  # standard error is full or gone
            return USAGE
    return found if isinstance(found, int) else 0


def _ending(error: BaseException, given: list[str]) -> int:
    """The exit code for what ended a command, after saying what there is to say."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, Terminated):
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage(error, given)
    if isinstance(error, (SystemExit, BrokenPipeError)):  # click itself ends the process when a pipe closes
        silence_stdout()
        return 0
    return _reported(error, as_json="--json" in given, debug="--debug" in given)


def _reported(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """The exit code of `error` after its report; as text each problem of a graph is reported under its own id."""
    from emu_core.errors import GraphError  # noqa: PLC0415 - only on the way out
    from tools.failures import report  # noqa: PLC0415 - only on the way out

    if as_json or not isinstance(error, GraphError):
        return report(error, as_json=as_json, debug=debug)
    first, *others = error.singly()
    code = report(first.with_traceback(error.__traceback__), as_json=False, debug=debug)
    for each in others:
        report(each, as_json=False, debug=False)
    return code


def _usage(error: click.ClickException, given: list[str]) -> int:
    if "--json" in given:
        import json  # noqa: PLC0415 - only on the way out

        text = error.format_message()
        click.echo(
            json.dumps({"error": "usage", "what": text, "where": "command line", "remedy": "see --help"}), err=True
        )
    else:
        error.show()
    return USAGE


if __name__ == "__main__":
    main()
