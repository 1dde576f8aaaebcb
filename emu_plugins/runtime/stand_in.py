"""Timed stand-ins: what runs in the place of code that nobody here has.

A task list of another compiler names kernels and functions of the vendor. Their entries can be placed, launched and
timed, but there is nothing to compute. A stand-in takes its time on the right cores, and writes nothing: outputs stay
unwritten, and are reported so.

| stand-in | for | occupies |
|---|---|---|
| kernels `StandInCube`, `StandInVector`, `StandInMix` | AI Core kernels | cores, as many blocks as the task has |
| AI CPU function `StandIn` of `libsqemu_stand_in.so` | AI CPU functions, copies, other engines | an AI CPU thread |
| a NOP | tasks that take no time worth speaking of | a slot of the ring |

The first argument of the first two is the number of bytes that the operator reads and writes.

Policy `stand_in_time` decides how long one takes: `bytes` (its inputs and outputs at the memory rate of the cores it
runs on, that of one core for an AI CPU function: a lower bound), or a number of nanoseconds: of a block of a kernel, or
of a whole AI CPU function. The launch latency of the engine comes on top, as for all kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from emu_core.errors import InputError
from emu_core.kernels import AicpuKernelSpec, CoreType, Cost, KernelSpec
from emu_core.operators import InputSpec, OperatorSpec, OutputSpec
from formats.blob import BlobKernel, TaskType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.chips import Chip
    from emu_core.kernels import AicpuLaunch, KernelLaunch
    from formats.blob import Blob, BlobOp, BlobTask

POLICY = "stand_in_time"
BY_BYTES = "bytes"
MARK = "stand-in for "
"""What `made_by` of a task begins with that is a stand-in; the name of what it stands for and the reason follow."""
LIBRARY, FUNCTION = "libsqemu_stand_in.so", "StandIn"
"""The AI CPU function."""
KEY = 0
"""The one tiling key of the kernels."""


def _nothing(launch: KernelLaunch | AicpuLaunch) -> None:
    """What a stand-in computes."""
    del launch


def _cost(launch: KernelLaunch) -> Cost:
    """Bytes that take the time which the policy says."""
    chosen = launch.policies[POLICY]
    if chosen == BY_BYTES:
        return Cost(bytes=launch.arg(0))
    chip = launch.chip
    return Cost(bytes=-(-int(chosen) * launch.block_dim * chip.ddr_bytes_per_cycle * chip.cube_mhz // 1000))


def _aicpu_time(launch: AicpuLaunch) -> int:
    chosen = launch.policies[POLICY]
    return bandwidth_ns(launch.memory.u64(launch.args), launch.chip) if chosen == BY_BYTES else int(chosen)


def bandwidth_ns(count: int, chip: Chip) -> int:
    """Nanoseconds that `count` bytes take at the memory rate of one core of `chip`, rounded up."""
    return int(-(-count * 1000 // (chip.ddr_bytes_per_cycle * chip.cube_mhz)))


KERNELS: tuple[KernelSpec, ...] = tuple(
    KernelSpec(name, core, (KEY,), _nothing, _cost)
    for name, core in (("StandInCube", CoreType.AIC), ("StandInVector", CoreType.AIV), ("StandInMix", CoreType.MIX))
)
AICPU = AicpuKernelSpec(LIBRARY, FUNCTION, _nothing, _aicpu_time)
_NAMES = {kernel.core_type: kernel.name for kernel in KERNELS}
_KNOWN = frozenset(_NAMES.values())


def kernel_for(core: CoreType) -> BlobKernel:
    """The stand-in kernel on `core`, as a blob names it."""
    return BlobKernel(_NAMES[core], int(core), (KEY,))


@dataclass(frozen=True)
class StandIn:
    """A task that is a stand-in: its index, whose it is, the operator's type, what it stands for and why, and where.

    `engine` is `ai_core`, `ai_cpu` or `nop`.
    """

    task: int
    node: str
    op_type: str
    instead_of: str
    why: str
    engine: str


def stand_ins_of(blob: Blob) -> tuple[StandIn, ...]:
    """The stand-ins among the tasks of `blob`, in list order."""
    found = []
    for index, task in enumerate(blob.tasks):
        engine = _engine(blob, task) if task.made_by.startswith(MARK) or task.so_name else ""
        if engine:
            name, _, why = task.made_by.removeprefix(MARK).partition(": ")
            op_type = "" if task.op is None else blob.ops[task.op].type
            found.append(StandIn(index, task.node or f"task {index}", op_type, name, why, engine))
    return tuple(found)


def _engine(blob: Blob, task: BlobTask) -> str:
    """Where a stand-in runs; empty for a task that is none."""
    if task.kernel is not None and blob.kernels[task.kernel].name in _KNOWN:
        return "ai_core"
    if task.so_name == LIBRARY:
        return "ai_cpu"
    return "nop" if task.type == TaskType.NOP and task.made_by.startswith(MARK) else ""


def stand_in_ops(blob: Blob) -> frozenset[int]:
    """Operators that do nothing but stand in: at least one task of theirs does, and no other runs code."""
    if not any(kernel.name in _KNOWN for kernel in blob.kernels) and not any(t.so_name == LIBRARY for t in blob.tasks):
        return frozenset()
    real, standing = set(), set()
    for task in blob.tasks:
        if task.op is None:
            continue
        if _engine(blob, task):
            standing.add(task.op)
        elif task.kernel is not None or task.so_name:
            real.add(task.op)
    return frozenset(standing - real)


def stand_in_operator(op: BlobOp) -> OperatorSpec:
    """The registration of an operator that stands in: as many inputs and outputs as it has, and no tiling."""
    return OperatorSpec(
        type=op.type,
        inputs=tuple(InputSpec(f"x{i}", optional=True) for i in range(len(op.inputs))),
        outputs=tuple(OutputSpec(f"y{i}") for i in range(len(op.outputs))),
        infer=_no_code,
        tiling=_no_code,
        kernel="",
    )


def _no_code(*_arguments: object) -> NoReturn:
    raise _refused("an operator")


def refuse_stand_ins(blob: Blob) -> None:
    """Nothing for a blob whose operators all have code, as a host needs that tiles them and infers their shapes.

    Raises:
        InputError: an operator is a stand-in (`kernel.stand-in`).
    """
    found = sorted(stand_in_ops(blob))
    if found:
        raise _refused(f"operator {blob.ops[found[0]].name}")


def _refused(where: str) -> InputError:
    return InputError(
        "is a timed stand-in, whose shapes and tiling nobody can tell, so no host can schedule it",
        id="kernel.stand-in", where=where, remedy="load the operator's plugin, or run the model with --runtime v1",
    )  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Stand-ins of one kind: the operator type (or task type), the engine, why, and the nodes they are from."""

    what: str
    engine: str
    why: str
    nodes: tuple[str, ...]

    @property
    def where(self) -> str:
        """The engine in words."""
        return _WHERE[self.engine]

    @property
    def named(self) -> str:
        """The first few nodes, and how many more there are."""
        left = len(self.nodes) - _MOST_NAMED
        return ", ".join(self.nodes[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")

    def text(self) -> str:
        """One line."""
        return f"{self.what} {self.where} ({self.why}): {self.named}"


def grouped(stand_ins: Iterable[StandIn]) -> tuple[Group, ...]:
    """Stand-ins by operator type, engine and reason, in the order of the first one of each."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for each in stand_ins:
        found.setdefault((each.op_type or each.instead_of, each.engine, each.why), {})[each.node] = None
    return tuple(Group(*key, tuple(nodes)) for key, nodes in found.items())


_MOST_NAMED = 3
_WHERE = {"ai_core": "on cores", "ai_cpu": "on an AI CPU thread", "nop": "as a NOP"}
