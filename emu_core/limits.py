"""What a program takes of each limit of a chip, and who takes it: computed from the blob, nothing is loaded.

| limit | figure of the chip | a program takes | id when exceeded |
|---|---|---|---|
| tasks of a stream | `usable_tasks` | its entries; an event wait is two while its reset is written | `EE1019` |
| streams | `max_streams` | its own and the calling one | `207008` |
| events | `max_events` | its own | `207007` |
| notifies | `max_notifies` | one per end of graph | `207009` |
| sunk tasks | `persistent_tasks` | the entries of all its streams | `limit.persistent-tasks` |
| memory | `memory_bytes` | tensors, workspaces, rings | `limit.memory` (207001) |

A host-scheduled program has one plain stream, whose ring wraps: only streams and memory count, and everything of the
static models inside.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import LimitError
from emu_core.rings import SQE_BYTES
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.chips import Chip
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob, BlobTask

MOST_NAMED = 4
"""Users that a message names; the others are counted."""
CALLER = "caller of the model"
NOBODY = "no operator"
END = "end of graph"
_SMALLER = "make the tensors smaller, or use a chip with more memory (vendor code 207001)"


@dataclass(frozen=True)
class Use:
    """One limit of a chip and what a program takes of it.

    Attributes:
        figure: attribute of the chip that is the limit.
        what: the limit in words, for example `tasks on stream 0 (main_0)`.
        used, available: counts; bytes for memory.
        id: of the error when `used` is more than `available`; the vendor's code where there is one.
        users: who takes how much, largest first. `one`: what a single user is called.
        remedy: what to do about too many.
        full: how the device words it, for limits where it has words of its own.
    """

    figure: str
    what: str
    used: int
    available: int
    id: str
    users: tuple[tuple[str, int], ...]
    one: str
    remedy: str
    full: str = ""

    @property
    def exceeded(self) -> bool:
        """Whether the program does not fit."""
        return self.used > self.available

    def who(self, most: int = MOST_NAMED, shown: Callable[[int], str] = str) -> str:
        """The largest users, for example `cgdr0 12, probe1 11 and 3 more operators`; without counts when all are 1."""
        plain = all(count == 1 for _, count in self.users)
        named = ", ".join(name if plain else f"{name} {shown(count)}" for name, count in self.users[:most])
        left = len(self.users) - most
        return f"{named} and {left} more {self.one}{'s' * (left > 1)}" if left > 0 else named

    def text(self, chip: str) -> str:
        """One sentence: what is used, what there is, and by whom it is used."""
        head = self.full or f"{chip} has {self.available} {self.what}"
        return f"{head}, the program takes {self.used}" + (f": {self.who()}" if self.users else "")


def wait_entries(policies: PolicySet) -> int:
    """Ring entries of an event wait: two with the reset behind it, one when a loader's `wait_reset` is off."""
    known = any(spec.name == "wait_reset" for spec in policies)
    return 1 if known and policies["wait_reset"] == "off" else 2


def entries_of(task: BlobTask, *, per_wait: int = 2) -> int:
    """Ring entries of a task: an event wait has `per_wait` (its reset counts), every other task one."""
    return per_wait if task.type == TaskType.EVENT_WAIT else 1


def uses(blob: Blob, chip: Chip, *, per_wait: int = 2) -> tuple[Use, ...]:
    """What `blob` takes of every limit of `chip`: streams in order, then the counts of the whole program.

    Args:
        blob: any blob; tasks on streams that do not exist are not counted.
        chip: the chip to compare with, which need not be the blob's own.
        per_wait: entries of an event wait, see `wait_entries`.
    """
    host = _host_stream(blob)
    names = {stream.id: stream.name for stream in blob.streams if stream.id != host}
    if blob.unknown_shape and not names:
        return (_streams(("main",), chip), _memory(blob, chip, 1))
    by_node: dict[int, Counter[str]] = {stream: Counter() for stream in names}
    for task in blob.tasks:
        if task.stream_id in by_node:
            by_node[task.stream_id][_user(task)] += entries_of(task, per_wait=per_wait)
    streams = [_tasks(stream, names[stream], counts, chip) for stream, counts in by_node.items()]
    return (
        *streams,
        _streams((*names.values(), CALLER), chip),
        _events(blob, chip),
        _notifies(blob, chip),
        _persistent(names, by_node, chip),
        _memory(blob, chip, len(names) + 1),
    )


def require(found: Iterable[Use], chip: Chip, *, where: str = "") -> None:
    """Nothing when everything fits.

    Raises:
        LimitError: the first limit that is exceeded, with the vendor's code as id and the largest users in its text.
    """
    for use in found:
        if use.exceeded:
            raise LimitError(use.text(chip.name), id=use.id, where=where, remedy=use.remedy)


def _host_stream(blob: Blob) -> int | None:
    """The plain stream of a host-scheduled program, that of its last task; None for any other."""
    return blob.tasks[-1].stream_id if blob.unknown_shape and blob.tasks else None


def _user(task: BlobTask) -> str:
    return task.node or (END if task.type == TaskType.MODEL_END_GRAPH else NOBODY)


def _largest_first(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(((n, c) for n, c in counts.items() if c), key=lambda pair: -pair[1]))


def _tasks(stream: int, name: str, counts: Counter[str], chip: Chip) -> Use:
    return Use(
        "usable_tasks",
        f"tasks on stream {stream} ({name})",
        counts.total(),
        chip.usable_tasks,
        "EE1019",
        _largest_first(counts),
        "operator",
        "put fewer tasks on one stream",
        f"stream {stream} is full: a model-bound ring holds {chip.usable_tasks} tasks",
    )


def _streams(names: tuple[str, ...], chip: Chip) -> Use:
    return Use(
        "max_streams", "streams", len(names), chip.max_streams, "207008",
        tuple((name, 1) for name in names), "stream", "use fewer streams, or a chip with more",
    )  # fmt: skip


def _events(blob: Blob, chip: Chip) -> Use:
    recorder: dict[int, str] = {}
    for task in blob.tasks:
        if task.type == TaskType.EVENT_RECORD and task.event_id is not None:
            recorder.setdefault(task.event_id, task.node or NOBODY)
    notified = _notified(blob)
    counts = Counter(recorder.get(event.id, NOBODY) for event in blob.events if event.id not in notified)
    return Use(
        "max_events", "events", counts.total(), chip.max_events, "207007",
        _largest_first(counts), "operator", "let fewer operators sink in one graph, or use a chip with more events",
    )  # fmt: skip


def _notified(blob: Blob) -> Mapping[int, str]:
    """The blob's events that are notifies, and the node of each."""
    kinds = (TaskType.NOTIFY_RECORD, TaskType.NOTIFY_WAIT)
    return {t.event_id: t.node or NOBODY for t in blob.tasks if t.type in kinds and t.event_id is not None}


def _notifies(blob: Blob, chip: Chip) -> Use:
    host = _host_stream(blob)
    ends = sum(task.type == TaskType.MODEL_END_GRAPH and task.stream_id != host for task in blob.tasks)
    counts = Counter(_notified(blob).values()) + Counter({END: ends})
    users = _largest_first(counts)
    return Use(
        "max_notifies",
        "notifies",
        counts.total(),
        chip.max_notifies,
        "207009",
        users,
        "task",
        "use a chip with more notifies",
    )


def _persistent(names: Mapping[int, str], by_node: Mapping[int, Counter[str]], chip: Chip) -> Use:
    counts = {names[stream]: counts.total() for stream, counts in by_node.items()}
    return Use(
        "persistent_tasks", "sunk tasks", sum(counts.values()), chip.persistent_tasks, "limit.persistent-tasks",
        _largest_first(counts), "stream", "split the graph",
    )  # fmt: skip


def _memory(blob: Blob, chip: Chip, rings: int) -> Use:
    counts: Counter[str] = Counter()
    for name, size in _allocations(blob):
        counts[name] += size
    counts["submission rings"] += rings * chip.sq_depth * SQE_BYTES
    return Use(
        "memory_bytes", "bytes of memory", counts.total(), chip.memory_bytes, "limit.memory",
        _largest_first(counts), "tensor", _SMALLER,
    )  # fmt: skip


def _allocations(blob: Blob) -> Iterator[tuple[str, int]]:
    for tensor in blob.tensors:
        yield f"tensor {tensor.name}", tensor.size
    for op in blob.ops:
        yield f"workspaces of {op.name}", sum(op.workspaces)
