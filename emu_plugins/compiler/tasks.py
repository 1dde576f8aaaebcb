"""The task list.

Mirrors the vendor's `GenerateTaskForSinkOp` with `CreateTilingTask`, `CreateWaitTask`, `CreateNopTask`,
`CreateRefreshTask` and `CreateRecordTask` (`reference/tiling_sink_compiler.md` 7.2 and 7.3, seed 4.3). List
order of a sinking operator, policy `sink_run_order` = `patch_first`:

`PREPROCESS_KERNEL → EVENT_WAIT → NOP × N → ALL_KERNEL → UPDATE → EVENT_RECORD`

The list is the order of loading. The run order follows from the streams: tiling, update and record on the
attached one, wait, bubbles and kernel on the main one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import ArgEntry, ArgKind, format_args
from emu_plugins.compiler.sink import Tiling
from emu_plugins.compiler.streams import MAIN_STREAM
from emu_plugins.compiler.streams import STAGE as STREAMS_STAGE
from formats.blob.model import BLOCK_DIM_PLACEHOLDER, BlobTask, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emu_core.chips import Chip
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.running_params import RunningParams
    from emu_plugins.compiler.streams import Resources

STAGE = "tasks"
TILING_FUNCTION = "RunAicpuRpcSrvLaunch"
BUILT_IN_DIRECTORY = "opp/built-in/op_impl/ai_core/tbe/op_master_device/lib"
CUSTOM_LIBRARY = "opp/vendors/customize/op_impl/ai_core/tbe/op_master_device/lib/libcust_opmaster.so"
_PRODUCT_PREFIX: Mapping[str, str] = MappingProxyType({"310P": "Ascend310P"})
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


def tiling_library(chip: Chip, *, custom: bool) -> str:
    """Path of the device tiling library, relative to the installation (`tiling_sink_compiler.md` 7.3)."""
    prefix = _PRODUCT_PREFIX.get(chip.product, "Ascend")
    return CUSTOM_LIBRARY if custom else f"{BUILT_IN_DIRECTORY}/{prefix}-v1.0-libopmaster.so"


def kernel_format(plan: NodePlan) -> tuple[ArgEntry, ...]:
    """Args format of the AI Core task as FE writes it before the sink step (`tiling_sink_compiler.md` 7.4).

    Absent optional inputs keep their entry, without star. `{t}` stands for tiling data computed before the launch;
    a sinking operator has none. The log workspace is no argument of the kernel.
    """
    inputs = [ArgEntry(ArgKind.INPUT, k, folded=name is None) for k, name in enumerate(plan.bound.node.inputs)]
    outputs = [ArgEntry(ArgKind.OUTPUT, k) for k in range(len(plan.bound.node.outputs))]
    workspaces = [ArgEntry(ArgKind.WORKSPACE, k) for k in range(plan.params.kernel_workspaces)]
    tiling = [] if plan.way is Tiling.DEVICE else [ArgEntry(ArgKind.TILING)]
    return (*inputs, *outputs, *workspaces, *tiling)


def sink_kernel_format(entries: tuple[ArgEntry, ...]) -> tuple[ArgEntry, ...]:
    """`entries` with the address of the tiling data right behind the last workspace, where a plain `{t}` survives.

    Raises:
        ValueError: no workspace entry; the running parameters refuse that before.
    """
    at = max(i for i, entry in enumerate(entries) if entry.kind is ArgKind.WORKSPACE) + 1
    return (*entries[:at], ArgEntry(ArgKind.TILING_DATA), *entries[at:])


def tiling_format(plan: NodePlan) -> tuple[ArgEntry, ...]:
    """Args format of the tiling task; a custom operator passes its log workspace as well."""
    base = (ArgEntry(ArgKind.TILING_CONTEXT), ArgEntry(ArgKind.OP_TYPE), ArgEntry(ArgKind.PLACEHOLDER))
    log = (ArgEntry(ArgKind.WORKSPACE, len(plan.params.workspaces) - 1),) if plan.params.log_workspace else ()
    return (*base, *log)


@dataclass(frozen=True)
class TaskWriter:
    """Writes the tasks of one graph."""

    chip: Chip
    policies: PolicySet

    def graph_tasks(self, plans: tuple[NodePlan, ...]) -> tuple[BlobTask, ...]:
        """The tasks of all nodes in order, and the end of the model."""
        listed = [task for plan in plans for task in self.node_tasks(plan)]
        return (*listed, BlobTask(TaskType.MODEL_END_GRAPH, MAIN_STREAM, made_by=STAGE))

    def node_tasks(self, plan: NodePlan) -> Iterator[BlobTask]:
        """The tasks of one node, with the events that other streams need before and after."""
        for event in plan.resources.waits:
            assert plan.resources.attached is not None
            yield _event_task(plan, TaskType.EVENT_WAIT, plan.resources.attached, event, STREAMS_STAGE)
        if plan.way is Tiling.DEVICE:
            yield from self._sink_tasks(plan)
        else:
            yield self._kernel_task(plan, kernel_format(plan))
        for event in plan.resources.records:
            yield _event_task(plan, TaskType.EVENT_RECORD, plan.resources.main, event, STREAMS_STAGE)

    def _sink_tasks(self, plan: NodePlan) -> Iterator[BlobTask]:
        main, attached, event = plan.resources.main, plan.resources.attached, plan.resources.event
        assert attached is not None
        assert event is not None
        yield self._tiling_task(plan, attached)
        yield _event_task(plan, TaskType.EVENT_WAIT, main, event, STAGE)
        for _ in range(nop_count(self.chip, self.policies)):
            yield BlobTask(TaskType.NOP, main, node=plan.bound.node.name, made_by=STAGE)
        yield self._sink_kernel_task(plan)
        refresh = _of(plan, BlobTask(TaskType.UPDATE, attached, args_format=UPDATE_FORMAT))
        record = _event_task(plan, TaskType.EVENT_RECORD, attached, event, STAGE)
        yield from _RUN_ORDERS[self.policies["sink_run_order"]](refresh, record)

    def _tiling_task(self, plan: NodePlan, attached: int) -> BlobTask:
        custom = plan.bound.custom
        return _of(
            plan,
            BlobTask(
                TaskType.PREPROCESS_KERNEL,
                attached,
                kernel_type=KernelType.CUST_AI_CPU if custom else KernelType.AI_CPU,
                args_format=format_args(tiling_format(plan)),
                so_name=tiling_library(self.chip, custom=custom),
                kernel_name=TILING_FUNCTION,
            ),
        )

    def _kernel_task(self, plan: NodePlan, entries: tuple[ArgEntry, ...]) -> BlobTask:
        return _of(
            plan,
            BlobTask(
                TaskType.ALL_KERNEL,
                plan.resources.main,
                kernel=plan.kernel,
                block_dim=plan.params.tiling.block_dim,
                kernel_type=KernelType.TE,
                args_format=format_args(entries),
            ),
        )

    def _sink_kernel_task(self, plan: NodePlan) -> BlobTask:
        task = self._kernel_task(plan, sink_kernel_format(kernel_format(plan)))
        placeholder = self.policies["block_dim_placeholder"] == "seed"
        return replace(task, block_dim=BLOCK_DIM_PLACEHOLDER) if placeholder else task


def _of(plan: NodePlan, task: BlobTask) -> BlobTask:
    return replace(task, op=plan.op, node=plan.bound.node.name, made_by=STAGE)


def _event_task(plan: NodePlan, kind: TaskType, stream: int, event: int, made_by: str) -> BlobTask:
    return replace(_of(plan, BlobTask(kind, stream, event_id=event)), made_by=made_by)


_RUN_ORDERS: Mapping[str, Callable[[BlobTask, BlobTask], tuple[BlobTask, BlobTask]]] = MappingProxyType(
    {"patch_first": lambda refresh, record: (refresh, record), "picture": lambda refresh, record: (record, refresh)}
)
"""Tasks behind the kernel by value of policy `sink_run_order`; `picture` records before it patches."""
