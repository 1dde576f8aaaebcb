"""A report: sections of statements, each with the lines that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.capture.model import Fault, Record, Ref

MOST_REFS = 3
"""Lines that a statement names."""


@dataclass(frozen=True)
class Statement:
    """One sentence.

    Attributes:
        sure: the log says it, or it is arithmetic on what the log says; else it is inferred.
        refs: lines that it rests on.
    """

    text: str
    sure: bool = True
    refs: tuple[Ref, ...] = ()


def sure(text: str, *records: Record | None) -> Statement:
    """What the log says in `records`."""
    return Statement(text, sure=True, refs=_refs(records))


def inferred(text: str, *records: Record | None) -> Statement:
    """What follows from `records` if the usual holds."""
    return Statement(text, sure=False, refs=_refs(records))


def _refs(records: tuple[Record | None, ...]) -> tuple[Ref, ...]:
    return tuple(dict.fromkeys(r.ref for r in records if r is not None))[:MOST_REFS]


@dataclass(frozen=True)
class Section:
    """Statements under a heading; `name` is that of JSON."""

    name: str
    title: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Report:
    """Everything there is to say.

    Attributes:
        cause: the fault that was first; None when there is none, or only a limit. sections: in order.
    """

    cause: Fault | None = None
    sections: tuple[Section, ...] = ()
    kind: str = "nothing"
    consequences: tuple[Fault, ...] = field(default=())
