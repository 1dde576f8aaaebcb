"""The sink step on a base task list: where the extra tasks go, and how the kernel's args format changes.

Mirrors the vendor's `GenerateTaskForSinkOp` with its rewriting of args formats (`reference/tiling_sink_compiler.md`
7.1, 7.2, 7.4). The base list is `H… A T…`, A its first task of an accepted type; the result

`H…  PREPROCESS_KERNEL  EVENT_WAIT  NOP × N  A'  UPDATE  EVENT_RECORD  T…`
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import ArgEntry, ArgKind, format_args, parse_args_format

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from formats.blob.model import BlobTask, TaskType


class SinkStepError(Exception):
    """The step cannot be done; `id` says why, `what` in words, `remedy` what to do."""

    def __init__(self, id: str, what: str, remedy: str) -> None:  # noqa: A002 - as everywhere an error is shown
        self.id = id
        self.what = what
        self.remedy = remedy
        super().__init__(what)


def sink_kernel_format(entries: tuple[ArgEntry, ...]) -> tuple[ArgEntry, ...]:
    """`entries` with the address of the tiling data behind the last workspace.

    A `{t_ffts…}` there is replaced; anything else stays behind it, a plain `{t}` too, as the vendor does it.

    Raises:
        SinkStepError: `graph.sink-workspace`: there is no workspace entry.
    """
    places = [i for i, entry in enumerate(entries) if entry.kind is ArgKind.WORKSPACE]
    if not places:
        raise SinkStepError(
            "graph.sink-workspace",
            "the kernel's args format has no workspace, behind which the tiling data is passed",
            "let the tiling function ask for a workspace",
        )
    at = places[-1] + 1
    replaced = at < len(entries) and entries[at].kind is ArgKind.TILING_FFTS
    return (*entries[:at], ArgEntry(ArgKind.TILING_DATA), *entries[at + replaced :])


def insert_sink_tasks(
    base: Sequence[BlobTask],
    before: Sequence[BlobTask],
    behind: Sequence[BlobTask],
    accepted: Collection[TaskType],
) -> tuple[BlobTask, ...]:
    """`base` with `before` and `behind` around its first task of an accepted type, whose args format is rewritten.

    Raises:
        SinkStepError: `graph.sink-kernel-task`: no such task; `graph.sink-workspace`, as :func:`sink_kernel_format`.
    """
    at = next((i for i, task in enumerate(base) if task.type in accepted), None)
    if at is None:
        names = ", ".join(sorted(each.name for each in accepted))
        raise SinkStepError(
            "graph.sink-kernel-task",
            f"the operator has no task that can be updated ({names})",
            "let it have a dynamic-shape binary (_kernel_list_first_name), or set policy sink_kernel_task=seed",
        )
    rewritten = format_args(sink_kernel_format(parse_args_format(base[at].args_format)))
    return (*base[:at], *before, replace(base[at], args_format=rewritten), *behind, *base[at + 1 :])
