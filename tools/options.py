"""Options that several subcommands share, and how their values are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from emu_core.errors import OptionError
from emu_core.policies import PolicySet, Scope
from tools.switches import remember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emu_core.plugins import PluginHost

F = TypeVar("F", bound="Callable[..., Any]")

DEFAULT_CHIP = "ascend310p3"


def json_option(function: F) -> F:
    """`--json`: one JSON object per line; errors as one object on standard error."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")(function)


def debug_option(function: F) -> F:
    """`--debug`: a traceback with an unexpected error."""
    return click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback with an error.")(function)


def chip_option(function: F) -> F:
    """`--chip`: a chip name; `sqemu chips` lists them."""
    return click.option("--chip", default=DEFAULT_CHIP, show_default=True, help="Chip name; see `sqemu chips`.")(
        function
    )


def policy_option(function: F) -> F:
    """`--policy name=value`, any number of times."""
    return click.option(
        "--policy", "policies", multiple=True, metavar="NAME=VALUE", help="Set a policy; see `sqemu policies`."
    )(function)


def plugin_option(function: F) -> F:
    """`--plugin MODULE_OR_PATH`: load one more plugin; `--no-plugin NAME`: leave one out."""
    function = click.option(
        "--plugin",
        multiple=True,
        metavar="MODULE_OR_PATH",
        expose_value=False,
        callback=remember,
        help="Load one more plugin: a module, or a Python file.",
    )(function)
    return click.option("--no-plugin", "without", multiple=True, metavar="NAME", help="Leave a plugin out.")(function)


def compile_options(function: F) -> F:
    """Options of a compilation: GE options, the sink flag, online or offline."""
    for option in (
        click.option(
            "--option",
            "ge_options",
            multiple=True,
            metavar="KEY=VALUE",
            help="A GE option; session:KEY=VALUE and global:KEY=VALUE for the levels below the graph's own.",
        ),
        click.option("--tiling_schedule_optimize", default=None, metavar="V", help='Tiling sink: "0", "1" or empty.'),
        click.option("--online/--offline", "online", default=None, help="Build mode; gates depend on it."),
    ):
        function = option(function)
    return function


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """`KEY=VALUE` arguments as a mapping; the last value of a key wins."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise OptionError(
                f"{text!r} is not KEY=VALUE", id="option.pair", where=option, remedy=f"write {option} name=value"
            )
        found[name] = value
    return found


def option_levels(given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """GE options by level: `session` and `global` as the prefix of a key says, all others under the empty name."""
    levels: dict[str, dict[str, str]] = {"": {}, "session": {}, "global": {}}
    for key, value in given.items():
        level, colon, name = key.partition(":")
        known = bool(colon) and level in levels
        levels[level if known else ""][name if known else key] = value
    return levels


def split_policies(host: PluginHost, given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Checked policy values: those of scope compile, and all others."""
    checked = PolicySet(host.policy_specs, given)
    compile_time = checked.given(Scope.COMPILE)
    return compile_time, {name: value for name, value in checked.given().items() if name not in compile_time}
