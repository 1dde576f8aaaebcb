"""A plan at work on a loaded model: who is watched, what has happened, what never did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.injection.actions import AT_ENTRY, flip_context_of, flip_in_ring
from emu_core.injection.buffers import change_bytes
from emu_core.injection.checks import entry_of, require
from emu_core.injection.fetches import Fetches, fetches_of
from emu_core.injection.moments import Moment, Ticker
from emu_core.injection.plan import CorruptBuffer, DelayRecord, DropRecord, FlipContext, FlipField, ShrinkLimit, name_of
from emu_core.injection.targets import Targets, is_meant, sets_something
from emu_core.model import ModelState

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core.engines import Handler, Task
    from emu_core.injection.plan import AtEntry, Entry, Plan
    from emu_core.injection.targets import Place
    from emu_core.model import Model, Result

    Array = npt.NDArray[np.generic]

MOST_TOLD = 8
"""Times that an injection is told of in one execution; it happens as often as the plan says."""


@dataclass(frozen=True)
class Fired:
    """Something that went wrong on purpose.

    Attributes:
        index: of the injection in the plan, from 0. what: what was done. time: virtual nanoseconds. run: execution.
        more: how often it happened again in this execution without being told.
    """

    index: int
    what: str
    time: int
    run: int
    more: int = 0

    def text(self, run: int | None = None) -> str:
        """One line of the report on execution `run`, which tells when it was in another one."""
        more = f", and {self.more} more time{'s' * (self.more > 1)}" if self.more else ""
        earlier = f", in execution {self.run}" if run not in (None, self.run) else ""
        return f"injected: {self.what} at {self.time} ns{earlier}{more}"


@dataclass(eq=False)
class _Armed:
    """An injection, with what it has met.

    Attributes:
        entry: whom it is about; None when it comes at a time. fetches: when it comes before a fetch.
        run, matches: entries that it met in an execution. fired: how often it has happened; told: of those in `run`.
    """

    index: int
    injection: AtEntry
    entry: Entry | None
    fetches: Fetches | None = None
    run: int = 0
    matches: int = 0
    fired: int = 0
    told: int = 0

    def enter(self, run: int) -> None:
        """Count from 0 in a new execution."""
        if run != self.run:
            self.run, self.matches, self.told = run, 0, 0

    def meets(self, task: Task, handler: Handler) -> bool:
        """Whether it happens to `task`, which is about to start; counts it if it could."""
        entry = self.entry
        if entry is None or self.fetches is not None or not is_meant(entry, task, handler):
            return False
        if isinstance(self.injection, DropRecord | DelayRecord) and not sets_something(handler):
            return False
        self.matches += 1
        return entry.nth in (None, self.matches)


class Injections:
    """A plan that is at work on a loaded model until `close`.

    Attributes:
        fired: what has happened in the present execution, in that order, behind the first time of each injection in
            earlier ones.

    Raises:
        InputError: the plan names something that the program does not have (see `emu_core.injection.checks`).
    """

    def __init__(self, model: Model, plan: Plan) -> None:
        self.model = model
        self.plan = plan
        self.fired: list[Fired] = []
        self._targets = targets = Targets(model)
        self._armed: list[_Armed] = []
        moments: list[Moment] = []
        for index, injection in enumerate(plan.injections):
            if isinstance(injection, ShrinkLimit):
                continue
            require(injection, targets, f"injections[{index}]")
            time = getattr(injection, "at_ns", None)
            armed = _Armed(index, injection, entry_of(injection) if time is None else None)
            if isinstance(injection, FlipField) and injection.when == "fetch":
                armed.fetches = fetches_of(_nth(targets.found(injection.entry), injection.entry), targets)
            if time is not None:
                moments.append(Moment(time, _AtTime(self, armed)))
            self._armed.append(armed)
        self._ticker = Ticker(model.device.clock, moments)
        self._ends = [model.device.scheduler.watch(kind, self._starts) for kind in sorted(self._kinds())]

    def _kinds(self) -> set[str]:
        """The kinds of entries at which something may happen."""
        found: set[str] = set()
        for armed in self._armed:
            if armed.fetches is not None:
                found |= armed.fetches.kinds
            elif armed.entry is not None:
                found |= self._targets.kinds(armed.entry)
        if self._ticker.due and self._targets.open:
            found |= {handler.kind for handler in self.model.device.dispatch}
        return found

    def close(self) -> None:
        """Nothing goes wrong any more."""
        for end in self._ends:
            end()
        self._ticker.due.clear()

    # ---- executions ------------------------------------------------------------------------------------------

    def execute(self, inputs: Mapping[str, Array]) -> Result:
        """What `Model.execute` does, with the plan at work; raises as it."""
        model, device = self.model, self.model.device
        model.begin(inputs)
        try:
            self._begin()
            model.submit()
            device.scheduler.run_until_idle()
        except BaseException:
            model.state = ModelState.FAILED
            device.clock.clear()
            raise
        return model.complete()

    def _begin(self) -> None:
        """An execution starts: its inputs are written, and nothing is fetched."""
        run = self.model.device.run
        self.fired = list({fired.index: fired for fired in reversed(self.fired)}.values())[::-1]
        for armed in self._armed:
            if armed.fetches is not None and _in_run(armed.injection, run):
                self._flip(armed, armed.fetches.at_start)
        self._ticker.arm()

    def never(self) -> tuple[str, ...]:
        """The injections that never happened, and how near they came, one sentence each."""
        return tuple(_never(armed) for armed in self._armed if not armed.fired)

    # ---- what happens ----------------------------------------------------------------------------------------

    def _starts(self, task: Task, handler: Handler) -> Handler:
        """An entry of a watched kind is about to start: who executes it; `DeviceFault` when it fails."""
        self._ticker.arm()
        place = (task.stream.id, task.slot)
        for armed in self._armed:
            armed.enter(task.run)
            if armed.fetches is not None and _in_run(armed.injection, task.run):
                self._flip(armed, armed.fetches.by_place.get(place, ()))
            if not armed.meets(task, handler):
                continue
            done = AT_ENTRY[type(armed.injection)](armed.injection, armed.index, task, handler)
            handler = done.handler
            self._note(armed, done.what)
            if done.fault is not None:
                raise done.fault
        return handler

    def _flip(self, armed: _Armed, places: list[Place] | tuple[Place, ...]) -> None:
        """The entries at `places` are about to be fetched."""
        assert isinstance(armed.injection, FlipField)
        for place in places:
            self._note(armed, flip_in_ring(self.model.device, armed.injection, place))

    def at_time(self, armed: _Armed) -> None:
        """The time of an injection has come."""
        device, injection = self.model.device, armed.injection
        if isinstance(injection, CorruptBuffer):
            self._note(armed, change_bytes(device, injection))
            return
        if not isinstance(injection, FlipField | FlipContext) or not _in_run(injection, device.run):
            return
        change = flip_in_ring if isinstance(injection, FlipField) else flip_context_of
        found = _nth(Targets(self.model).found(injection.entry), injection.entry)
        for place in found:
            self._note(armed, change(device, injection, place))  # type: ignore[arg-type]  # the pair was chosen above

    def _note(self, armed: _Armed, what: str) -> None:
        """Remember that an injection has happened; not when there was nothing to change."""
        if not what:
            return
        device = self.model.device
        armed.enter(device.run)
        armed.fired += 1
        armed.told += 1
        if armed.told <= MOST_TOLD:
            self.fired.append(Fired(armed.index, what, device.clock.now, device.run))
            return
        last = max(at for at, fired in enumerate(self.fired) if fired.index == armed.index)
        self.fired[last] = replace(self.fired[last], more=self.fired[last].more + 1)


@dataclass(frozen=True)
class _AtTime:
    """What the ticker calls when the time of an injection has come."""

    injections: Injections
    armed: _Armed

    def __call__(self) -> None:
        self.injections.at_time(self.armed)


def _in_run(injection: AtEntry, run: int) -> bool:
    entry = entry_of(injection)
    return entry is None or entry.run in (None, run)


def _nth(found: list[Place], entry: Entry) -> list[Place]:
    """All of `found`, or the nth."""
    return found if entry.nth is None else found[entry.nth - 1 : entry.nth]


def _never(armed: _Armed) -> str:
    """Why an injection never happened."""
    name = f"injections[{armed.index}] ({name_of(armed.injection)})"
    time = getattr(armed.injection, "at_ns", None)
    if time is not None:
        return f"{name} never happened: nothing ran any more at {time} ns, or there was nothing to change"
    entry = armed.entry
    if entry is not None and entry.nth is not None and armed.matches:
        return f"{name} never happened: the last execution had {armed.matches} such entries, not {entry.nth}"
    asked = f" with {entry.text()}" if entry is not None else ""
    return f"{name} never happened: no entry{asked} started"
