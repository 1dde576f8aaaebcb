"""The rules of a super kernel (`reference/tiling_sink_compiler.md` 8.2, 8.4), each with id `check.super-kernel`.

| rule | because |
|---|---|
| its args format can be read, and each entry belongs to an operator | the loader refuses it else |
| a sinking operator is passed tiling data, tiling key, block dim and event address, in this order | it takes them so |
| it has one tiling task, earlier in the list, with the same event | the launch would poll a word that nobody sets |
| nothing orders that tiling task behind the launch | the two would wait for each other |
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.checks.operators import place, tasks_of_operators
from emu_plugins.checks.order import order_of
from emu_plugins.compiler.args_format import ArgKind, parse_args_format
from formats.blob.model import TaskType
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from emu_plugins.checks.operators import Tasks
    from emu_plugins.checks.order import Order
    from emu_plugins.compiler.args_format import ArgEntry
    from formats.blob.model import Blob

_ID, _AGAIN = "check.super-kernel", "compile the graph again"
TOLD = (ArgKind.TILING_DATA, ArgKind.TILING_KEY, ArgKind.BLOCK_DIM, ArgKind.EVENT_ADDR)
"""What a sinking operator is passed behind its last workspace."""


def super_kernels(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """An error per broken rule of each super kernel."""
    del chip, policies, host
    launches = [index for index, task in enumerate(blob.tasks) if task.type == TaskType.SUPER_KERNEL]
    if not launches:
        return
    order, tasks = order_of(blob), tasks_of_operators(blob)
    for launch in launches:
        for what, remedy in _of_launch(order, tasks, launch):
            yield Finding(Level.ERROR, _ID, place(blob, launch), what, remedy)


def _of_launch(order: Order, tasks: Mapping[int, Tasks], launch: int) -> Iterator[tuple[str, str]]:
    blob = order.blob
    text = blob.tasks[launch].args_format
    try:
        entries = parse_args_format(text)
    except FormatError as error:
        yield f"has the args format {text!r}, which cannot be read: {error.what}", _AGAIN
        return
    for sub, group in groupby(entries, key=lambda entry: entry.sub):
        mine = tuple(group)
        if sub is None or sub >= len(blob.ops):
            yield f"passes {mine[0].token()}, which belongs to no operator of the program", _AGAIN
        elif blob.ops[sub].sink:
            yield from _sinking(order, tasks[sub], launch, mine)


def _sinking(order: Order, tasks: Tasks, launch: int, entries: Sequence[ArgEntry]) -> Iterator[tuple[str, str]]:
    told = tuple(entry.kind for entry in entries if entry.kind in TOLD)
    if told != TOLD:
        passed = ", ".join(kind.value for kind in told) or "nothing"
        wanted = ", ".join(kind.value for kind in TOLD)
        yield f"passes {passed} to {tasks.name}, whose tiling sinks and needs {wanted}", _AGAIN
        return
    if len(tasks.tilings) != 1:
        yield f"polls the event word of {tasks.name}, which has {len(tasks.tilings)} tiling tasks", _AGAIN
        return
    tiling = tasks.tilings[0]
    if tiling > launch:
        yield f"stands before {place(order.blob, tiling)} in the list: the loader needs that one first", _AGAIN
    event = _event(entries)
    if _event(parse_args_format(order.blob.tasks[tiling].args_format)) != event:
        yield f"polls the word of event {event} for {tasks.name}, whose tiling task sets another one", _AGAIN
    if order.before(launch, tiling):
        what = f"polls for {place(order.blob, tiling)}, which waits until this launch has ended"
        yield what, "leave the producer of the value out of the super kernel"


def _event(entries: Sequence[ArgEntry]) -> int | None:
    """The event whose word the entries name, or None."""
    return next((entry.index for entry in entries if entry.kind is ArgKind.EVENT_ADDR), None)
