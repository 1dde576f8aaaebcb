"""The rules of a well-formed sink sequence (`reference/tiling_sink_compiler.md` 17).

| rule | id |
|---|---|
| an update has one tiling task and one kernel of its operator, a tiling task has an update | `check.sink-unmatched` |
| list order: tiling task, kernel, update, record | `check.sink-order` |
| wait and record share the event and are on different streams | `check.sink-event` |
| the kernel's wait stands before it with only NOPs between | `check.sink-wait` |
| update and tiling task are on one stream, the kernel on another | `check.sink-stream` |
| the kernel's arguments have one address of tiling data, directly behind a workspace | `check.sink-tiling-data` |
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.checks.operators import place, sinking
from emu_plugins.checks.order import Order, order_of
from emu_plugins.compiler.args_format import ArgKind, parse_args_format
from formats.blob.model import TaskType
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from emu_plugins.checks.operators import Tasks
    from formats.blob.model import Blob, BlobTask

_AGAIN = "compile the graph again"


@dataclass(frozen=True)
class Sequence:
    """The sequence of one operator that has one of each: indices of tiling task, kernel and update."""

    name: str
    tiling: int
    kernel: int
    update: int


def sink_sequences(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """An error per broken rule of each operator whose tiling sinks."""
    del chip, policies, host
    order = order_of(blob)
    for tasks in sinking(blob).values():
        unmatched = list(_unmatched(blob, tasks))
        yield from unmatched
        for sequence in () if unmatched else sequences(tasks):
            yield from _of_sequence(order, sequence)


def sequences(tasks: Tasks) -> Iterator[Sequence]:
    """One sequence per update of an operator with one tiling task and one kernel; none for any other."""
    if len(tasks.tilings) == len(tasks.kernels) == 1:
        for update in tasks.updates:
            yield Sequence(tasks.name, tasks.tilings[0], tasks.kernels[0], update)


def tiling_wait(order: Order, sequence: Sequence) -> int | None:
    """The wait that holds the kernel back until its tiling is there, or None.

    It is the nearest wait before the kernel whose event is recorded on the stream of the update; where none is, the
    nearest wait at all.
    """
    blob, nearest = order.blob, None
    attached = blob.tasks[sequence.update].stream_id
    line = order.streams[blob.tasks[sequence.kernel].stream_id]
    for index in (line[at] for at in range(order.position[sequence.kernel] - 1, -1, -1)):
        if blob.tasks[index].type == TaskType.EVENT_WAIT:
            nearest = index if nearest is None else nearest
            if attached in _recording_streams(order, blob.tasks[index]):
                return index
    return nearest


def _recording_streams(order: Order, wait: BlobTask) -> set[int]:
    records = order.records.get(-1 if wait.event_id is None else wait.event_id, ())
    return {order.blob.tasks[record].stream_id for record in records}


def _unmatched(blob: Blob, tasks: Tasks) -> Iterator[Finding]:
    counts = (("tiling task", tasks.tilings), ("kernel", tasks.kernels))
    for update in tasks.updates:
        for what, found in counts:
            if len(found) != 1:
                text = f"needs exactly one {what} of {tasks.name}, there are {len(found)}"
                yield Finding(Level.ERROR, "check.sink-unmatched", place(blob, update), text, _AGAIN)
    if not tasks.updates:
        first = (tasks.tilings or tasks.kernels)[0]
        text = f"{tasks.name} has no update: its kernel keeps the key and block dim it was launched with"
        yield Finding(Level.ERROR, "check.sink-unmatched", place(blob, first), text, "add an update behind the kernel")


def _of_sequence(order: Order, sequence: Sequence) -> Iterator[Finding]:
    yield from _streams(order.blob, sequence)
    yield from _list_order(order.blob, sequence)
    wait = tiling_wait(order, sequence)
    if wait is None:
        what = "no event wait stands before it, so it does not wait for its tiling"
        yield Finding(Level.ERROR, "check.sink-wait", place(order.blob, sequence.kernel), what, _AGAIN)
    else:
        yield from _between(order, sequence, wait)
        yield from _event(order, sequence, wait)
    yield from _tiling_data(order.blob, sequence)


def _streams(blob: Blob, sequence: Sequence) -> Iterator[Finding]:
    tiling, kernel, update = (blob.tasks[i].stream_id for i in (sequence.tiling, sequence.kernel, sequence.update))
    where = place(blob, sequence.update)
    if update != tiling:
        what = f"is on stream {update}, its tiling task on stream {tiling}: nothing orders the two"
        yield Finding(Level.ERROR, "check.sink-stream", where, what, "put both on the attached stream")
    if update == kernel:
        what = f"is on stream {update}, as the kernel it patches"
        yield Finding(Level.ERROR, "check.sink-stream", where, what, "put it on the attached stream")


def _list_order(blob: Blob, sequence: Sequence) -> Iterator[Finding]:
    steps = (sequence.tiling, sequence.kernel, sequence.update)
    for first, second in pairwise(steps):
        if first > second:
            what = f"stands before {place(blob, first)} in the list: the loader needs that one first"
            yield Finding(Level.ERROR, "check.sink-order", place(blob, second), what, _AGAIN)


def _between(order: Order, sequence: Sequence, wait: int) -> Iterator[Finding]:
    blob = order.blob
    stream = order.streams[blob.tasks[sequence.kernel].stream_id]
    for index in stream[order.position[wait] + 1 : order.position[sequence.kernel]]:
        if blob.tasks[index].type != TaskType.NOP:
            what = f"stands between {place(blob, wait)} and {place(blob, sequence.kernel)}, where only NOPs may be"
            yield Finding(Level.ERROR, "check.sink-wait", place(blob, index), what, _AGAIN)


def _event(order: Order, sequence: Sequence, wait: int) -> Iterator[Finding]:
    """The record of the wait's event: on the update's stream, behind the update."""
    blob = order.blob
    event, attached = blob.tasks[wait].event_id, blob.tasks[sequence.update].stream_id
    records = () if event is None else order.records.get(event, ())
    where = place(blob, wait)
    if not any(blob.tasks[record].stream_id == attached for record in records):
        what = f"waits for event {event}, which stream {attached} of its tiling never records"
        yield Finding(Level.ERROR, "check.sink-event", where, what, "record it behind the update")
    for record in records:
        if blob.tasks[record].stream_id == blob.tasks[wait].stream_id:
            what = f"waits for event {event}, which its own stream records in {place(blob, record)}"
            yield Finding(Level.ERROR, "check.sink-event", where, what, "record it on the attached stream")
        elif not order.before(sequence.update, record):
            what = f"releases the kernel of {sequence.name} before {place(blob, sequence.update)} has patched it"
            remedy = "record the event behind the update (policy sink_run_order=patch_first)"
            yield Finding(Level.ERROR, "check.sink-order", place(blob, record), what, remedy)


def _tiling_data(blob: Blob, sequence: Sequence) -> Iterator[Finding]:
    where, text = place(blob, sequence.kernel), blob.tasks[sequence.kernel].args_format
    try:
        kinds = [entry.kind for entry in parse_args_format(text)]
    except FormatError as error:
        what = f"has the args format {text!r}, which cannot be read: {error.what}"
        yield Finding(Level.ERROR, "check.sink-tiling-data", where, what, _AGAIN)
        return
    count = kinds.count(ArgKind.TILING_DATA)
    if count != 1:
        what = f"has {count} addresses of tiling data among its arguments, it needs one"
        yield Finding(Level.ERROR, "check.sink-tiling-data", where, what, _AGAIN)
    elif ArgKind.WORKSPACE not in kinds[max(kinds.index(ArgKind.TILING_DATA) - 1, 0) :][:1]:
        what = "has the address of its tiling data elsewhere than directly behind a workspace"
        yield Finding(Level.ERROR, "check.sink-tiling-data", where, what, _AGAIN)
