"""The task list.

Mirrors the vendor's `GenerateOpExtTask` and `GenerateTaskForSinkOp` with `CreateTilingTask`, `CreateWaitTask`,
`CreateNopTask`, `CreateRefreshTask` and `CreateRecordTask` (`reference/tiling_sink_compiler.md` 7, seed 4.3). List
order of a sinking operator, policy `sink_run_order` = `patch_first`:

`PREPROCESS_KERNEL → EVENT_WAIT → NOP × N → kernel → UPDATE → EVENT_RECORD`

The list is the order of loading. The run order follows from the streams: tiling, update and record on the
attached one, wait, bubbles and kernel on the main one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import ALL, ArgEntry, ArgKind, format_args
from emu_plugins.compiler.attributes import CORE_TYPE, DISABLE_ATTACHED
from emu_plugins.compiler.ffts_plus import SINK_KERNEL_TASKS, kernel_task_type
from emu_plugins.compiler.libraries import TILING_FUNCTION, tiling_library
from emu_plugins.compiler.sink_step import SinkStepError, insert_sink_tasks
from emu_plugins.compiler.split_kernels import refusal, split
from emu_plugins.compiler.streams import MAIN_STREAM
from emu_plugins.compiler.streams import STAGE as STREAMS_STAGE
from emu_plugins.compiler.super_kernel_tasks import SuperKernelWriter
from formats.blob.model import BLOCK_DIM_PLACEHOLDER, BlobTask, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emu_core.chips import Chip
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.program import Program
    from emu_plugins.compiler.report import Report
    from emu_plugins.compiler.running_params import RunningParams
    from emu_plugins.compiler.sink import Tiling
    from emu_plugins.compiler.streams import Resources
    from emu_plugins.compiler.super_kernel import SuperKernel

STAGE = "tasks"
UPDATE_FORMAT = format_args((ArgEntry(ArgKind.TILING_KEY), ArgEntry(ArgKind.BLOCK_DIM)))


@dataclass(frozen=True)
class NodePlan:
    """A node with everything decided about it; `op` and `kernel` are indices into the blob."""

    bound: BoundNode
    way: Tiling
    params: RunningParams
    resources: Resources
    op: int
    kernel: int


def nop_count(chip: Chip, policies: PolicySet) -> int:
    """Bubbles between wait and kernel, by policy `nop_count`: the chip's number of one source, or a given number."""
    value = policies["nop_count"]
    by_source = {"seed": chip.prefetch_num, "platform": chip.platform_prefetch_num}
    return by_source[value] if value in by_source else int(value)


def kernel_format(plan: NodePlan, *, sinks: bool, unknown: bool = False) -> tuple[ArgEntry, ...]:
    """Args format of the AI Core task as FE writes it before the sink step (`tiling_sink_compiler.md` 7.4).

    Absent optional inputs keep their entry, without star; dynamic ones are passed by descriptor. `{t}` stands for
    tiling data computed before the launch; a sinking operator has none. The log workspace is no argument of the kernel.
    An operator of `unknown` shape has as many workspaces as each launch needs.
    """
    inputs = _input_entries(plan.bound)
    outputs = [ArgEntry(ArgKind.OUTPUT, k) for k in range(len(plan.bound.node.outputs))]
    numbers = (ALL,) if unknown else range(plan.params.kernel_workspaces)
    workspaces = [ArgEntry(ArgKind.WORKSPACE, k) for k in numbers]
    tiling = [] if sinks else [ArgEntry(ArgKind.TILING)]
    return (*inputs, *outputs, *workspaces, *tiling)


def _input_entries(bound: BoundNode) -> list[ArgEntry]:
    """One entry per IR input."""
    first = {ir: bound.node.inputs[slot] for slot, ir in reversed(tuple(enumerate(bound.ir_of)))}
    return [
        ArgEntry(ArgKind.INPUT_DESC, k, folded=True)
        if declared.dynamic
        else ArgEntry(ArgKind.INPUT, k, folded=first[k] is None)
        for k, declared in enumerate(bound.spec.inputs)
    ]


def tiling_format(plan: NodePlan) -> tuple[ArgEntry, ...]:
    """Args format of the tiling task; an operator with a library of its own passes its log workspace as well."""
    base = (ArgEntry(ArgKind.TILING_CONTEXT), ArgEntry(ArgKind.OP_TYPE), ArgEntry(ArgKind.PLACEHOLDER))
    log = (ArgEntry(ArgKind.WORKSPACE, len(plan.params.workspaces) - 1),) if plan.params.log_workspace else ()
    return (*base, *log)


@dataclass(frozen=True)
class TaskWriter:
    """Writes the tasks of one program."""

    program: Program
    report: Report
    fused: tuple[SuperKernel, ...] = ()

    def graph_tasks(self, plans: tuple[NodePlan, ...]) -> tuple[BlobTask, ...]:
        """The tasks of all nodes in order, and the end of the model; what cannot be written is noted as a problem."""
        listed = [task for unit in self._units(plans) for task in unit]
        return (*listed, BlobTask(TaskType.MODEL_END_GRAPH, MAIN_STREAM, made_by=STAGE))

    def _units(self, plans: tuple[NodePlan, ...]) -> Iterator[Iterator[BlobTask]]:
        """Tasks by node, or by super kernel in the place of its first operator."""
        by_name = {plan.bound.node.name: plan for plan in plans} if self.fused else {}
        first = {kernel.members[0]: kernel for kernel in self.fused}
        inner = {name for kernel in self.fused for name in kernel.members[1:]}
        for plan in plans:
            name = plan.bound.node.name
            if name in first:
                members = [by_name[each] for each in first[name].members]
                yield SuperKernelWriter(self, first[name], members).tasks()
            elif name not in inner:
                yield self.node_tasks(plan)

    def node_tasks(self, plan: NodePlan) -> Iterator[BlobTask]:
        """The tasks of one node, with the events that other streams need before and after."""
        yield from self.waits(plan)
        yield from self._own_tasks(plan)
        yield from self.records(plan)

    @staticmethod
    def waits(plan: NodePlan) -> Iterator[BlobTask]:
        """Waits for events of other streams, before the operator's own tasks."""
        found = plan.resources
        yield from _events(plan, TaskType.EVENT_WAIT, found.main, found.main_waits)
        if found.attached is not None:
            yield from _events(plan, TaskType.EVENT_WAIT, found.attached, found.waits)

    @staticmethod
    def records(plan: NodePlan) -> Iterator[BlobTask]:
        """Records of events for other streams, behind the operator's own tasks."""
        found = plan.resources
        yield from _events(plan, TaskType.EVENT_RECORD, found.main, found.records)
        if found.attached is not None:
            yield from _events(plan, TaskType.EVENT_RECORD, found.attached, found.attached_records)

    def base_tasks(self, plan: NodePlan) -> tuple[BlobTask, ...]:
        """What FE's task builder writes before the sink step: the kernel."""
        sinks = self.program.sinks(plan.bound)
        task = BlobTask(
            kernel_task_type(plan.bound, plan.params.ffts_plus),
            plan.resources.main,
            kernel=plan.kernel,
            block_dim=plan.params.tiling.block_dim,
            kernel_type=KernelType.TE,
            schem=plan.params.tiling.schedule_mode,
            args_format=format_args(kernel_format(plan, sinks=sinks, unknown=self._unknown(plan))),
        )
        return split(_of(plan, task), plan.bound, plan.resources, self.program.chip)

    def _unknown(self, plan: NodePlan) -> bool:
        """The operator has a tensor whose shape is known at run time only."""
        return bool(self.program.marks[plan.bound.node.name].unknown_shape)

    def _own_tasks(self, plan: NodePlan) -> tuple[BlobTask, ...]:
        base = self.base_tasks(plan)
        if (plan.bound.on_vector_core or plan.bound.split_type) and not self.program.chip.vector_cores:
            what = f"the kernel is to run on vector cores of their own, and {self.program.chip.name} has none"
            self.refuse(plan, SinkStepError("graph.kernel", what, f"drop {CORE_TYPE}"))
        elif plan.bound.split_type is not None:
            what, remedy = refusal(plan.bound, self.program.chip, sinks=self.program.sinks(plan.bound))
            if what:
                self.refuse(plan, SinkStepError("graph.kernel", what, remedy))
                return base
        if not self.program.sinks(plan.bound):
            return base
        try:
            return self._sink_tasks(plan, base)
        except SinkStepError as error:
            self.refuse(plan, error)
            return base

    @staticmethod
    def no_resources() -> SinkStepError:
        """A sinking operator was not given what it asked for."""
        what = "the operator sinks and has not exactly one attached stream and one event"
        return SinkStepError("graph.sink-resources", what, f"drop {DISABLE_ATTACHED}, or turn the sink off")

    def refuse(self, plan: NodePlan, error: SinkStepError) -> None:
        """Note that tasks of the node cannot be written."""
        self.report.problem(error.id, error.what, plan.bound.place(), error.remedy)

    def _sink_tasks(self, plan: NodePlan, base: tuple[BlobTask, ...]) -> tuple[BlobTask, ...]:
        main, attached, event = plan.resources.main, plan.resources.attached, plan.resources.event
        if attached is None or event is None:
            raise self.no_resources()
        policies = self.program.policies
        nop = BlobTask(TaskType.NOP, main, node=plan.bound.node.name, made_by=STAGE)
        before = (
            self.tiling_task(plan, attached),
            _event_task(plan, TaskType.EVENT_WAIT, main, event, STAGE),
            *[nop] * nop_count(self.program.chip, policies),
        )
        refresh = _of(plan, BlobTask(TaskType.UPDATE, attached, args_format=UPDATE_FORMAT))
        record = _event_task(plan, TaskType.EVENT_RECORD, attached, event, STAGE)
        behind = _RUN_ORDERS[policies["sink_run_order"]](refresh, record)
        if policies["block_dim_placeholder"] == "seed":
            base = tuple(replace(task, block_dim=BLOCK_DIM_PLACEHOLDER) for task in base)
        return insert_sink_tasks(base, before, behind, SINK_KERNEL_TASKS[policies["sink_kernel_task"]])

    def tiling_task(self, plan: NodePlan, attached: int) -> BlobTask:
        """The task that tiles on the AI CPU, on stream `attached`."""
        bound = plan.bound
        return _of(
            plan,
            BlobTask(
                TaskType.PREPROCESS_KERNEL,
                attached,
                kernel_type=KernelType.CUST_AI_CPU if bound.own_library else KernelType.AI_CPU,
                args_format=format_args(tiling_format(plan)),
                so_name=tiling_library(self.program.chip, custom=bound.custom, prefix=bound.prefix),
                kernel_name=TILING_FUNCTION,
            ),
        )


def _of(plan: NodePlan, task: BlobTask) -> BlobTask:
    return replace(task, op=plan.op, node=plan.bound.node.name, made_by=STAGE)


def _events(plan: NodePlan, kind: TaskType, stream: int, events: tuple[int, ...]) -> Iterator[BlobTask]:
    return (_event_task(plan, kind, stream, event, STREAMS_STAGE) for event in events)


def _event_task(plan: NodePlan, kind: TaskType, stream: int, event: int, made_by: str) -> BlobTask:
    return replace(_of(plan, BlobTask(kind, stream, event_id=event)), made_by=made_by)


_RUN_ORDERS: Mapping[str, Callable[[BlobTask, BlobTask], tuple[BlobTask, BlobTask]]] = MappingProxyType(
    {"patch_first": lambda refresh, record: (refresh, record), "picture": lambda refresh, record: (record, refresh)}
)
"""Tasks behind the kernel by value of policy `sink_run_order`; `picture` records before it patches."""
