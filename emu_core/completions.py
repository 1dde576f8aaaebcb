"""Writing completion entries, and queues that hold because the completion ring is full.

| policy `completion_reader` | a full ring |
|---|---|
| `prompt` | the host reads it the moment it is full: no queue ever holds |
| `round_trip` | queues hold; the host reads 32 entries one round trip later, and again while queues hold |
| `none` | queues hold until `read` is called |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.streams import Cause
from emu_core.trace import Completion

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream

HALF = 16
HOST_READS = 32
"""Entries the host takes per look (`reference/device_semantics.md` 2.4)."""


class Completions:
    """The writer's side of the completion ring of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._layout = device.layout("CqeError")
        self._serial = device.layout("SqeHeader").by_name["task_id"].width > HALF
        self._reader = device.policies["completion_reader"]
        self._holding: list[Stream] = []
        self._look: int | None = None

    def post(self, task: Task, error_type: int, status: int, then: Callable[[bytes], None], head: int) -> None:
        """Write the entry of `task` and call `then` with it; now, or once the ring has room again.

        `head` is the submission head that the entry tells.
        """

        def write() -> None:
            then(self._write(task, error_type, status, head))

        cq = self._device.cq
        if cq.full and self._reader == "prompt":
            cq.drain(cq.depth)
        if not cq.full:
            write()
            return
        task.stream.held = write
        task.stream.move(Cause.CQ_HOLD)
        self._holding.append(task.stream)
        if self._reader == "round_trip" and self._look is None:
            self._plan()

    def _plan(self) -> None:
        delay = self._device.chip.latencies.host_round_trip_ns
        self._look = self._device.clock.after(delay, self._holding[0].id, self._host_looks)

    def _host_looks(self) -> None:
        self._look = None
        self.read()
        if self._holding:
            self._plan()

    def read(self, limit: int = HOST_READS) -> list[bytes]:
        """Take up to `limit` entries as the host does; queues that held go on, in the order in which they came."""
        found = self._device.cq.drain(limit)
        while self._holding and not self._device.cq.full:
            stream = self._holding.pop(0)
            write, stream.held = stream.held, None
            stream.move(Cause.CQ_ROOM)
            if write is not None:
                write()
        return found

    def forget(self, stream: Stream) -> None:
        """`stream` holds no longer, and its entry is not written."""
        stream.held = None
        if stream in self._holding:
            self._holding.remove(stream)
        if not self._holding and self._look is not None:
            self._device.clock.cancel(self._look)
            self._look = None

    def _ids(self, task: Task) -> dict[str, int]:
        """Word 1, a copy of word 1 of the header: stream and task, or on v200 the two halves of the serial number."""
        first, second = task.stream.id, task.task_id
        if self._serial:
            first, second = task.task_id, task.task_id >> HALF
        return {"stream_id": first & 0xFFFF, "task_id": second & 0xFFFF}

    def _write(self, task: Task, error_type: int, status: int, head: int) -> bytes:
        device, queue = self._device, task.stream.queue
        entry = self._layout.build(
            {
                "phase": device.cq.phase,
                "error_bit": int(bool(error_type)),
                "sq_id": queue.stream_id & 0x7FF,
                "sq_head": head,
                **self._ids(task),
                "error_type": error_type,
                "sqe_type": task.sqe[0] & 0x3F,
                "sqe_index": task.slot,
                "sq_sw_status": status,
            }
        )
        device.cq.push(entry)
        if device.trace.wants(Completion):
            device.trace.add(
                Completion(
                    time=device.clock.now,
                    run=task.run,
                    stream=queue.stream_id,
                    task=task.task_id,
                    sq_head=head,
                    error_type=error_type,
                    status=status,
                )
            )
        return entry
