"""Errors say whose fault it is, where, and what to do; each has a stable id that `sqemu explain` knows.

| class | whose fault | exit code |
|---|---|---|
| `InputError` | an input file or array of the user | 2 |
| `GraphError` | a graph; carries every problem found | 2 |
| `OptionError` | an option or policy value (E10001, E10006 and our own) | 2 |
| `PluginError` | a plugin: missing, clashing or broken | 2 |
| `LimitError` | a program that does not fit the chip | 2 |
| `DeviceFault` | the emulated program; becomes a fault value, never leaves a run | 1 |
| `EmulatorBug` | this product | 70 |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class Refusal(StrEnum):
    """Why something is not done: the kinds of refusal a message may name."""

    UNDEFINED = "undefined"
    UNSPECIFIED = "unspecified"
    UNSUPPORTED_HERE = "unsupported here"
    UNTESTED = "untested"


class SqemuError(Exception):
    """Base of the errors a user may meet: what, where, remedy, and a stable id."""

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        what: str,
        *,
        id: str,  # noqa: A002 - the attribute is called id everywhere an error is shown
        where: str = "",
        remedy: str = "",
        refusal: Refusal | None = None,
    ) -> None:
        self.id = id
        self.what = what
        self.where = where
        self.remedy = remedy
        self.refusal = refusal
        super().__init__(self.text())

    def text(self) -> str:
        """The message on one line: where, what, kind of refusal, remedy."""
        place = f"{self.where}: " if self.where else ""
        kind = f" ({self.refusal})" if self.refusal else ""
        return f"{place}{self.what}{kind}" + (f"; {self.remedy}" if self.remedy else "")

    def as_json(self) -> dict[str, object]:
        """The error as one JSON object."""
        found: dict[str, object] = {"error": self.id, "what": self.what, "where": self.where, "remedy": self.remedy}
        if self.refusal:
            found["refusal"] = str(self.refusal)
        return found


class InputError(SqemuError):
    """An input file or array cannot be used."""


class OptionError(SqemuError):
    """An option or policy has a value that is not allowed."""


class PluginError(SqemuError):
    """A plugin is missing, clashes with another, or broke."""


class LimitError(SqemuError):
    """A program needs more of something than the chip has."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a graph: id, sentence, place (node, input, key), remedy."""

    id: str
    what: str
    where: str
    remedy: str = ""

    def text(self) -> str:
        """The problem on one line."""
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


MOST_SHOWN = 50
"""Problems of a graph that its message shows; all are in `GraphError.problems`."""


class GraphError(SqemuError):
    """A graph cannot be compiled; `problems` lists everything found, in graph order."""

    def __init__(self, problems: Iterable[Problem], *, source: str = "") -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        more = len(self.problems) - 1
        what = first.what if not more else f"{first.what} (and {more} more problem{'s' * (more > 1)})"
        where = f"{source}: {first.where}" if source else first.where
        super().__init__(what, id=first.id, where=where, remedy=first.remedy)
        self.source = source

    def text(self) -> str:
        """Every problem on a line of its own, the graph file before each."""
        prefix = f"{self.source}: " if getattr(self, "source", "") else ""
        lines = [prefix + p.text() for p in self.problems[:MOST_SHOWN]]
        left = len(self.problems) - MOST_SHOWN
        return "\n".join([*lines, *([f"{prefix}{left} more problems are not shown"] if left > 0 else [])])

    def __str__(self) -> str:
        """As `text`, the id of each problem before its line."""
        return "\n".join(f"{each.id}: {each.text()}" for each in self.singly())

    def singly(self) -> tuple[GraphError, ...]:
        """An error for each problem that is shown, with its own id; one more says how many are not shown."""
        shown, rest = self.problems[:MOST_SHOWN], self.problems[MOST_SHOWN:]
        left = (Problem(rest[0].id, f"{len(rest)} more problems are not shown", "graph"),) if rest else ()
        return tuple(GraphError([each], source=self.source) for each in (*shown, *left))

    def as_json(self) -> dict[str, object]:
        """The error with its list of problems."""
        listed = [{"error": p.id, "what": p.what, "where": p.where, "remedy": p.remedy} for p in self.problems]
        return {**super().as_json(), "problems": listed}


class DeviceFault(Exception):  # noqa: N818 - the name says what it is on the device
    """Raised by an engine or a kernel when the emulated task cannot complete.

    The scheduler turns it into a fault value with an error CQE; it never leaves a run.

    Attributes:
        ts_code: task scheduler code (`reference/sqe_formats.md` 12), for example 0x26.
        error_type: bit of the CQE's error type (`reference/device_semantics.md` 2.4): 1 exception, 8 SQE error …
        id, what, remedy: as in `SqemuError`.
    """

    def __init__(self, what: str, *, ts_code: int, error_type: int = 1, id: str, remedy: str = "") -> None:  # noqa: A002 - see SqemuError
        self.what = what
        self.ts_code = ts_code
        self.error_type = error_type
        self.id = id
        self.remedy = remedy
        super().__init__(what)


class EmulatorBug(SqemuError):  # noqa: N818 - says whose fault it is
    """This product broke a promise of its own; please report it."""

    exit_code: ClassVar[int] = 70

    def __init__(self, what: str, *, where: str = "") -> None:
        super().__init__(what, id="bug", where=where, remedy="please report this with the block printed above")
