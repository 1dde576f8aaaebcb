"""AI Core engine: launches the kernel its program counter points at.

The entry and device memory are all it looks at (`sqe_formats.md` 4.1):

| read from | what |
|---|---|
| SQE `block_dim` | number of blocks; 0xFFFF is the placeholder of a task update that has not come |
| SQE `pc_addr` | address of a 64-byte kernel descriptor: kernel id, tiling key, core type |
| SQE `param_addr` | argument block: one 64-bit word per argument |
| SQE `schem` | 0: blocks start one by one as cores become free; 1: all at once, or not yet |
| the kernel | found by the descriptor's id among the registered ones; or a super kernel (`super_kernel`) |

Each block takes its share of the launch's time on one core, so more blocks than cores run in waves
(`emu_core.cores`). A batch of more blocks than the chip has cores never starts (policy `schem_batch_overflow`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.cores import Demand, units_of
from emu_core.engine_guard import at_line
from emu_core.engines import Effect, Handler, Launch, Limit, Outcome, Run
from emu_core.errors import DeviceFault, PluginError, SqemuError
from emu_core.kernels import KernelLaunch
from emu_core.memory import TaskMemory
from emu_core.trace import PipeUsed
from emu_plugins.engines import credits as budget
from formats.enums import CMO_TYPES
from formats.runtime import KERNEL_MAGIC, SUPER_KERNEL_MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.kernels import KernelSpec, Mix

    T = TypeVar("T")

TYPE = 0
PLACEHOLDER = 0xFFFF
MOST_BLOCKS = 2 * (PLACEHOLDER - 1)
"""Blocks of both parts of a split kernel together."""
DESCRIPTOR_BYTES = 64

AI_VECTOR = 1
SELECT = ("AicoreKernelSqe", "ffts_type")
BATCH = 1


@dataclass(frozen=True)
class KernelEntry:
    """Names of a kernel entry: its layout, and the fields of program counter and argument block."""

    struct: str
    pc: str
    args: str


V100 = KernelEntry("AicoreKernelSqe", "pc_addr", "param_addr")


class AiCore:
    """The engine of one device."""

    def __init__(self, device: Device) -> None:
        self._descriptor = device.runtime_layout("KernelDescriptor")
        self._kernels = {spec.key: spec for spec in device.host.kernels.values()}

    def start(self, task: Task) -> Outcome:
        """Check the entry, find the kernel, and say how long it runs; cache maintenance and barriers do nothing."""
        if task.field("CmoKernelSqe", "cmo"):
            operation = CMO_TYPES.get(task.field("CmoKernelSqe", "cmo_type"), "operation").lower().replace("_", " ")
            return Run(task.device.chip.latencies.nop_ns, detail=f"cache {operation}: no effect")
        return self.launch(task, V100)

    def launch(self, task: Task, entry: KernelEntry, mix: Mix | None = None) -> Outcome:
        """What `start` does, by the field names of `entry`; `mix` is how it says a block uses both kinds of cores."""
        block_dim, pc = task.field(entry.struct, "block_dim"), task.field(entry.struct, entry.pc)
        check_block_dim(block_dim)
        head = self._descriptor_at(task, pc)
        if head is not None and head["magic"] == SUPER_KERNEL_MAGIC:
            return self._super_kernel(task, entry, pc, head)
        spec, key = self.resolve(task, pc)
        check_part(pc, head)
        launch = KernelLaunch(
            task.memory,
            task.field(entry.struct, entry.args) & (1 << 52) - 1,
            block_dim,
            key,
            task.device.chip,
            task.device.policies,
            mix.secondary if mix else 0,
            head["first_block"] if head else 0,
            head["blocks"] if head else 0,
        )
        demand = demand_of(spec, launch, batch=task.field(entry.struct, "schem") == BATCH, mix=mix)
        check_batch(task, demand)
        detail = f"{spec.name} key {key} block dim {block_dim}"
        facts: dict[str, int | str] = {"kernel": spec.name, "tiling_key": key, "block_dim": block_dim}
        facts |= facts_of(spec, replace(launch, memory=TaskMemory(task.device.memory)))
        return Launch(
            task.device.chip.latencies.ai_core_launch_ns,
            task.device.cores,
            demand,
            lambda: run_and_tell(task, spec, launch),
            detail,
            facts,
        )

    def _super_kernel(self, task: Task, entry: KernelEntry, pc: int, head: Mapping[str, int]) -> Outcome:
        from emu_plugins.engines import super_kernel  # noqa: PLC0415 - it builds on this module

        limit = budget.task_limit(task)
        return super_kernel.start(self, task, entry, pc, head, limit.ns if limit else 0)

    def _descriptor_at(self, task: Task, pc: int) -> Mapping[str, int] | None:
        """The words of a descriptor at `pc`; None when no memory is there."""
        found = task.device.memory.find(pc)
        if found is None or pc + DESCRIPTOR_BYTES > found.end:
            return None
        return self._descriptor.parse(task.device.memory.read(pc, DESCRIPTOR_BYTES))

    def resolve(self, task: Task, pc: int) -> tuple[KernelSpec, int]:
        """The kernel that starts at `pc`, and its tiling key; `DeviceFault` when there is none."""
        entry = self._descriptor_at(task, pc)
        if entry is None or entry["magic"] != KERNEL_MAGIC:
            raise _fault(f"no kernel entry lies at PC {pc:#x}", "kernel.bad-pc")
        spec = self._kernels.get(entry["kernel_key"])
        if spec is None:
            raise _fault(f"no registered kernel has the id {entry['kernel_key']:#x} at PC {pc:#x}", "kernel.unknown")
        if spec.products and task.device.chip.product not in spec.products:
            raise _fault(f"kernel {spec.name} has no binary for {task.device.chip.product}", "kernel.product")
        return spec, entry["tiling_key"]


def check_part(pc: int, head: Mapping[str, int] | None) -> None:
    """Nothing when the blocks of all parts of a split kernel can be, by the words of its descriptor.

    Raises:
        DeviceFault: more than two launches can have: something overwrote the descriptor (`kernel.bad-pc`).
    """
    if head is not None and max(head["first_block"], head["blocks"]) > MOST_BLOCKS:
        raise _fault(
            f"the kernel entry at PC {pc:#x} says block {head['first_block']} of {head['blocks']}: that is too many",
            "kernel.bad-pc",
        )


def check_batch(task: Task, demand: Demand) -> None:
    """A batch of more blocks than the chip has cores: `kernel.batch-overflow` if policy `schem_batch_overflow` says so.

    Raises:
        DeviceFault: see above (TS 0x106).
    """
    device = task.device
    if not demand.batch or device.cores.ever_fits(demand) or device.policies["schem_batch_overflow"] != "error":
        return
    raise _fault(
        f"a batch of {demand.blocks} blocks can never start: the chip has {device.cores.capacity}",
        "kernel.batch-overflow",
        codes.SQE_ERROR,
        8,
    )


def demand_of(spec: KernelSpec, launch: KernelLaunch, *, batch: bool, mix: Mix | None = None) -> Demand:
    """Cores per block, and the time of one block on one core: its share of the slower of arithmetic and memory."""
    return _guarded(spec, lambda: _demand(spec, launch, batch=batch, mix=mix))


def _demand(spec: KernelSpec, launch: KernelLaunch, *, batch: bool, mix: Mix | None) -> Demand:
    cost, chip = spec.cost(launch), launch.chip
    cycles = max(
        Fraction(cost.flops) / chip.cube_flops_per_cycle,
        Fraction(cost.bytes) / chip.ddr_bytes_per_cycle,
    )
    share = cycles * 1000 / chip.cube_mhz / launch.all_blocks
    return Demand(units_of(spec.core_type, chip, mix), launch.block_dim, share, batch, spec.sync_all)


def facts_of(spec: KernelSpec, launch: KernelLaunch) -> dict[str, int | str]:
    """What the kernel itself says of `launch`; nothing for a kernel without `facts`.

    Its memory reports no unwritten bytes: that is left to the reads of the run itself.
    """
    told = spec.facts
    return {} if told is None else dict(_guarded(spec, lambda: told(launch)))


def run_kernel(spec: KernelSpec, launch: KernelLaunch) -> None:
    """Execute all blocks of `launch`; what a kernel raises beside a fault is its plugin's error."""
    _guarded(spec, lambda: spec.run(launch))


def run_and_tell(task: Task, spec: KernelSpec, launch: KernelLaunch) -> None:
    """Execute `launch` of entry `task` and trace what its pipes did, so that the last use ends now."""
    run_kernel(spec, launch)
    trace, told = task.device.trace, spec.spans
    if told is None or not trace.wants(PipeUsed):
        return
    uses = _guarded(spec, lambda: tuple(told(launch)))
    started = task.device.clock.now - max((use.end for use in uses), default=0)
    origin = task.origin
    for use in uses:
        trace.add(
            PipeUsed(
                time=task.device.clock.now,
                run=task.run,
                stream=task.stream.id,
                slot=task.slot,
                task=task.task_id,
                node=origin.node,
                model_task=origin.model_task,
                core=use.core,
                pipe=use.pipe,
                started=started + use.start,
                ended=started + use.end,
                what=use.what,
            )
        )


def _limit(task: Task) -> Limit | None:
    vector = task.field("AicoreKernelSqe", "ffts_type") == AI_VECTOR
    return budget.limit(task, codes.VECTOR_TIMEOUT if vector else codes.AICORE_TIMEOUT)


def _guarded(spec: KernelSpec, call: Callable[[], T]) -> T:
    """Run plugin code; anything but a device fault is the plugin's own error."""
    try:
        return call()
    except (DeviceFault, SqemuError):
        raise
    except Exception as error:
        raise PluginError(
            f"kernel {spec.name} raised {type(error).__name__}: {error}{at_line(error)}",
            id="plugin.kernel-raised",
            remedy="a kernel reports bad input with DeviceFault; report this to the author of the plugin",
        ) from error


def _fault(what: str, fault_id: str, ts_code: int = 0, error_type: int = 1) -> DeviceFault:
    return DeviceFault(what, ts_code=ts_code, error_type=error_type, id=fault_id)


def check_block_dim(block_dim: int) -> None:
    """Nothing for a block dim that can run.

    Raises:
        DeviceFault: 0 (`kernel.block-dim-zero`), or 0xFFFF (`kernel.placeholder-block-dim`).
    """
    if block_dim == PLACEHOLDER:
        raise DeviceFault(
            "the kernel started with the placeholder block dim 0xFFFF: no task update had reached the entry that ran",
            ts_code=0,
            id="kernel.placeholder-block-dim",
            remedy="look at the stale-prefetch hazard, or at the order of update and record on the attached stream",
        )
    if not block_dim:
        raise DeviceFault("the kernel started with block dim 0", ts_code=0, id="kernel.block-dim-zero")


def handlers(device: Device) -> Iterable[Handler]:
    """The handlers of SQE type 0, but for FFTS+ entries; vector kernels have an exception code of their own."""
    engine = AiCore(device)
    rows = ((None, None, codes.AICORE_EXCEPTION), (AI_VECTOR, SELECT, codes.VECTOR_EXCEPTION))
    return tuple(
        Handler(
            "ai_core",
            "kernel",
            TYPE,
            engine.start,
            select=select,
            select_field=field,
            effect=Effect.RESOURCE,
            exception_code=code,
            limit=_limit,
        )
        for select, field, code in rows
    )
