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

Memory that is fetched together with an entry (`emu_core.contexts`) is kept likewise, in `preloads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from emu_core.rings import SubmissionQueue


class PrefetchWindow:
    """The fetch buffer of one submission queue.

    Attributes:
        preloads: by slot, what a fetched entry leads to as it was when it was fetched; only what has changed since.
    """

    def __init__(self, queue: SubmissionQueue, depth: int) -> None:
        self.queue = queue
        self.depth = depth
        self._saved: dict[int, bytes] = {}
        self.preloads: dict[int, bytes] = {}

    def holds(self, slot: int) -> bool:
        """Whether `slot` lies in the fetch buffer now."""
        queue = self.queue
        peek = queue.peek  # asked at once, because reading `head` of a queue that runs ahead takes a detour
        head = queue.head if peek is None else peek()
        distance = (slot - head) % queue.depth
        return distance <= self.depth and queue.enabled and distance < (queue.tail - head) % queue.depth

    def slots(self) -> Iterator[int]:
        """The slots that lie in the fetch buffer now, from head on."""
        queue = self.queue
        if queue.enabled:
            for distance in range(min(self.depth + 1, queue.pending)):
                yield (queue.head + distance) % queue.depth

    def fetched(self, slot: int) -> bytes:
        """The entry of a slot in the fetch buffer as it was fetched."""
        return self._saved.get(slot) or self.queue.entry(slot)

    def before_write(self, slot: int) -> bool:
        """Called before `slot` changes; returns whether the fetched copy will now differ."""
        if not self.holds(slot):
            return False
        if slot not in self._saved:
            self._saved[slot] = self.queue.entry(slot)
        return True

    def before_writes(self, slots: Collection[int]) -> None:
        """`before_write` of each of many slots."""
        wanted = set(slots)
        for slot in [slot for slot in self.slots() if slot in wanted]:
            self.before_write(slot)

    @property
    def saved(self) -> Collection[int]:
        """Slots whose fetched copy differs from the ring."""
        return self._saved.keys()

    def take(self, slot: int) -> bytes | None:
        """The fetched copy of the entry that now executes, if it was rewritten since; forgets it."""
        return self._saved.pop(slot, None)

    def released(self, fired: int) -> None:
        """A wait passes whose event fired at `fired`; matters where events are noticed late (`emu_core.notice`)."""

    @property
    def notice_left_ns(self) -> int:
        """Nanoseconds until the last event is noticed; 0 where events are noticed at once."""
        return 0

    def clear(self) -> None:
        """Drop everything fetched."""
        self._saved.clear()
        self.preloads.clear()
