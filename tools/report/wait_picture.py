"""The wait-for graph of a deadlock as SVG in the page's own colours.

A row per link: a queue at the entry that waits, the flag it waits for, an entry that sets the flag. From an entry that
lies behind the wait of another queue a line leads back to that queue; links of a circle are drawn strong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.setters import SetterState
from emu_core.wait_graph import Cause
from tools.report.markup import Html, el
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.setters import Setter
    from emu_core.wait_graph import Stuck, WaitGraph

MOST_LINKS = 40
"""Links that are drawn; the verdicts say what is wrong in any case."""
_WIDE, _LEFT, _BOX, _GAP, _TALL, _ROW = 930, 70, 240, 55, 46, 84
_COLUMNS = tuple(_LEFT + k * (_BOX + _GAP) for k in range(3))
_CHARS = 34


@dataclass(frozen=True)
class _Link:
    """One row: a queue and, if it waits for a flag that somebody sets, who sets it; `first`: the queue's first row."""

    wait: Stuck
    setter: Setter | None
    first: bool
    red: bool
    back: bool


def wait_picture(graph: WaitGraph) -> Html:
    """The picture; its description says the same in words."""
    links = _links(graph)
    drawn = links[:MOST_LINKS]
    rows: dict[int, int] = {}
    for at, link in enumerate(drawn):
        rows.setdefault(link.wait.stream, at)
    parts = [part for at, link in enumerate(drawn) for part in _row(link, at, rows)]
    height = len(drawn) * _ROW + 8
    words = "; ".join(_words(link) for link in drawn)
    left = len(links) - len(drawn)
    note = el("figcaption", f"{left} more links are not drawn.") if left else ""
    picture = el("svg", _arrow_head(), *parts, viewBox=f"0 0 {_WIDE} {height}", role="img", aria_label=words,
                 class_="waits")  # fmt: skip
    return el("figure", picture, note)


def _links(graph: WaitGraph) -> list[_Link]:
    circles = {s for v in graph.verdicts if v.cause is Cause.CYCLE for s in v.streams}
    stuck = {wait.stream for wait in graph.waits}
    found = []
    for wait in graph.waits:
        for at, setter in enumerate(wait.setters or (None,)):
            back = setter is not None and setter.state is SetterState.BEHIND and setter.stream in stuck
            red = back and setter is not None and wait.stream in circles and setter.stream in circles
            found.append(_Link(wait, setter, at == 0, red, back))
    return found


def _words(link: _Link) -> str:
    setter = link.setter
    by = f"set by stream {setter.stream} task {setter.task} ({setter.state.value})" if setter else _nobody(link.wait)
    return f"stream {link.wait.stream} task {link.wait.task} waits for {link.wait.lacks}, {by}"


def _nobody(wait: Stuck) -> str:
    return "which nobody sets" if wait.is_flag else wait.why


def _row(link: _Link, at: int, rows: dict[int, int]) -> list[Html]:
    wait, setter = link.wait, link.setter
    top = at * _ROW + 8
    middle, look = top + _TALL / 2, "strong" if link.red else ""
    parts = []
    if link.first:
        parts.append(_box(0, top, f"stream {wait.stream} ({wait.name})", f"task {wait.task} {wait.kind}", "queue"))
    first = rows[wait.stream]
    start = f"M{_COLUMNS[0] + _BOX} {first * _ROW + 8 + _TALL / 2}"
    bend = f"L{_COLUMNS[1] - 30} {first * _ROW + 8 + _TALL / 2} L{_COLUMNS[1] - 30} {middle}"
    parts.append(_path(f"{start} {bend} L{_COLUMNS[1] - 3} {middle}", look))
    parts.append(_box(1, top, wait.lacks, f"since {wait.since:,} ns", "flag"))
    if setter is None:
        if wait.is_flag:
            parts += [_path(_between(middle), look), _box(2, top, "nobody sets it", "", "nobody")]
        return parts
    parts.append(_path(_between(middle), look))
    parts.append(
        _box(2, top, f"stream {setter.stream} task {setter.task}", f"{setter.kind}: {setter.state.value}", "setter")
    )
    if link.back:
        parts.append(_path(_back(at, rows.get(setter.stream, at)), look))
    return parts


def _between(middle: float) -> str:
    return f"M{_COLUMNS[1] + _BOX} {middle} L{_COLUMNS[2] - 3} {middle}"


def _back(at: int, to: int) -> str:
    """Down into the gap below the row, to the left margin, along it, and into the queue."""
    below = at * _ROW + 8 + _TALL + (_ROW - _TALL) / 2
    margin = _LEFT - 14 - 6 * (at % 8)
    middle = to * _ROW + 8 + _TALL / 2
    return (
        f"M{_COLUMNS[2] + _BOX / 2} {at * _ROW + 8 + _TALL} L{_COLUMNS[2] + _BOX / 2} {below} L{margin} {below} "
        f"L{margin} {middle} L{_LEFT - 3} {middle}"
    )


def _path(points: str, look: str) -> Html:
    return el("path", d=points, class_=f"link {look}".strip(), marker_end="url(#tip)")


def _box(column: int, top: float, title: str, below: str, look: str) -> Html:
    x, middle = _COLUMNS[column], _COLUMNS[column] + _BOX / 2
    round_ = 23 if look == "flag" else 5
    lines: Sequence[tuple[str, float, str]] = (
        [(title, top + 20, "ink"), (below, top + 36, "soft")] if below else [(title, top + 28, "ink")]
    )
    texts = (el("text", _cut(text), x=f"{middle}", y=f"{y}", class_=ink) for text, y, ink in lines)
    return el(
        "g", el("title", " ".join(text for text, _, _ in lines)),
        el("rect", x=x, y=f"{top}", width=_BOX, height=_TALL, rx=round_), *texts, class_=look,
    )  # fmt: skip


def _cut(text: str) -> str:
    shown = safe(text)
    return shown if len(shown) <= _CHARS else f"{shown[: _CHARS - 1]}…"


def _arrow_head() -> Html:
    tip = el("path", d="M0 0 L8 4 L0 8 z")
    return el("defs", el("marker", tip, id_="tip", viewBox="0 0 8 8", refX=7, refY=4, markerWidth=7, markerHeight=7,
                         orient="auto"))  # fmt: skip
