"""Engines that do something else than they should: what stands in for `Handler.start`, as data.

| stands in | what becomes of the answer of the engine |
|---|---|
| `Dropped` | it ends as ever, without an effect |
| `Late` | it ends as ever; its effect comes `ns` later |
| `Stalled` | it takes `ns` longer; None: for ever, which is until its time limit, if it has one |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.engines import Run, Wait, nothing
from emu_core.errors import DeviceFault
from emu_core.signals import Signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.engines import Handler, Outcome, Task

    Start = Callable[[Task], Outcome]

STALL = "injected stall"
"""Kind of the flags that stalled entries without a time limit wait for; the number is that of the injection."""


@dataclass(frozen=True)
class Dropped:
    """Runs as `start` says, without its effect."""

    start: Start

    def __call__(self, task: Task) -> Outcome:
        """The answer to `task`."""
        outcome = self.start(task)
        return outcome if isinstance(outcome, Wait) else replace(outcome, finish=nothing)


@dataclass(frozen=True)
class _Afterwards:
    """An effect that comes too late to fail its entry, which has ended."""

    finish: Callable[[], None]

    def __call__(self) -> None:
        try:
            self.finish()
        except DeviceFault:
            return  # nobody is left whose fault it could be: what was to be written stays unwritten


@dataclass(frozen=True)
class _Deferred:
    """At the end of `task`: its effect is planned for later."""

    task: Task
    finish: Callable[[], None]
    ns: int

    def __call__(self) -> None:
        self.task.device.clock.after(self.ns, self.task.stream.id, _Afterwards(self.finish))


@dataclass(frozen=True)
class Late:
    """Runs as `start` says; its effect comes `ns` after its end."""

    start: Start
    ns: int

    def __call__(self, task: Task) -> Outcome:
        """The answer to `task`."""
        outcome = self.start(task)
        return (
            outcome if isinstance(outcome, Wait) else replace(outcome, finish=_Deferred(task, outcome.finish, self.ns))
        )


@dataclass(frozen=True)
class Stalled:
    """Takes `ns` longer than `start` says, or for ever; `number` is that of the injection."""

    handler: Handler
    ns: int | None
    number: int

    def __call__(self, task: Task) -> Outcome:
        """The answer to `task`."""
        outcome = self.handler.start(task)
        if isinstance(outcome, Wait):
            return outcome
        limit = self.handler.limit(task) if self.handler.limit else None
        if self.ns is None and limit is None:
            return Wait(Signal(STALL, self.number))
        longer = self.ns if self.ns is not None else limit.ns + 1 if limit is not None else 0
        if isinstance(outcome, Run):
            return replace(outcome, duration_ns=outcome.duration_ns + longer)
        return replace(outcome, launch_ns=outcome.launch_ns + longer)


def standing_in(handler: Handler, start: Start) -> Handler:
    """`handler` with `start`, and without a plan, which would say what it does not do."""
    return replace(handler, start=start, plan=None)
