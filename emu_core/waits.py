"""Entries that wait: parked at a flag or at memory that may change, with or without a time limit, and woken again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import task_events, task_faults
from emu_core.streams import Cause

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.engines import Handler, Task, Wait
    from emu_core.scheduler import Scheduler
    from emu_core.signals import Signal
    from emu_core.streams import Stream


class Waits:
    """The waiting entries of one device; streams in a lane look after their own (`emu_core.lanes`)."""

    def __init__(self, device: Device, scheduler: Scheduler) -> None:
        self._device = device
        self._scheduler = scheduler
        self._watching: dict[int, tuple[tuple[int, int], ...]] = {}
        self._limit_ns = int(device.policies["event_wait_timeout_s"]) * task_faults.NS_PER_S

    def park(self, task: Task, handler: Handler, wait: Wait) -> None:
        """`task` waits."""
        device, stream, signal = self._device, task.stream, wait.signal
        stream.move(Cause.BLOCK)
        stream.waits_for = signal
        stream.waits_since = device.clock.now
        stream.last_wait = task.slot
        stream.waiting = (task, handler)
        device.signals.park(signal, stream.id)
        task_events.waits(task, handler, signal)
        if wait.ranges:
            self._watching[stream.id] = wait.ranges
            device.memory.on_write = self._written
        limit = self._limit(stream, wait)
        if task.waits_from is None:  # an entry that waits for one flag after the other has one limit for all
            task.waits_from = device.clock.now
        if limit:
            left = max(limit - (device.clock.now - task.waits_from), 0)
            stream.wait_timer = self._scheduler.plan(
                left, stream, lambda: self._expired(task, handler, signal, limit)
            )  # fmt: skip
        if self._scheduler.recovery.aborted:
            self._scheduler.recovery.release(stream)

    def _limit(self, stream: Stream, wait: Wait) -> int:
        """The smaller of the entry's own limit and the policy's, which holds in models; 0 is for ever."""
        limits = (wait.limit_ns, self._limit_ns if stream.model_id is not None else 0)
        return min((limit for limit in limits if limit), default=0)

    def _expired(self, task: Task, handler: Handler, signal: Signal, limit: int) -> None:
        task.stream.wait_timer = None
        self.stop(task.stream)
        self._scheduler.fail(task, handler, task_faults.timeout(signal, limit))

    def _written(self, address: int, size: int) -> None:
        """Wake the streams that wait for a value in memory that was just written."""
        for stream_id, ranges in list(self._watching.items()):
            if any(address < at + n and at < address + size for at, n in ranges):
                self._device.signals.unpark(stream_id)
                self.wake(self._device.streams[stream_id])

    def wake(self, stream: Stream) -> None:
        """Ask the engine of a parked entry again."""
        waiting = stream.waiting
        if waiting is None:
            return
        self._forget(stream)
        stream.move(Cause.WAKE)
        parked, handler = waiting
        stream.wait_timer = self._scheduler.plan(0, stream, lambda: self.again(parked, handler))

    def again(self, task: Task, handler: Handler) -> None:
        """Start the entry at head once more, whose flag was set."""
        task.stream.wait_timer = None
        self._scheduler.start(task, handler)

    def stop(self, stream: Stream) -> None:
        """`stream` waits for nothing any more."""
        self._device.signals.unpark(stream.id)
        self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        stream.waits_for = None
        stream.waiting = None
        if self._watching.pop(stream.id, None) is not None and not self._watching:
            self._device.memory.on_write = None
        if stream.wait_timer is not None:
            self._device.clock.cancel(stream.wait_timer)
            stream.wait_timer = None
