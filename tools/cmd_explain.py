"""`sqemu explain`: what a code or id means, what usually causes it here, and what to do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from emu_core.plugins import PluginHost
from tools.explanations.catalog import Catalog
from tools.options import debug_option, json_option, plugin_option
from tools.show import json_line, safe, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.explanations.entry import Explanation

_PARTS = (("means", "meaning"), ("cause", "cause"), ("do", "action"), ("also", "also"))
_INDENT = " " * 9
_WIDEST = 100


@click.command("explain")
@click.argument("code", nargs=-1, required=True)
@plugin_option
@json_option
@debug_option
def command(code: tuple[str, ...], without: tuple[str, ...], as_json: bool) -> None:
    """Explain CODE: 0x91, TS 0x91, 507011, E10006, EE1019, error type 0x8, or an id such as hazard.stale-prefetch."""
    query = " ".join(code)
    catalog = Catalog(PluginHost(without=without).explanations)
    found = catalog.find(query)
    if not found:
        close = catalog.suggest(query)
        known = (
            f"did you mean {', '.join(close)}?" if close else "codes look like 0x91, 507011, E10006, sqe.unsupported"
        )
        raise InputError(f"{query!r} is no code or id known here", id="explain.unknown", remedy=known)
    for number, each in enumerate(found):
        if as_json:
            json_line(each.as_json())
        else:
            click.echo("\n" * bool(number) + "\n".join(_text(each)))


def _text(each: Explanation) -> Iterator[str]:
    name = f"  {each.name}" if each.name else ""
    yield click.style(f"{each.code}{name}", bold=True) + f"  ({each.kind})"
    for label, attribute in _PARTS:
        text = getattr(each, attribute)
        if text:
            columns = min(width() or _WIDEST, _WIDEST)
            yield textwrap.fill(
                safe(text), columns, initial_indent=f"  {label:<5}  ", subsequent_indent=_INDENT, break_on_hyphens=False
            )
