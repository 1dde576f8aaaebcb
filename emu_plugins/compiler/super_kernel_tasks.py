"""Tasks of a super kernel: one launch for its operators, with the tiling tasks in front of it.

Mirrors the vendor's `GenerateTaskSuperKernel` and `SuperKernelTaskBuilder` (`reference/tiling_sink_compiler.md` 8.2,
8.4). There is no wait, NOP, update or record: the launch itself polls the event word that the tiling task sets, and
reads key and block dim through its arguments. Behind the last workspace of a sinking operator stand tiling data,
tiling key, block dim and event address, in this order; a `{t}` or `{t_ffts…}` there is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import ArgEntry, ArgKind, for_sub_operator, format_args, parse_args_format
from emu_plugins.compiler.sink_step import SinkStepError, sink_kernel_format
from formats.blob.model import BlobTask, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emu_plugins.compiler.super_kernel import SuperKernel
    from emu_plugins.compiler.tasks import NodePlan, TaskWriter

STAGE = "super_kernel"
_REPLACED = frozenset({ArgKind.TILING, ArgKind.TILING_FFTS})


def sub_kernel_format(entries: tuple[ArgEntry, ...], event: int) -> tuple[ArgEntry, ...]:
    """Args format of a sinking operator inside a super kernel.

    Raises:
        SinkStepError: `graph.sink-workspace`: there is no workspace entry.
    """
    found = sink_kernel_format(entries)
    at = max(i for i, entry in enumerate(found) if entry.kind is ArgKind.TILING_DATA) + 1
    stale = at < len(found) and found[at].kind in _REPLACED and len(found) > len(entries)
    more = (ArgEntry(ArgKind.TILING_KEY), ArgEntry(ArgKind.BLOCK_DIM), ArgEntry(ArgKind.EVENT_ADDR, event))
    return (*found[:at], *more, *found[at + stale :])


def sub_tiling_format(event: int) -> tuple[ArgEntry, ...]:
    """Args format of the tiling task: the event address in the place of the placeholder, and no log workspace."""
    return (ArgEntry(ArgKind.TILING_CONTEXT), ArgEntry(ArgKind.OP_TYPE), ArgEntry(ArgKind.EVENT_ADDR, event))


@dataclass(frozen=True)
class SuperKernelWriter:
    """Writes the tasks of one super kernel."""

    writer: TaskWriter
    kernel: SuperKernel
    plans: Sequence[NodePlan]

    def tasks(self) -> Iterator[BlobTask]:
        """Waits of all operators, tiling tasks in their order, the launch, records."""
        for plan in self.plans:
            yield from self.writer.waits(plan)
        yield from (task for plan in self.plans if self._sinks(plan) for task in self._tiling(plan))
        main = self.plans[0].resources.main
        yield BlobTask(
            TaskType.SUPER_KERNEL,
            main,
            block_dim=max(plan.params.tiling.block_dim for plan in self.plans),
            kernel_type=KernelType.TE,
            args_format=format_args(entry for plan in self.plans for entry in self._sub_entries(plan)),
            node=self.kernel.name,
            made_by=STAGE,
        )
        for plan in self.plans:
            yield from self.writer.records(plan)

    def _sinks(self, plan: NodePlan) -> bool:
        return self.writer.program.sinks(plan.bound)

    def _tiling(self, plan: NodePlan) -> Iterator[BlobTask]:
        """The tiling task of one operator, hoisted in front of the launch."""
        attached, event = plan.resources.attached, plan.resources.event
        if attached is None or event is None:
            self.writer.refuse(plan, self.writer.no_resources())
            return
        task = self.writer.tiling_task(plan, attached)
        text = format_args(for_sub_operator(sub_tiling_format(event), plan.op))
        yield replace(task, args_format=text, made_by=STAGE)

    def _sub_entries(self, plan: NodePlan) -> tuple[ArgEntry, ...]:
        """Entries of one operator in the format of the launch; its id is its index among the operators of the blob."""
        entries = parse_args_format(self.writer.base_tasks(plan)[-1].args_format)
        event = plan.resources.event
        if self._sinks(plan) and event is not None:
            try:
                entries = sub_kernel_format(entries, event)
            except SinkStepError as error:
                self.writer.refuse(plan, error)
        return for_sub_operator(entries, plan.op)
