"""Hooks and hook arguments that will go, or are gone: a plugin is warned for a whole window before one is removed.

| step | in this table | in `hookspecs` | a plugin that uses it |
|---|---|---|---|
| deprecated in `since` | a row | still there, as before | works; `PluginDeprecationWarning` names it, once per host |
| removed in `until` | the row stays | gone | is refused; the message says what to use |

`until` is at least two minor releases after `since`. Adding an argument needs no row: hooks are called by name, and a
function that does not take the argument is not given it.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class PluginDeprecationWarning(FutureWarning):
    """A plugin uses a hook or an argument of one that will be removed; shown to users, who can update the plugin."""


@dataclass(frozen=True)
class Deprecated:
    """A hook, or with `argument` one of its arguments.

    Attributes:
        since, until: releases in which it was deprecated, and in which it is removed.
        instead: what to use.
    """

    hook: str
    argument: str
    since: str
    until: str
    instead: str

    @property
    def name(self) -> str:
        """What it is, in words."""
        return f"argument {self.argument} of {self.hook}" if self.argument else f"hook {self.hook}"

    def warning(self) -> str:
        """While it works."""
        return f"uses the {self.name}, deprecated since sqemu {self.since} and removed in {self.until}: {self.instead}"

    def refusal(self) -> str:
        """When it is gone."""
        return f"uses the {self.name}, which was removed in sqemu {self.until}: {self.instead}"


DEPRECATED: tuple[Deprecated, ...] = ()
"""All of them, removed ones included; the page docs/plugins.md has the same table."""


def used(hook: str, function: Callable[..., Any]) -> Iterator[Deprecated]:
    """Rows for what `function`, a plugin's `hook`, uses."""
    taken = inspect.signature(function).parameters
    return (row for row in DEPRECATED if row.hook == hook and (not row.argument or row.argument in taken))


def row_of(hook: str, argument: str = "") -> Deprecated | None:
    """The row of a hook or argument, or None."""
    return next((row for row in DEPRECATED if (row.hook, row.argument) == (hook, argument)), None)
