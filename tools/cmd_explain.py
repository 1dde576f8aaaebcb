"""`sqemu explain`: what a code or id means, what usually causes it here, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.explanations.catalog import Catalog
from tools.given_plugins import make_host
from tools.options import debug_option, json_option, plugin_option
from tools.show import columns, json_line
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.explanations.entry import Explanation

_PARTS = (("means", "meaning"), ("cause", "cause"), ("do", "action"), ("also", "also"))
_INDENT = " " * 9
_WIDEST = 100


@click.command("explain")
@click.argument("code", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List every code and id, by topic.")
@plugin_option
@json_option
@debug_option
def command(code: tuple[str, ...], listing: bool, without: tuple[str, ...], as_json: bool) -> None:
    """Explain each CODE: 0x91, TS 0x91, 507011, E10006, EE1019, error type 0x8, or an id such as hazard.stale-prefetch.

    Without a code, list what can be explained.
    """
    catalog = Catalog(make_host(without).each("sqemu_explanations"))
    if listing or not code:
        _list(catalog, as_json=as_json)
        return
    found, unknown = catalog.find_all([word for each in code for word in each.split()])
    for number, each in enumerate(found):
        if as_json:
            json_line(each.as_json())
        else:
            click.echo("\n" * bool(number) + "\n".join(_text(each)))
    if unknown or not found:
        raise _unknown(catalog, unknown or [""])


def _unknown(catalog: Catalog, queries: list[str]) -> InputError:
    close = list(dict.fromkeys(near for query in queries for near in catalog.suggest(query)))
    remedy = f"did you mean {', '.join(close)}?" if close else "sqemu explain --list lists every code and id"
    shown = ", ".join(map(repr, queries))
    return InputError(f"{shown} is no code or id known here", id="explain.unknown", remedy=remedy)


def _list(catalog: Catalog, *, as_json: bool) -> None:
    topics: dict[str, list[Explanation]] = {}
    for each in catalog:
        topics.setdefault(each.topic, []).append(each)
    for topic, listed in topics.items():
        if as_json:
            for each in listed:
                json_line(each.as_json())
        else:
            click.echo(click.style(f"{topic} ({len(listed)})", bold=True))
            click.echo("\n".join(wrapped("  ".join(_codes(listed)), _columns(), first="  ", others="  ")) + "\n")
    if not as_json:
        click.echo("sqemu explain CODE... says what each means, what causes it, and what to do")


def _codes(listed: Iterable[Explanation]) -> Iterator[str]:
    """Codes, with no-break spaces inside so that none is broken over two lines."""
    return (each.code.replace(" ", "\xa0") for each in listed)


def _columns() -> int:
    return min(columns(), _WIDEST)


def _text(each: Explanation) -> Iterator[str]:
    name = f"  {each.name}" if each.name else ""
    yield click.style(f"{each.code}{name}", bold=True) + f"  ({each.kind})"
    for label, attribute in _PARTS:
        text = getattr(each, attribute)
        if text:
            yield from wrapped(text, _columns(), first=f"  {label:<5}  ", others=_INDENT)
