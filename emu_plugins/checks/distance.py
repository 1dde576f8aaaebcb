"""Whether each kernel stands far enough behind its wait to be fetched after the patch (`device_semantics.md` 7.3).

While the wait blocks the queue, the scheduler has fetched the entries up to the prefetch depth P. The kernel is
fresh exactly when its distance from the wait is more than P; with the reset of the event and N NOPs between the two
the distance is N + 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_core.device import Device
from emu_core.limits import entries_of, wait_entries
from emu_plugins.checks.operators import place, sinking
from emu_plugins.checks.order import Order, order_of
from emu_plugins.checks.sink import sequences, tiling_wait
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob


@dataclass(frozen=True)
class Distance:
    """How far a kernel stands behind its wait.

    Attributes:
        name, kernel: the operator, and the index of its kernel task.
        nops: NOPs between the two. `entries`: ring entries from the wait to the kernel.
        depth: entries fetched past head.
    """

    name: str
    kernel: int
    nops: int
    entries: int
    depth: int

    @property
    def fresh(self) -> bool:
        """Whether the kernel is fetched after its patch."""
        return self.entries > self.depth

    @property
    def safe_nops(self) -> int:
        """The smallest number of NOPs that makes it fresh, all else as it is."""
        return max(self.nops + self.depth + 1 - self.entries, 0)


def distances(blob: Blob, *, depth: int, per_wait: int = 2) -> Iterator[Distance]:
    """The distance of every kernel that an update patches and a wait holds back, in the order of operators."""
    if blob.unknown_shape:
        return
    order = order_of(blob)
    for tasks in sinking(blob).values():
        for sequence in sequences(tasks):
            wait = tiling_wait(order, sequence)
            if wait is not None:
                yield _distance(order, tasks.name, wait, sequence.kernel, depth, per_wait)


def _distance(order: Order, name: str, wait: int, kernel: int, depth: int, per_wait: int) -> Distance:
    blob = order.blob
    stream = order.streams[blob.tasks[kernel].stream_id]
    between = [blob.tasks[i] for i in stream[order.position[wait] : order.position[kernel]]]
    entries = sum(entries_of(task, per_wait=per_wait) for task in between)
    return Distance(name, kernel, sum(task.type == TaskType.NOP for task in between), entries, depth)


def prefetch_distance(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """A finding per kernel within the fetched entries: an error, or good to know where policy fetches it again."""
    level = Level.INFO if policies["stale_prefetch"] == "refetch" else Level.ERROR
    depth = Device(chip, {"prefetch_depth": policies["prefetch_depth"]}, host).prefetch_depth
    for found in distances(blob, depth=depth, per_wait=wait_entries(policies)):
        if not found.fresh:
            what = (
                f"lies {found.entries} entries behind its wait ({found.nops} NOPs between), within the "
                f"{depth} that are fetched while the stream waits: it runs without its patch"
            )
            remedy = f"the smallest safe count is {found.safe_nops}: compile with --policy nop_count={found.safe_nops}"
            yield Finding(level, "check.nop-distance", place(blob, found.kernel), what, remedy)
