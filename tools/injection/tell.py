"""Verdicts in words and as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.show import columns, json_line
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.injection import Verdict


def causes(verdict: Verdict, *, as_json: bool) -> None:
    """What was injected, before the report of the execution: as JSON the whole verdict, in an object of its own."""
    if as_json:
        json_line(as_values(verdict))
        return
    _lines(verdict.causes, "")


def outcome(verdict: Verdict, *, as_json: bool) -> None:
    """What came of it, behind the report of the execution."""
    if not as_json:
        _lines([verdict.lines()[-1]], "  ")


def never(texts: Iterable[str], *, as_json: bool) -> None:
    """Injections that never happened."""
    if as_json:
        json_line({"type": "injections-never", "injections": list(texts)})
        return
    _lines(texts, "")


def as_values(verdict: Verdict) -> dict[str, object]:
    """A verdict as plain JSON values."""
    return {
        "type": "injection",
        "run": verdict.run,
        "outcome": str(verdict.outcome),
        "good": verdict.good,
        "causes": list(verdict.causes),
        "what": verdict.what,
    }


def _lines(texts: Iterable[str], indent: str) -> None:
    for text in texts:
        click.echo("\n".join(wrapped(text, columns(), first=indent, others=indent + "    ")))
