"""Whether each kernel stands far enough behind its wait to run with its patch (`device_semantics.md` 7.3, seed 4.3).

There are two reasons for NOPs between the two; policy `nop_model` says which one counts. With the reset of the event
and N NOPs between wait and kernel:

| reason | while the wait blocks, or after it | the kernel is fresh exactly when |
|---|---|---|
| `window` | the scheduler has fetched the entries up to the prefetch depth P | its distance N + 2 is more than P |
| `latency` | the event is noticed T ns after it fired, the entries behind run at once | they take T ns or more |
| `both` | both | both |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_core.device import Device
from emu_core.limits import entries_of, wait_entries
from emu_core.notice import FETCHES, LATE
from emu_plugins.checks.operators import place, sinking
from emu_plugins.checks.order import Order, order_of
from emu_plugins.checks.sink import sequences, tiling_wait
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip, Latencies
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob, BlobTask

RESET = 2
"""Entries of a wait whose event is reset behind it."""


@dataclass(frozen=True)
class Rules:
    """What decides about a distance.

    Attributes:
        depth: entries fetched past head. per_wait: entries of a wait, 2 with its reset. model: policy `nop_model`.
        latencies: of the chip.
    """

    depth: int
    per_wait: int
    model: str
    latencies: Latencies


@dataclass(frozen=True)
class Distance:
    """How far a kernel stands behind its wait.

    Attributes:
        name, kernel: the operator, and the index of its kernel task.
        nops: NOPs between the two. entries: ring entries from the wait to the kernel.
        gap_ns: nanoseconds that the entries between take at least; counted are resets and NOPs.
    """

    name: str
    kernel: int
    nops: int
    entries: int
    gap_ns: int
    rules: Rules

    @property
    def fetched(self) -> bool:
        """Whether the kernel is fetched while the stream waits."""
        return self.entries <= self.rules.depth

    @property
    def unnoticed(self) -> bool:
        """Whether the kernel starts before the event is noticed."""
        return self.gap_ns < self.rules.latencies.event_notify_ns

    @property
    def fresh(self) -> bool:
        """Whether the kernel runs with its patch, by the reasons in force."""
        model = self.rules.model
        return not (model in FETCHES and self.fetched) and not (model in LATE and self.unnoticed)

    def safe_nops(self, model: str = "") -> int:
        """The smallest number of NOPs that makes it fresh under `model` (by default the policy), all else as it is."""
        model = model or self.rules.model
        by_window = self.nops + self.rules.depth + 1 - self.entries if model in FETCHES else 0
        return max(by_window, self._by_latency() if model in LATE else 0, 0)

    def _by_latency(self) -> int:
        each = max(self.rules.latencies.nop_ns, 1)
        without = self.gap_ns - self.nops * self.rules.latencies.nop_ns
        return -(-(self.rules.latencies.event_notify_ns - without) // each)


def distances(blob: Blob, rules: Rules) -> Iterator[Distance]:
    """The distance of every kernel that an update patches and a wait holds back, in the order of operators.

    Kernels of the static models inside a host-scheduled program are among them; what the host launches itself is never
    patched.
    """
    order = order_of(blob)
    for tasks in sinking(blob).values():
        for sequence in sequences(tasks):
            wait = tiling_wait(order, sequence)
            if wait is not None:
                yield _distance(order, tasks.name, wait, sequence.kernel, rules)


def _distance(order: Order, name: str, wait: int, kernel: int, rules: Rules) -> Distance:
    blob = order.blob
    stream = order.streams[blob.tasks[kernel].stream_id]
    between = [blob.tasks[i] for i in stream[order.position[wait] : order.position[kernel]]]
    entries = sum(entries_of(task, per_wait=rules.per_wait) for task in between)
    nops = sum(task.type == TaskType.NOP for task in between)
    return Distance(name, kernel, nops, entries, sum(_least_ns(task, rules) for task in between), rules)


def _least_ns(task: BlobTask, rules: Rules) -> int:
    """Nanoseconds that the entries of a task take at least; what depends on other streams or on data counts 0."""
    if task.type == TaskType.NOP:
        return rules.latencies.nop_ns
    return rules.latencies.write_value_ns if task.type == TaskType.EVENT_WAIT and rules.per_wait == RESET else 0


def prefetch_distance(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """A finding per kernel that runs without its patch: an error, or good to know where policy fetches it again."""
    level = Level.INFO if policies["stale_prefetch"] == "refetch" else Level.ERROR
    depth = Device(chip, {"prefetch_depth": policies["prefetch_depth"]}, host).prefetch_depth
    rules = Rules(depth, wait_entries(policies), policies["nop_model"], chip.latencies)
    for found in distances(blob, rules):
        if not found.fresh:
            safe = found.safe_nops()
            remedy = (
                f"the smallest safe count is {safe}: compile with --policy nop_count={safe} (nop_model=window: "
                f"{found.safe_nops('window')}, latency: {found.safe_nops('latency')})"
            )
            yield Finding(level, "check.nop-distance", place(blob, found.kernel), _why(found), remedy)


def _why(found: Distance) -> str:
    rules = found.rules
    reasons = []
    if rules.model in FETCHES and found.fetched:
        reasons.append(f"within the {rules.depth} that are fetched while the stream waits")
    if rules.model in LATE and found.unnoticed:
        reasons.append(f"{found.gap_ns} ns of the {rules.latencies.event_notify_ns} until the event is noticed")
    return (
        f"lies {found.entries} entries behind its wait ({found.nops} NOPs between), {' and '.join(reasons)}: it runs "
        "without its patch"
    )
