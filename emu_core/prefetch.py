"""Prefetch: the scheduler executes what it fetched, up to `depth` entries past head.

While head = h, the entries h … h + depth that are published lie in the fetch buffer and stay there until they execute
(`reference/device_semantics.md` 7.3). Instead of copying every entry, the window keeps the *pre-image* of an entry only
when somebody rewrites it after it was fetched:

| event | what happens |
|---|---|
| write to a fetched slot | its 64 bytes are saved, unless saved before |
| write to a slot beyond the window | nothing: the fetch will see the new bytes |
| execution of a slot | the pre-image if there is one, else the ring |
| the queue is activated again | nothing is fetched yet: all pre-images are dropped |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_core.rings import SubmissionQueue


class PrefetchWindow:
    """The fetch buffer of one submission queue."""

    def __init__(self, queue: SubmissionQueue, depth: int) -> None:
        self.queue = queue
        self.depth = depth
        self._saved: dict[int, bytes] = {}

    def holds(self, slot: int) -> bool:
        """Whether `slot` lies in the fetch buffer now."""
        queue = self.queue
        distance = (slot - queue.head) % queue.depth
        return queue.enabled and distance <= self.depth and distance < queue.pending

    def before_write(self, slot: int) -> bool:
        """Called before `slot` changes; returns whether the fetched copy will now differ."""
        if not self.holds(slot):
            return False
        if slot not in self._saved:
            self._saved[slot] = self.queue.entry(slot)
        return True

    def take(self, slot: int) -> bytes | None:
        """The fetched copy of the entry that now executes, if it was rewritten since; forgets it."""
        return self._saved.pop(slot, None)

    def clear(self) -> None:
        """Drop everything fetched."""
        self._saved.clear()
