"""The second reason for NOPs behind a wait: an event is noticed late (seed text 1, 4.3).

The feature's text says that some time passes from the moment an event fires until the AI Core side notices what came
with it, and that NOPs fill this time, so that the kernel starts with the tiling that is ready by then. Read as a rule:

| moment | what the waiting queue does |
|---|---|
| the event fires | its wait passes, and the entries behind it run at once |
| until `event_notify_ns` later | an entry that was rewritten before runs with its old bytes |
| from then on | it runs with its new bytes |

| policy `nop_model` | an entry is stale when |
|---|---|
| `window` | it was rewritten while it lay in the fetch buffer (`emu_core.prefetch`) |
| `latency` | it starts before the event that released its queue is noticed; nothing is fetched ahead |
| `both` | either |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.prefetch import PrefetchWindow

if TYPE_CHECKING:
    from collections.abc import Collection

    from emu_core.clock import Clock
    from emu_core.rings import SubmissionQueue

LATE = frozenset({"latency", "both"})
"""Values of `nop_model` under which events are noticed late."""
FETCHES = frozenset({"window", "both"})
"""Values under which entries are fetched ahead."""


class LateWindow(PrefetchWindow):
    """A fetch buffer whose queue also notices events late, by `notice_ns` nanoseconds."""

    def __init__(self, queue: SubmissionQueue, depth: int, clock: Clock, notice_ns: int) -> None:
        super().__init__(queue, depth)
        self._clock = clock
        self._notice_ns = notice_ns
        self._noticed_at = 0
        self._before: dict[int, bytes] = {}

    def before_write(self, slot: int) -> bool:
        """As in the base; beyond the fetch buffer, too, the old bytes of a published entry are kept."""
        queue = self.queue
        published = queue.enabled and (slot - queue.head) % queue.depth < queue.pending
        if published and slot not in self._before:
            self._before[slot] = queue.entry(slot)
        return super().before_write(slot)

    def before_writes(self, slots: Collection[int]) -> None:
        """As in the base, but for all of them."""
        for slot in slots:
            self.before_write(slot)

    def take(self, slot: int) -> bytes | None:
        """The bytes the entry runs with, if they are not those in the ring: fetched ahead, or not noticed yet."""
        before = self._before.pop(slot, None)
        fetched = super().take(slot)
        if fetched is not None:
            return fetched
        return before if self.notice_left_ns else None

    def released(self, fired: int) -> None:
        """A wait passes whose event fired at `fired`."""
        self._noticed_at = fired + self._notice_ns

    @property
    def notice_left_ns(self) -> int:
        """Nanoseconds until the last event is noticed."""
        return max(self._noticed_at - self._clock.now, 0)

    def clear(self) -> None:
        """Drop everything: what is fetched from now on is what the ring holds."""
        super().clear()
        self._before.clear()


def fetch_window(queue: SubmissionQueue, depth: int, model: str, clock: Clock, notice_ns: int) -> PrefetchWindow:
    """The fetch buffer of a queue under `model`, a value of policy `nop_model`."""
    if model not in LATE:
        return PrefetchWindow(queue, depth)
    return LateWindow(queue, depth if model in FETCHES else 0, clock, notice_ns)
