"""Many random plans over one program: each must end in a report that names the injected cause first, or unaffected.

| a trial is trouble when | |
|---|---|
| an exception leaves the run | whatever was injected, the outcome is a report |
| it has not ended after `PATIENCE_S` seconds of the host | likewise: never a hang |
| it is not good and names no cause first | |
| it ends badly, though nothing has happened | |
| it is told to be good and outputs differ | checked again here, by itself |
"""

from __future__ import annotations

import signal
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from emu_core.errors import LimitError, SqemuError
from emu_core.injection import Injections, Outcome, judge, shrunk
from emu_core.injection.plan import name_of
from emu_core.injection.verdicts import refused, stopped
from emu_core.trace import Trace
from tools.injection.draw import Source, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from emu_core.injection import Plan, Verdict
    from emu_core.model import Result
    from tools.injection.compared import Program

    Arrays = Mapping[str, npt.NDArray[np.generic]]

FIRST = "injected: "
PATIENCE_S = 20
"""How long a trial may take: the slowest takes well under a second."""
NEVER = "never"
"""How trials are counted in which no injection happened."""


@dataclass(frozen=True)
class Trial:
    """One plan and what came of it.

    Attributes:
        number: of the plan. verdicts: of its executions, up to the first that is not good. never: injections that never
            happened. trouble: what is wrong with the outcome itself; empty when nothing is.
    """

    number: int
    plan: Plan
    verdicts: tuple[Verdict, ...] = ()
    never: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def outcome(self) -> str:
        """How it is counted."""
        last = self.verdicts[-1].outcome if self.verdicts else Outcome.STOPPED
        return NEVER if last is Outcome.IDLE else str(last)

    def text(self) -> str:
        """The trial, its plan included, to run it again."""
        return f"trial {self.number}: {self.trouble}; plan {msgspec.json.encode(self.plan).decode()}"


@dataclass
class Campaign:
    """What came of all trials: how many by outcome and by kind of injection, and those that are trouble."""

    seed: int
    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    trouble: list[Trial] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        self.trials += 1
        self.outcomes[trial.outcome] += 1
        self.kinds.update(name_of(injection) for injection in trial.plan.injections)
        if trial.trouble:
            self.trouble.append(trial)

    def lines(self) -> list[str]:
        """The report."""
        counted = ", ".join(f"{name} {count}" for name, count in sorted(self.outcomes.items()))
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.kinds.items()))
        return [
            f"{self.trials} plans (seed {self.seed}): {counted}",
            f"injections: {kinds}",
            f"{len(self.trouble)} without a proper report",
            *(trial.text() for trial in self.trouble),
        ]


class _TooLong(BaseException):
    """A trial has not ended; no engine may take it for an error of its own."""


@contextmanager
def _patience() -> Iterator[None]:
    """Let what is inside end with an error when it takes too long."""

    def stop(_signal: int, _frame: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_S)
    try:
        yield
    except _TooLong:
        raise TimeoutError(f"not done after {PATIENCE_S} s") from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Trials:
    """A program with its inputs, and what it gives without a plan."""

    def __init__(self, program: Program, inputs: Sequence[Arrays]) -> None:
        self.program = program
        self.inputs = inputs
        model = program.load(program.chip, Trace(()))
        self.plain = [model.execute(arrays) for arrays in inputs]
        self.chip = model.device.chip
        self.source = Source(model, max(self.plain[0].ended, 1))

    def run(self, seed: int, number: int) -> Trial:
        """Trial `number` of `seed`."""
        plan = draw(self.source, seed, number)
        try:
            with _patience():
                return self._run(number, plan)
        except Exception as error:  # noqa: BLE001 - that is what the trial is to find out
            return Trial(number, plan, trouble=f"{type(error).__name__} left the run: {error}")

    def _run(self, number: int, plan: Plan) -> Trial:
        chip, limits = shrunk(self.chip, plan)
        try:
            model = self.program.load(chip, Trace(()))
        except LimitError as error:
            return _trial(number, plan, (refused(error, limits),), (), "")
        injections = Injections(model, plan)
        verdicts: list[Verdict] = []
        difference = ""
        for plain, arrays in zip(self.plain, self.inputs, strict=True):
            try:
                found = injections.execute(arrays)
            except SqemuError as error:
                if error.exit_code != SqemuError.exit_code or error.id.startswith("injection."):
                    raise
                verdicts.append(stopped(error, plain.run, limits, injections.fired))
                break
            verdicts.append(judge(plain, found, limits, injections.fired))
            if not verdicts[-1].good:
                break
            difference = difference or _difference(plain, found)
        return _trial(number, plan, tuple(verdicts), injections.never(), difference)


def _difference(plain: Result, found: Result) -> str:
    """What differs between executions that are told to be the same."""
    for name, mine in plain.outputs.items():
        if mine.tobytes() != found.outputs[name].tobytes():
            return f"told to be good, but output {name} differs"
    return "" if found.ok else "told to be good, but it failed"


def _trial(number: int, plan: Plan, verdicts: tuple[Verdict, ...], never: tuple[str, ...], difference: str) -> Trial:
    last = verdicts[-1]
    trouble = difference
    if not last.good and not last.lines()[0].startswith(FIRST):
        trouble = f"{last.outcome} names no injected cause first: {last.lines()[0]}"
    if last.outcome is Outcome.FAILS_ANYWAY:
        trouble = f"fails anyway: {last.what}"
    if last.outcome is Outcome.IDLE and not never:
        trouble = "nothing happened, and nobody says so"
    return Trial(number, plan, verdicts, never, trouble)


def campaign(trials: Trials, count: int, seed: int, progress: Callable[[Trial], None] = lambda _: None) -> Campaign:
    """`count` trials of `seed`; `progress` is given each."""
    found = Campaign(seed)
    for number in range(count):
        trial = trials.run(seed, number)
        found.add(trial)
        progress(trial)
    return found
