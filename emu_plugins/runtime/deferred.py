"""Simple entries of a model that is being loaded: kept back per stream, then written many at a time.

Nobody looks at a ring while it is filled, and a task id is known before its entry is written: it counts the stream's
tasks. So events, NOPs and plain kernels wait here until something else goes to their stream, or the model is complete.
Rings, task ids and origins are those of single calls. Few entries are written one by one: columns pay from a dozen on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from emu_core.kernels import CoreType
from emu_core.rings import SQE_BYTES
from emu_plugins.runtime.emission import KERNEL, NOP, RECORD, WAIT, Emitter, TaskColumns
from emu_plugins.runtime.host.handles import Launched
from emu_plugins.runtime.sqes import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.origin import Origin
    from emu_plugins.runtime.host.handles import EventHandle, Function, StreamHandle
    from emu_plugins.runtime.host.runtime import Runtime

FAMILY = "v100"
"""The family whose simple entries are written here; others go through single calls."""
FEW = 12


@dataclass(frozen=True)
class _Simple:
    """A task: its kind, event or kernel values, and where it comes from."""

    kind: int
    origin: Origin
    event: int = 0
    pc: int = 0
    args: int = 0
    block_dim: int = 0
    core: int = 0


@dataclass
class _Line:
    """Tasks of one stream that are kept back, and how many entries they are."""

    tasks: list[_Simple] = field(default_factory=list)
    entries: int = 0


class Deferred:
    """The simple tasks of one load; `resets`: each wait is followed by a reset (policy `wait_reset`).

    Each call says whether it took the task: not when the ring has no room for it, when the caller makes the single
    call, which says so.
    """

    def __init__(self, runtime: Runtime, *, resets: bool) -> None:
        self._runtime = runtime
        self._resets = resets
        self._lines: dict[int, tuple[StreamHandle, _Line]] = {}
        self._emitter: Emitter | None = None

    def nop(self, stream: StreamHandle, origin: Origin) -> bool:
        """A NOP."""
        return self._add(stream, _Simple(NOP, origin), 1) is not None

    def record(self, stream: StreamHandle, event: EventHandle, origin: Origin) -> bool:
        """An event record."""
        task = self._add(stream, _Simple(RECORD, origin, self._runtime.id_of(event)), 1)
        if task is None:
            return False
        event.uses.append((stream, task))
        event.recorder = (stream, task)
        return True

    def wait(self, stream: StreamHandle, event: EventHandle, origin: Origin) -> bool:
        """An event wait, and the reset behind it."""
        count = 1 + self._resets
        task = self._add(stream, _Simple(WAIT, origin, self._runtime.id_of(event)), count)
        if task is None:
            return False
        event.uses.extend((stream, task + more) for more in range(count))
        event.recorder = None if self._resets else event.recorder
        return True

    def kernel(self, stream: StreamHandle, function: Function, block_dim: int, args: int, origin: Origin) -> int | None:
        """A kernel for one kind of cores whose blocks start one by one; its task id, or None."""
        image = function.program.image
        if image is None or function.tiling_key in image.mixes or not 0 <= block_dim < 1 << 32:
            return None
        simple = _Simple(KERNEL, origin, 0, image.entries[function.tiling_key], args, block_dim, int(image.core_type))
        task = self._add(stream, simple, 1)
        if task is not None:
            stream.launched[task] = Launched(stream.id, task, function)
        return task

    def _add(self, stream: StreamHandle, task: _Simple, entries: int) -> int | None:
        """Keep `task` back; the id of its first entry, or None when it does not fit (what was kept is written)."""
        if self._runtime.device.chip.family != FAMILY:
            return None
        queue = stream.core.queue
        _, line = self._lines.setdefault(stream.id, (stream, _Line()))
        if queue.tail + line.entries + entries > min(queue.usable, queue.depth - 1):
            self.flush(stream)
            return None
        number = queue.submissions.count + line.entries
        line.tasks.append(task)
        line.entries += entries
        return number & queue.submissions.last_id

    def flush(self, stream: StreamHandle) -> None:
        """Write what is kept back for `stream`."""
        _, line = self._lines.pop(stream.id, (stream, _Line()))
        if line.tasks:
            write = self._few if line.entries < FEW else self._many
            write(stream, line.tasks)

    def flush_all(self) -> None:
        """Write everything."""
        for stream, _ in list(self._lines.values()):
            self.flush(stream)

    def _few(self, stream: StreamHandle, tasks: list[_Simple]) -> None:
        queue = stream.core.queue
        for task in tasks:
            for sqe in self._singly(task, Place(stream.id, queue.next_task_id())):
                queue.append(sqe, task.origin)

    def _singly(self, task: _Simple, place: Place) -> Iterator[bytes]:
        build = self._runtime.build
        if task.kind == KERNEL:
            yield build.kernel(
                place,
                core_type=CoreType(task.core),
                block_dim=task.block_dim,
                schem=0,
                pc=task.pc,
                args=task.args,
                stack=self._runtime.stack(),
            )
        elif task.kind == RECORD:
            yield build.event_record(place, task.event)
        elif task.kind == WAIT:
            yield build.event_wait(place, task.event)
            if self._resets:
                yield build.event_reset(Place(place.stream_id, place.task_id + 1 & 0xFFFF), task.event)
        else:
            yield build.nop(place)

    def _many(self, stream: StreamHandle, tasks: list[_Simple]) -> None:
        if self._emitter is None:
            registry = self._runtime.device.host.registry
            self._emitter = Emitter(
                self._runtime.build, registry, FAMILY, stack=self._runtime.stack(), resets=self._resets
            )
        rows = [(t.kind, stream.id, t.event, t.pc, t.args, t.block_dim, t.core) for t in tasks]
        columns = TaskColumns(*np.array(rows, np.int64).T)
        queue = stream.core.queue
        rings = self._emitter.emit(columns, stream.id + 1, queue.submissions.count)
        raw = rings.of(stream.id).reshape(-1)
        at = 0
        for task in tasks:
            end = at + SQE_BYTES * (1 + (task.kind == WAIT and self._resets))
            queue.extend(raw[at:end], task.origin)
            at = end
