"""What the host program does between the steps of a device, as an object, so that it can be gone back over.

| class | the host program |
|---|---|
| `Executions` | executes one model on one set of inputs after the other |
| `Idle` | has submitted everything before; nothing more comes |
| `emu_core.snapshot.recording.Replayed` | does what was recorded |

What a session has done so far is part of a snapshot; what its class names in `kept_outside` is not.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from emu_core.device import Device
    from emu_core.model import Model, Result

    Arrays = Mapping[str, npt.NDArray[np.generic]]


class Session(Protocol):
    """What the host does when nothing is planned on the device any more.

    Attributes:
        failed: whether something has failed so far.
        at_once: whether it does the next thing now, before the device goes on; else when nothing is planned.
    """

    @property
    def failed(self) -> bool:
        """See the class."""

    @property
    def at_once(self) -> bool:
        """See the class."""

    def advance(self) -> bool:
        """Do the next thing; False when there is nothing left to do."""

    def summary(self) -> str:
        """What came of it so far, in a few words."""


class Idle:
    """A host that does nothing more."""

    failed = at_once = False

    def advance(self) -> bool:
        """Nothing."""
        return False

    def summary(self) -> str:
        """Nothing is left."""
        return "nothing is planned"


class Executions:
    """A host that executes `model` once for each of `inputs`, until one fails.

    Attributes:
        done: executions that ended. results: of each execution, by its index; those beyond `done` lie ahead.
    """

    kept_outside: ClassVar[Mapping[str, Callable[[], object]]] = MappingProxyType({"inputs": tuple, "results": dict})

    at_once = False
    inputs: Sequence[Arrays]
    results: dict[int, Result]

    def __init__(self, model: Model, inputs: Sequence[Arrays]) -> None:
        self.model = model
        self.inputs = tuple(inputs)
        self.results = {}
        self.done = 0
        self.running = False
        self.failed = False

    def advance(self) -> bool:
        """Take the result of the execution that ended, if one did, else start the next one."""
        if self.running:
            found = self.results[self.done] = self.model.complete()
            self.running = False
            self.done += 1
            self.failed = not found.ok
            return True
        if self.failed or self.done == len(self.inputs):
            return False
        self.model.begin(self.inputs[self.done])
        self.running = True
        self.model.submit()
        return True

    def summary(self) -> str:
        """How many executions ended, and how the last one failed."""
        last = self.results.get(self.done - 1)
        if last is None:
            return "nothing is planned"
        if last.ok:
            return f"{self.done} execution{'s' * (self.done != 1)} ended well"
        if last.faults:
            fault = last.faults[0]
            return f"execution {self.done - 1} failed: {fault.id}, stream {fault.stream} task {fault.task}"
        waiting = len(last.deadlock.blocked) if last.deadlock else 0
        return f"execution {self.done - 1} is in a deadlock: {waiting} streams wait"


def one_step(device: Device, session: Session) -> bool:
    """The next step of the device or the host; False when nothing is left to do."""
    if session.at_once:
        return session.advance()
    return device.scheduler.step() or session.advance()
