"""Elements of HTML. Text becomes part of a page only escaped; `Html` is what is markup already."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

_EMPTY = frozenset({"meta", "input", "br", "rect", "line", "path", "circle", "link"})
"""Elements that have nothing inside."""


class Html(str):
    """Markup; every other `str` is text and is escaped where it is put in."""

    __slots__ = ()


def el(name: str, /, *inside: str, **attributes: str | int | bool | None) -> Html:
    """The element `name` with text and elements inside.

    `_` in the name of an attribute stands for `-`, one at its end for nothing (`class_`). None and False leave an
    attribute out, True gives it without a value.
    """
    head = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{head}>" if name in {"meta", "input", "br", "link"} else f"<{name}{head}/>")
    return Html(f"<{name}{head}>{join(inside)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Parts one after the other; text among them is escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(_shown(part)) for part in parts))


def _shown(text: str) -> str:
    """Text without characters that cannot be seen; line feeds stay."""
    return "\n".join(map(safe, text.split("\n")))


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(_shown(str(value)))}"'


def table(head: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], *, caption: str) -> Html:
    """A table: (title, class) of each column, and its rows; `caption` is its name for screen readers."""
    titles = list(head)
    top = el("tr", *(el("th", title, scope="col", class_=look or None) for title, look in titles))
    body = (
        el("tr", *(el("td", cell, class_=look or None) for cell, (_, look) in zip(row, titles, strict=True)))
        for row in rows
    )
    inside = el("table", el("caption", caption, class_="unseen"), el("thead", top), el("tbody", *body))
    return el("div", inside, class_="wide", tabindex=0, role="region", aria_label=caption)


def us(ns: int) -> str:
    """Nanoseconds as microseconds with three digits, thousands apart."""
    return f"{ns // 1000:,}.{ns % 1000:03}"
