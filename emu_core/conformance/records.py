"""What conformance checks take and give."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from emu_core.errors import SqemuError
from formats import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.chips import Chip
    from emu_core.device import Device
    from emu_core.hook_calls import PluginInfo
    from emu_core.plugins import PluginHost
    from emu_core.snapshot.session import Session
    from formats import CStruct


class Outcome(StrEnum):
    """How a check ended; `skipped`: the plugin has nothing that it looks at."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Program:
    """A program for the checks that run something.

    Attributes:
        name: for messages.
        make: a new device with the program in it, and what its host does; called once per run, and must give the same
            each time. The device must be one of the host it is given.
        before, after: steps before and after the snapshot.
    """

    name: str
    make: Callable[[PluginHost], tuple[Device, Session]]
    before: int = 5
    after: int = 1000


@dataclass(frozen=True)
class Verdict:
    """What a check says: its name, how it ended, how many things it looked at, and what is wrong with them."""

    check: str
    outcome: Outcome
    looked_at: int
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """The plugin that is checked, and what it gives."""

    host: PluginHost
    info: PluginInfo
    programs: tuple[Program, ...] = ()

    def given(self, hook: str, **arguments: object) -> list[Any]:
        """The records of one of its hooks; empty when it lacks the hook or is broken."""
        if hook not in self.info.hooks:
            return []
        return [item for name, items in self.host.each(hook, **arguments) if name == self.info.name for item in items]

    @property
    def plugin(self) -> object:
        """The module or object itself."""
        return self.host.manager.get_plugin(self.info.name)

    @cached_property
    def chips(self) -> tuple[Chip, ...]:
        """Its chips."""
        return tuple(self.given("sqemu_chips"))

    @cached_property
    def structs(self) -> tuple[CStruct, ...]:
        """Its layouts."""
        return tuple(self.given("sqemu_structs"))


def said(error: BaseException) -> str:
    """An error as one line of a verdict."""
    if isinstance(error, SqemuError):
        return error.text()
    return str(error) if isinstance(error, FormatError) else f"{type(error).__name__}: {error}".splitlines()[0]
