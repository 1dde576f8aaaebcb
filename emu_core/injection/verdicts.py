"""What came of a plan in one execution, by comparison with the same program without the plan.

| outcome | when | good |
|---|---|---|
| `idle` | nothing has happened so far, and the outputs are equal | yes |
| `unaffected` | it ended well, with equal outputs | yes |
| `failed` | faults | no |
| `deadlock` | nothing could run and work was left | no |
| `refused` | the device did not load the program, with its smaller limits | no |
| `stopped` | a plugin broke over what it was given | no |
| `silent-corruption` | it ended well, and outputs differ | no |
| `fails-anyway` | it ends badly without the plan, too | no |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from emu_core.errors import SqemuError
    from emu_core.injection.attached import Fired
    from emu_core.model import Result

    Array = npt.NDArray[np.generic]


class Outcome(StrEnum):
    """What came of it; see the module text."""

    IDLE = "idle"
    UNAFFECTED = "unaffected"
    FAILED = "failed"
    DEADLOCK = "deadlock"
    REFUSED = "refused"
    STOPPED = "stopped"
    SILENT_CORRUPTION = "silent-corruption"
    FAILS_ANYWAY = "fails-anyway"


MOST_NAMED = 8
"""Streams that the verdict on a deadlock names; its report has all."""
GOOD = frozenset({Outcome.IDLE, Outcome.UNAFFECTED})


@dataclass(frozen=True)
class Verdict:
    """What came of a plan in execution `run`.

    Attributes:
        causes: what was injected, so far, first things first. what: the outcome in a sentence.
    """

    outcome: Outcome
    run: int
    causes: tuple[str, ...]
    what: str

    @property
    def good(self) -> bool:
        """Whether the outputs are those of the program without the plan."""
        return self.outcome in GOOD

    def lines(self) -> tuple[str, ...]:
        """The report: what was injected, then what came of it."""
        return (*self.causes, f"outcome {self.outcome}: {self.what}")


def judge(plain: Result, found: Result, limits: Sequence[str], fired: Sequence[Fired]) -> Verdict:
    """What came of a plan.

    Args:
        plain, found: an execution without and with the plan. limits: what was shrunk.
        fired: what happened in this execution and earlier ones (`Injections.fired`).
    """
    causes = _causes(limits, fired, found.run)
    outcome, what = _outcome(plain, found)
    if outcome is Outcome.UNAFFECTED and not causes:
        outcome, what = Outcome.IDLE, "nothing was injected so far"
    if outcome is Outcome.SILENT_CORRUPTION and not causes:
        what += "; nothing was injected, so the program does not give the same twice"
    return Verdict(outcome, found.run, causes, what)


def _causes(limits: Sequence[str], fired: Sequence[Fired], run: int) -> tuple[str, ...]:
    """What was injected: limits, then this execution, then the first time in an earlier one of what is not in this."""
    now = [one for one in fired if one.run == run]
    earlier = [one for one in fired if one.run != run and one.index not in {n.index for n in now}]
    return (*limits, *(one.text(run) for one in (*now, *earlier)))


def _outcome(plain: Result, found: Result) -> tuple[Outcome, str]:
    if not plain.ok:
        return Outcome.FAILS_ANYWAY, f"without the plan the program ends with {_end(plain)}, with it with {_end(found)}"
    if found.deadlock is not None:
        waiting = ", ".join(f"stream {b.stream} for {b.signal}" for b in found.deadlock.blocked[:MOST_NAMED])
        return Outcome.DEADLOCK, f"{len(found.deadlock.blocked)} stream(s) wait for ever: {waiting}"
    if found.faults:
        return Outcome.FAILED, f"{_end(found)}, with {len(found.faults[0].consequences)} consequence(s)"
    difference = first_difference(plain, found)
    if not difference:
        return Outcome.UNAFFECTED, f"outputs equal those without the plan, byte for byte{_hazards(plain, found)}"
    told = _hazards(plain, found) or "; the device reported nothing"
    return Outcome.SILENT_CORRUPTION, f"the program ended well, but {difference}{told}"


def _end(result: Result) -> str:
    if result.deadlock is not None:
        return "a deadlock"
    return f"fault {result.faults[0].id}" if result.faults else "no error"


def _hazards(plain: Result, found: Result) -> str:
    """What the device said on the way that it does not say without the plan."""
    known = {(h.id, h.stream, h.slot) for h in plain.hazards}
    new = [h for h in found.hazards if (h.id, h.stream, h.slot) not in known]
    ids = ", ".join(dict.fromkeys(h.id for h in new))
    return f"; the device reported {ids}" if new else ""


def first_difference(plain: Result, found: Result) -> str:
    """The first output that differs, in words; empty when all bytes are equal."""
    for name, mine in plain.outputs.items():
        theirs = found.outputs[name]
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return f"output {name} has shape {list(theirs.shape)} instead of {list(mine.shape)}"
        different = np.flatnonzero(_rows(mine) != _rows(theirs)) // max(mine.itemsize, 1)
        if different.size:
            count = np.unique(different).size
            return f"output {name} differs in {count} of {mine.size} elements, first in number {different[0]}"
    return ""


def _rows(array: Array) -> npt.NDArray[np.uint8]:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def refused(error: SqemuError, limits: Sequence[str]) -> Verdict:
    """The verdict on a program that the device with smaller limits did not load."""
    return Verdict(
        Outcome.REFUSED, 0, tuple(limits), f"the device does not load the program, {error.id}: {error.text()}"
    )


def stopped(error: SqemuError, run: int, limits: Sequence[str], fired: Sequence[Fired]) -> Verdict:
    """The verdict on an execution that a plugin ended with an error of its own."""
    causes = _causes(limits, fired, run)
    return Verdict(Outcome.STOPPED, run, causes, f"the execution was stopped, {error.id}: {error.text()}")
