"""A stream is a state machine over its submission queue.

States carry the register codes of the hardware (`reference/device_semantics.md` 2.1). The table below is the whole
behaviour; a pair that is not in it cannot happen and is a bug of ours.

| state | code | reading |
|---|---|---|
| idle | 0 | nothing pending |
| slot enable | 4 | between two entries |
| working | 5 | executing the entry at head |
| slot disable | 7 | stopped by an error |
| CQ full | 8 | the entry is done, its completion entry finds no room: the host has to read some |
| wait firmware | 9 | the entry raised pre-P; the task scheduler CPU works on it |
| polling flag | 10 | an event, a notify or a memory value is not there yet |
| wait slot | 11 | activated, but every active slot of the scheduler holds another queue |

The codes 8 ("SQ/CQ async request") and 11 ("wait ACSQ idle") are our reading of the register text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import EmulatorBug

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.cores import CorePool, Job
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
    CQ_FULL = 8
    WAIT_FIRMWARE = 9
    POLLING_FLAG = 10
    WAIT_SLOT = 11


class Cause(Enum):
    """What moves a stream."""

    ACTIVATE = auto()
    QUEUE = auto()
    START = auto()
    PRE_P = auto()
    RESUME = auto()
    BLOCK = auto()
    CQ_HOLD = auto()
    CQ_ROOM = auto()
    WAKE = auto()
    COMPLETE = auto()
    DRAIN = auto()
    ERROR = auto()
    HANDLED = auto()


TRANSITIONS = MappingProxyType(
    {
        (State.IDLE, Cause.ACTIVATE): State.SLOT_ENABLE,
        (State.IDLE, Cause.QUEUE): State.WAIT_SLOT,
        (State.SLOT_ENABLE, Cause.START): State.WORKING,
        (State.SLOT_ENABLE, Cause.PRE_P): State.WAIT_FIRMWARE,
        (State.SLOT_ENABLE, Cause.DRAIN): State.IDLE,
        (State.SLOT_ENABLE, Cause.ERROR): State.SLOT_DISABLE,
        (State.WAIT_FIRMWARE, Cause.RESUME): State.WORKING,
        (State.WAIT_FIRMWARE, Cause.ERROR): State.SLOT_DISABLE,
        (State.WORKING, Cause.CQ_HOLD): State.CQ_FULL,
        (State.WORKING, Cause.BLOCK): State.POLLING_FLAG,
        (State.WORKING, Cause.COMPLETE): State.SLOT_ENABLE,
        (State.WORKING, Cause.ERROR): State.SLOT_DISABLE,
        (State.CQ_FULL, Cause.CQ_ROOM): State.WORKING,
        (State.CQ_FULL, Cause.ERROR): State.SLOT_DISABLE,
        (State.POLLING_FLAG, Cause.WAKE): State.WORKING,
        (State.POLLING_FLAG, Cause.ERROR): State.SLOT_DISABLE,
        (State.SLOT_DISABLE, Cause.HANDLED): State.IDLE,
        (State.WAIT_SLOT, Cause.ACTIVATE): State.SLOT_ENABLE,
        (State.WAIT_SLOT, Cause.ERROR): State.SLOT_DISABLE,
    }
)


@dataclass(eq=False)
class Running:
    """The entry at head while its engine works: its clock tickets, and its job in a pool of units."""

    task: Task
    handler: Handler
    since: int
    ticket: int | None = None
    timer: int | None = None
    pool: CorePool | None = None
    job: Job | None = None


class Stream:
    """A stream of the device: its queue, fetch buffer, state, and what it waits for.

    Attributes:
        priority: 0 (first) to 7; who gets an active slot or a core when several want it.
        paused: the host halted it between two entries. stops: failure mode "stop" holds for it.
        running: what the engine of the entry at head does. held: what follows once the completion ring has room.
        report: completion entry of the error it stopped with; recovered: the host has moved head past that entry.
        jump: where head goes when the entry at head retires, unless to the next one.
        steps: condition instructions since it was activated.
    """

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
        self.priority = 0
        self.paused = False
        self.stops = False
        self.running: Running | None = None
        self.held: Callable[[], None] | None = None
        self.report: bytes | None = None
        self.recovered = False
        self.jump: int | None = None
        self.steps = 0

    def move(self, cause: Cause) -> None:
        """Take the transition for `cause`."""
        try:
            self.state = TRANSITIONS[self.state, cause]
        except KeyError:
            raise EmulatorBug(f"stream {self.id}: no transition for {cause.name} in state {self.state.name}") from None
