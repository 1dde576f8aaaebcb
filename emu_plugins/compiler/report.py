"""Where the passes put what they find: problems of the graph, warnings, and one line per decision.

No vendor counterpart: the vendor stops at the first problem, this compiler reports all of a phase together.
"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING

from emu_core.errors import GraphError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

_SUGGESTIONS = 20
_CANDIDATES = 5_000
_TEXT = 60
_SAFE_BITS = 128


class Report:
    """Collects problems, warnings and decisions of one compilation, in the order they were found."""

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self.decisions: list[tuple[str, str, str]] = []
        self._suggestions_left = _SUGGESTIONS

    def problem(self, id: str, what: str, where: str, remedy: str = "") -> None:  # noqa: A002 - as in `Problem`
        """Note one thing wrong with the graph; compilation goes on until `stop_if_bad`."""
        self.problems.append(Problem(id, what, where, remedy))

    def warn(self, text: str) -> None:
        """Note something the user should know although the graph compiles."""
        self.warnings.append(text)

    def decide(self, node: str, by: str, text: str) -> None:
        """Note what pass `by` decided about `node`."""
        self.decisions.append((node, by, text))

    def suggest(self, name: str, known: Iterable[str], otherwise: str = "") -> str:
        """`did you mean …` when a known name is close, else `otherwise`.

        The search is bounded: a graph with thousands of wrong names must not take minutes to refuse.
        """
        if self._suggestions_left <= 0:
            return otherwise
        self._suggestions_left -= 1
        close = difflib.get_close_matches(name[:_TEXT], list(islice(known, _CANDIDATES)), n=1)
        return f"did you mean {close[0]!r}?" if close else otherwise

    def stop_if_bad(self) -> None:
        """Raise what was found.

        Raises:
            GraphError: at least one problem was noted.
        """
        if self.problems:
            raise GraphError(self.problems, source=self.source)


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((list, tuple), "a list"),
    (dict, "an object"),
    (str, "a string"),
    (int, "an integer"),
    (float, "a number"),
    (type(None), "null"),
)


def kind_of(value: object) -> str:
    """The JSON word for the type of `value`, with its article."""
    return next((word for kind, word in _KINDS if isinstance(value, kind)), f"a Python {type(value).__name__}")


def show(value: object) -> str:
    """`value` as it may stand in a message: never long, never raising, whatever a user put there."""
    if isinstance(value, str):
        text = ascii(value[:_TEXT]) if not value.isprintable() else repr(value[:_TEXT])
        return text if len(value) <= _TEXT else f"{text[:-1]}…{text[-1]}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _SAFE_BITS:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return repr(value) if type(value) in (int, float) else kind_of(value)
