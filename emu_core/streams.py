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
from emu_core.rings import SQE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.cores import Job, Pool
    from emu_core.engines import Handler, Task
    from emu_core.lane import Lane
    from emu_core.memory import Bytes
    from emu_core.prefetch import PrefetchWindow
    from emu_core.rings import SubmissionQueue
    from emu_core.signals import Signal
    from emu_core.windows import Window


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
    pool: Pool | None = None
    job: Job | None = None


class Stream:
    """A stream of the device: its queue, fetch buffer, state, and what it waits for.

    Attributes:
        priority: 0 (first) to 7; who gets an active slot or a core when several want it.
        paused: the host halted it between two entries. stops: failure mode "stop" holds for it.
        running: what the engine of the entry at head does. held: what follows once the completion ring has room.
        report: completion entry of the error it stopped with; recovered: the host has moved head past that entry.
        jump: where head goes when the entry at head retires, unless to the next one. units: slots of the task at head.
        steps: condition steps of its chain of activations since the host rang last.
        lane: set while the stream runs ahead (`emu_core.lanes`). spare: a lane to use again.
        decoded: entries that were decoded last.

    While it runs ahead, `state`, `running`, `waiting`, `waits_for`, `last_wait` and `executed` are not kept up: reading
    `state` asks the lane, reading any other ends it.
    """

    state: State
    running: Running | None
    waiting: tuple[Task, Handler] | None
    waits_for: Signal | None
    last_wait: int | None
    executed: dict[int, bytes]

    def __init__(self, queue: SubmissionQueue, window: PrefetchWindow, name: str) -> None:
        self.id = queue.stream_id
        self.name = name
        self.queue = queue
        self.window = window
        self.state = State.IDLE
        self.model_id: int | None = None
        self.waits_for = None
        self.waits_since = 0
        self.last_wait = None
        self.waiting = None
        self.wait_timer: int | None = None
        self.executed = {}
        self.patched_in: dict[int, int] = {}
        self.priority = 0
        self.paused = False
        self.stops = False
        self.running = None
        self.held: Callable[[], None] | None = None
        self.report: bytes | None = None
        self.recovered = False
        self.jump: int | None = None
        self.units = 1
        self.steps = 0
        self.lane: Lane | None = None
        self.spare: Lane | None = None
        self.decoded: Window | None = None

    def lead(self, lane: Lane) -> None:
        """Run ahead in `lane` from now on."""
        self.lane = lane
        self.units = 1
        lane.executed, lane.waited = self.executed, self.last_wait
        del self.state, self.running, self.waiting, self.waits_for, self.last_wait, self.executed, self.queue.head
        self.queue.peek, self.queue.settle = lane.head, lane.settle

    def follow(self, slot: int) -> None:
        """Stand between two entries, at `slot`, and go in single steps from now on."""
        lane, queue = self.lane, self.queue
        assert lane is not None
        self.lane = queue.peek = queue.settle = None
        self.state = State.SLOT_ENABLE
        self.running = self.waiting = self.waits_for = None
        self.executed = lane.executed
        self.last_wait = lane.waited
        queue.head = slot % queue.depth

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            lane = self.__dict__.get("lane")
            if lane is None:
                raise AttributeError(name)
            if name == "state":
                return lane.state()
            lane.settle()
            return self.__dict__[name]

    def rewritten(self, run: int) -> list[int]:
        """Slots that differ from what was fetched, or were patched in an execution before `run`."""
        return [*self.window.saved, *(slot for slot, patched in self.patched_in.items() if patched < run)]

    def before_write(self, offset: int, data: bytes | bytearray | Bytes) -> None:
        """Bytes of the ring are about to become `data`: drop what was decoded of them, unless that stays true."""
        if self.decoded is not None:
            first, last = offset // SQE_BYTES, (offset + len(data) - 1) // SQE_BYTES
            whole = len(data) == SQE_BYTES and not offset % SQE_BYTES
            same = whole and bytes(data[:4]) == self.queue.view()[first, :4].tobytes()
            self.before_change(first, last, same_word=same)

    def before_change(self, first: int, last: int, *, same_word: bool) -> None:
        """The slots `first` to `last` are about to change; `same_word`: it is one, and not in its first 32 bits."""
        window = self.decoded
        if window is None or last < window.fresh or first >= window.hi:
            return
        lane = self.lane
        recorded = lane is None or not lane.lanes.recording
        if first == last:
            kind = window.kinds[window.codes[first - window.lo]]
            if kind is None or (same_word and recorded and kind.by_first_word and first not in self.window.saved):
                return
        if recorded and last < self.queue.head <= window.hi:
            window.fresh = last + 1
            return
        if lane is not None:
            lane.settle()
        self.decoded = None

    def move(self, cause: Cause) -> None:
        """Take the transition for `cause`."""
        try:
            self.state = TRANSITIONS[self.state, cause]
        except KeyError:
            raise EmulatorBug(f"stream {self.id}: no transition for {cause.name} in state {self.state.name}") from None
