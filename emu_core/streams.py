"""A stream is a state machine over its submission queue.

States carry the register codes of the hardware (`reference/device_semantics.md` 2.1). The table below is the whole
behaviour; a pair that is not in it cannot happen and is a bug of ours.

| state | code | reading |
|---|---|---|
| idle | 0 | nothing pending |
| slot enable | 4 | between two entries |
| working | 5 | executing the entry at head |
| slot disable | 7 | stopped by an error |
| wait firmware | 9 | the entry raised pre-P; the task scheduler CPU works on it |
| polling flag | 10 | an event or notify is not set yet |
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import EmulatorBug

if TYPE_CHECKING:
    from emu_core.engines import Handler, Task
    from emu_core.prefetch import PrefetchWindow
    from emu_core.rings import SubmissionQueue
    from emu_core.signals import Signal


class State(IntEnum):
    """Register codes of the states that occur here."""

    IDLE = 0
    SLOT_ENABLE = 4
    WORKING = 5
    SLOT_DISABLE = 7
    WAIT_FIRMWARE = 9
    POLLING_FLAG = 10


class Cause(Enum):
    """What moves a stream."""

    ACTIVATE = auto()
    START = auto()
    PRE_P = auto()
    RESUME = auto()
    BLOCK = auto()
    WAKE = auto()
    COMPLETE = auto()
    DRAIN = auto()
    ERROR = auto()
    HANDLED = auto()


TRANSITIONS = MappingProxyType(
    {
        (State.IDLE, Cause.ACTIVATE): State.SLOT_ENABLE,
        (State.SLOT_ENABLE, Cause.START): State.WORKING,
        (State.SLOT_ENABLE, Cause.PRE_P): State.WAIT_FIRMWARE,
        (State.SLOT_ENABLE, Cause.DRAIN): State.IDLE,
        (State.SLOT_ENABLE, Cause.ERROR): State.SLOT_DISABLE,
        (State.WAIT_FIRMWARE, Cause.RESUME): State.WORKING,
        (State.WAIT_FIRMWARE, Cause.ERROR): State.SLOT_DISABLE,
        (State.WORKING, Cause.BLOCK): State.POLLING_FLAG,
        (State.WORKING, Cause.COMPLETE): State.SLOT_ENABLE,
        (State.WORKING, Cause.ERROR): State.SLOT_DISABLE,
        (State.POLLING_FLAG, Cause.WAKE): State.WORKING,
        (State.POLLING_FLAG, Cause.ERROR): State.SLOT_DISABLE,
        (State.SLOT_DISABLE, Cause.HANDLED): State.IDLE,
    }
)


class Stream:
    """A stream of the device: its queue, fetch buffer, state, and what it waits for."""

    def __init__(self, queue: SubmissionQueue, window: PrefetchWindow, name: str) -> None:
        self.id = queue.stream_id
        self.name = name
        self.queue = queue
        self.window = window
        self.state = State.IDLE
        self.model_id: int | None = None
        self.waits_for: Signal | None = None
        self.waits_since = 0
        self.last_wait: int | None = None
        self.waiting: tuple[Task, Handler] | None = None
        self.wait_timer: int | None = None
        self.executed: dict[int, bytes] = {}
        self.patched_in: dict[int, int] = {}

    def move(self, cause: Cause) -> None:
        """Take the transition for `cause`."""
        try:
            self.state = TRANSITIONS[self.state, cause]
        except KeyError:
            raise EmulatorBug(f"stream {self.id}: no transition for {cause.name} in state {self.state.name}") from None
