"""Super kernels: one launch that runs its sub kernels in order (`reference/tiling_sink_compiler.md` 8, seed 4.4).

The program counter points at a descriptor with a magic of its own; one record per sub kernel lies behind it
(`formats.runtime.super_kernel`). Of a sub kernel whose tiling runs on the device the arguments hold four addresses:
tiling data, tiling key, block dim, event word. When the launch reaches head:

| | |
|---|---|
| an event word is 0 | the stream parks until the tiling task stores 1 there; the kernel's own time limit holds |
| all event words are set | each such sub kernel reads key and block dim through its arguments, and jumps by the key |
| the end | all sub kernels have run in order, and their event words are 0 again for the next execution |

Of our own: the launch takes its cores when the last word is set, not while it polls; a sub kernel with more blocks than
the launch has runs them in waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from emu_core.cores import Demand, units_of
from emu_core.engines import Launch, Wait
from emu_core.errors import DeviceFault
from emu_core.kernels import CoreType, KernelLaunch
from emu_core.signals import MEMORY, Signal
from emu_plugins.engines.ai_core import BATCH, check_batch, check_block_dim, demand_of, run_kernel
from formats.runtime import NO_WORD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.engines import Outcome, Task
    from emu_core.kernels import KernelSpec
    from emu_plugins.engines.ai_core import AiCore, KernelEntry

MOST_SUB_KERNELS = 4096
"""More records than this are taken for rubbish in memory; a limit of ours."""
DESCRIPTOR_BYTES = 64
EVENT_BYTES = 8


@dataclass(frozen=True)
class _Sub:
    """A sub kernel that is about to run, and the address of its event word (0: it has none)."""

    spec: KernelSpec
    launch: KernelLaunch
    event: int


def start(engine: AiCore, task: Task, entry: KernelEntry, pc: int, head: Mapping[str, int], limit_ns: int) -> Outcome:
    """Park on the first event word that is not set, or run all sub kernels.

    Args:
        head: the descriptor at `pc`. limit_ns: time budget of the entry in nanoseconds, 0 for none.

    Raises:
        DeviceFault: a record is broken, a binary has no entry for its key, a block dim is impossible.
    """
    args = task.field(entry.struct, entry.args) & (1 << 52) - 1
    records = _records(task, pc, head["tiling_key"])
    for record in records:
        event = _pointer(task, args, record, "event_word")
        if event and not int.from_bytes(task.memory.poll(event, EVENT_BYTES), "little"):
            return Wait(Signal(MEMORY, event), limit_ns=limit_ns, ranges=((event, EVENT_BYTES),))
    subs = [_sub(engine, task, args, record) for record in records]
    blocks = task.field(entry.struct, "block_dim")
    units = units_of(CoreType(head["core_type"]), task.device.chip)
    demand = _demand(subs, units, blocks, batch=task.field(entry.struct, "schem") == BATCH)
    check_batch(task, demand)
    name = task.memory.c_string(head["name_addr"])
    said = ", ".join(f"{s.spec.name} key {s.launch.tiling_key} block dim {s.launch.block_dim}" for s in subs)
    facts: dict[str, int | str] = {"kernel": name, "tiling_key": 0, "block_dim": blocks, "sub_kernels": said}
    return Launch(
        task.device.chip.latencies.ai_core_launch_ns,
        task.device.cores,
        demand,
        lambda: _run(task, subs),
        f"{name}: {said}",
        facts,
    )


def _records(task: Task, pc: int, count: int) -> list[Mapping[str, int]]:
    layout = task.device.runtime_layout("SubKernel")
    found, start = task.device.memory.find(pc), pc + DESCRIPTOR_BYTES
    if not 0 < count <= MOST_SUB_KERNELS or found is None or start + layout.size * count > found.end:
        raise _fault(f"the super kernel at PC {pc:#x} claims {count} sub kernels", "kernel.bad-pc")
    raw = task.memory.read(start, layout.size * count)
    return [layout.parse(raw[at : at + layout.size]) for at in range(0, len(raw), layout.size)]


def _pointer(task: Task, args: int, record: Mapping[str, int], word: str) -> int:
    """The address that an argument of a sub kernel holds; 0 when it has no such argument."""
    at = record[word]
    return 0 if at == NO_WORD else task.memory.u64(args + 8 * (record["first_word"] + at))


def _sub(engine: AiCore, task: Task, args: int, record: Mapping[str, int]) -> _Sub:
    key_at, dim_at = _pointer(task, args, record, "key_word"), _pointer(task, args, record, "block_dim_word")
    pc = record["entry_pc"] if not key_at else _jump(engine, task, record, task.memory.u64(key_at))
    spec, key = engine.resolve(task, pc)
    block_dim = task.memory.u32(dim_at) if dim_at else record["block_dim"]
    check_block_dim(block_dim & 0xFFFF)
    mix = None if task.device.chip.fused_cores else spec.mix_at(key)
    launch = KernelLaunch(
        task.memory,
        args + 8 * record["first_word"],
        block_dim & 0xFFFF,
        key,
        task.device.chip,
        task.device.policies,
        mix.secondary if mix else 0,
    )
    return _Sub(spec, launch, _pointer(task, args, record, "event_word"))


def _jump(engine: AiCore, task: Task, record: Mapping[str, int], key: int) -> int:
    """The entry for `key` in the binary of a sub kernel."""
    entries = range(record["entry_pc"], record["entry_pc"] + DESCRIPTOR_BYTES * record["entry_count"], DESCRIPTOR_BYTES)
    for pc in entries:
        if engine.resolve(task, pc)[1] == key:
            return pc
    name = task.memory.c_string(record["name_addr"])
    raise _fault(
        f"the binary of {name} has no entry for the tiling key {key} that its tiling wrote", "super-kernel.no-entry"
    )


def _demand(subs: list[_Sub], units: Mapping[str, int], blocks: int, *, batch: bool) -> Demand:
    """Cores of the launch, and the time of one block: the sum of its shares in all sub kernels."""
    share = Fraction(0)
    for sub in subs:
        alone = demand_of(sub.spec, sub.launch, batch=False)
        share += alone.share_ns * alone.blocks / min(alone.blocks, blocks)
    return Demand(units, blocks, share, batch)


def _run(task: Task, subs: list[_Sub]) -> None:
    for sub in subs:
        run_kernel(sub.spec, sub.launch)
    for sub in subs:
        if sub.event:
            task.memory.write(sub.event, bytes(8))


def _fault(what: str, fault_id: str) -> DeviceFault:
    return DeviceFault(what, ts_code=0, id=fault_id, remedy="compile and load the model again with the same plugins")
