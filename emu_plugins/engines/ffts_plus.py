"""FFTS+ entries (v100, type 0 with `ffts_type` 4): mix kernels, and graphs of AIC, AIV and mix contexts.

The entry and device memory are all it looks at (`reference/sqe_formats.md` 4.2 and 5):

| read from | what |
|---|---|
| `context_address_base` | the contexts, 128 bytes each and so aligned: `emu_plugins.engines.ffts_plus_contexts` |
| `total_context_num`, `ready_context_num` | contexts, and how many of them wait for none |
| `preload_context_num` | contexts fetched with the entry under policy `context_preload=with_sqe`, at most 128 |
| `sub_type` | 0 graph; 6, 7 mix kernel, which has one mix context; others are refused |
| `kernel_credit` | time budget |

A mix kernel's block count, entries, ratio, `schem` and arguments are those of its context; block dim and sub type of
the entry only describe it (`device_semantics.md` 7.4). A block takes its main core and `ratio` cores of the other kind.
An entry with one launch behaves as a plain kernel; several run as `emu_plugins.engines.ffts_plus_graph` says.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.cores import Demand, units_of
from emu_core.engines import Effect, Handler, Launch, Limit, Outcome
from emu_core.errors import DeviceFault
from emu_core.kernels import CoreType, KernelLaunch
from emu_plugins.engines import credits as budget
from emu_plugins.engines.ai_core import (
    DESCRIPTOR_BYTES,
    TYPE,
    AiCore,
    check_batch,
    check_block_dim,
    demand_of,
    run_kernel,
)
from emu_plugins.engines.ffts_plus_contexts import CONTEXT_BYTES, MIXED, check_graph, read_contexts
from emu_plugins.engines.ffts_plus_graph import ContextGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.kernels import KernelSpec, Mix
    from emu_plugins.engines.ffts_plus_contexts import ContextTask, Thread

    _Facts: TypeAlias = dict[str, int | str]
    _Found: TypeAlias = Mapping[tuple[tuple[CoreType, int], ...], tuple[KernelSpec, int]]

FFTS_PLUS = 4
STRUCT, CONTEXT = "FftsPlusSqe", "FftsPlusMixAicAivCtx"
GRAPH, MIX_SUB_TYPES = 0, tuple(MIXED)
MOST_PRELOADED = 128
_NO_TIME = Fraction(0)


class FftsPlus:
    """The engine of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._kernels = AiCore(device)
        self._core_type = device.runtime_layout("KernelDescriptor").field("core_type").read
        layout = device.layout(STRUCT)
        self._address = layout.field("context_address_base").read
        self._preloaded = layout.field("preload_context_num").read

    def preload(self, sqe: bytes) -> tuple[int, int]:
        """Address and size of the contexts that are fetched together with the entry."""
        return self._address(sqe), min(self._preloaded(sqe), MOST_PRELOADED) * CONTEXT_BYTES

    def start(self, task: Task) -> Outcome:
        """Read and check the contexts, find their kernels, and start those that are ready."""
        contexts = self._contexts(task)
        found = {t.pcs: self._kernel(task, t) for c in contexts for t in c.kinds}
        prepare = partial(self._prepare, task, found)
        detail, facts = _told(contexts, found)
        latency = task.device.chip.latencies.ai_core_launch_ns
        if sum(c.threads for c in contexts) == 1:
            demand, run = prepare(contexts[0].last)
            return Launch(latency, task.device.cores, demand, run, detail, facts)
        graph = ContextGraph(task.device.clock, task.device.cores, contexts, prepare)
        whole = Demand(units_of(CoreType.AIC, task.device.chip), sum(c.blocks for c in contexts), _NO_TIME)
        return Launch(latency, graph, whole, graph.finish, detail, facts)

    def _contexts(self, task: Task) -> tuple[ContextTask, ...]:
        total = _check_entry(task)
        address = self._address(task.sqe)
        raw = task.device.contexts.read(task, address, total * CONTEXT_BYTES, task.device.layout(CONTEXT))
        contexts = read_contexts(task.device, raw)
        sub_type = task.field(STRUCT, "sub_type")
        if sub_type in MIX_SUB_TYPES and int.from_bytes(raw[:2], "little") not in MIXED:
            raise _bad(f"a mix kernel (sub type {sub_type}) has no mix context at {address:#x}", "ffts.context")
        check_graph(contexts, task.field(STRUCT, "ready_context_num"))
        return contexts

    def _kernel(self, task: Task, thread: Thread) -> tuple[KernelSpec, int]:
        """Kernel and tiling key of a thread: all of its entries must start the same, on the cores they are for."""
        check_block_dim(thread.block_dim)
        kernels = [self._entry(task, core, pc) for core, pc in thread.pcs]
        if len(kernels) > 1 and kernels[0] != kernels[1]:
            (one, one_key), (other, other_key) = kernels
            raise DeviceFault(
                f"context {thread.context} starts {one.name} key {one_key} and {other.name} key {other_key} together",
                ts_code=0,
                id="kernel.bad-pc",
                remedy="both program counters of a mix context must belong to one kernel and tiling key",
            )
        units = units_of(CoreType.MIX, task.device.chip, thread.mix)
        check_batch(task, Demand(units, thread.block_dim, _NO_TIME, thread.batch))
        return kernels[0]

    def _entry(self, task: Task, core: CoreType, pc: int) -> tuple[KernelSpec, int]:
        found = self._kernels.resolve(task, pc)
        has = self._core_type(task.device.memory.read(pc, DESCRIPTOR_BYTES))
        if has != core:
            name = CoreType(has).name if has in set(CoreType) else str(has)
            raise DeviceFault(
                f"the entry of {found[0].name} at PC {pc:#x} is for {name} cores, the context starts it on {core.name}",
                ts_code=0,
                id="kernel.core-type",
                remedy="the mix type of a tiling table's row must fit its program counters",
            )
        return found

    @staticmethod
    def _prepare(task: Task, found: _Found, thread: Thread) -> tuple[Demand, Callable[[], None]]:
        spec, key = found[thread.pcs]
        chip, policies = task.device.chip, task.device.policies
        launch = KernelLaunch(task.memory, thread.args, thread.block_dim, key, chip, policies, thread.mix.secondary)
        return demand_of(spec, launch, batch=thread.batch, mix=thread.mix), lambda: run_kernel(spec, launch)


def _told(contexts: Sequence[ContextTask], found: _Found) -> tuple[str, _Facts]:
    """The launches of an entry in words, and as values."""
    names = " + ".join(dict.fromkeys(spec.name for spec, _ in found.values()))
    key, blocks = next(iter(found.values()))[1], sum(c.blocks for c in contexts)
    facts: _Facts = {"kernel": names, "tiling_key": key, "block_dim": blocks}
    launches, mix = sum(c.threads for c in contexts), contexts[0].last.mix
    if launches == 1:
        return f"{names} key {key} block dim {blocks} {_cores(mix)}", facts | {
            "mix_type": int(mix.type),
            "ratio": mix.secondary,
        }
    return f"{len(contexts)} contexts, {launches} launches, {blocks} blocks: {names}", facts | {
        "contexts": len(contexts)
    }


def _cores(mix: Mix) -> str:
    return mix.type.main.name + (f" with {mix.secondary} of the other kind" if mix.secondary else " only")


def _check_entry(task: Task) -> int:
    """The number of contexts of an entry that can be executed here.

    Raises:
        DeviceFault: another use of FFTS+ (`sqe.unsupported`), or counts or an address that cannot be (`ffts.entry`).
    """
    field = partial(task.field, STRUCT)
    sub_type, total = field("sub_type"), field("total_context_num")
    if sub_type not in (GRAPH, *MIX_SUB_TYPES):
        raise _bad(f"an FFTS+ entry of sub type {sub_type:#x} is unsupported here", "sqe.unsupported")
    if not total or (sub_type != GRAPH and total != 1):
        raise _bad(f"an FFTS+ entry of sub type {sub_type} has {total} contexts", "ffts.entry")
    if field("preload_context_num") > min(total, MOST_PRELOADED):
        what = f"{field('preload_context_num')} of {total} contexts to load first; at most {MOST_PRELOADED}"
        raise _bad(what, "ffts.entry")
    address = field("context_address_base")
    if address % CONTEXT_BYTES:
        raise _bad(f"the contexts at {address:#x} are not aligned to {CONTEXT_BYTES} bytes", "ffts.entry")
    return total


def _bad(what: str, id_: str) -> DeviceFault:
    return DeviceFault(
        what, ts_code=codes.SQE_ERROR, error_type=8, id=id_, remedy="sqemu dump shows the entry and its contexts"
    )


def _refuse(task: Task) -> Outcome:
    what = f"{task.device.chip.name} has fused cores and no FFTS+: the entry is unsupported here"
    raise _bad(what, "sqe.unsupported")


def _limit(task: Task) -> Limit | None:
    return budget.limit(task, codes.FFTS_TIMEOUT)


def handlers(device: Device) -> Iterable[Handler]:
    """The handler of FFTS+ entries: SQE type 0, `ffts_type` 4."""
    fused = device.chip.fused_cores
    engine = None if fused else FftsPlus(device)
    return (
        Handler(
            "ffts_plus",
            "kernel",
            TYPE,
            engine.start if engine else _refuse,
            select=FFTS_PLUS,
            select_field=("AicoreKernelSqe", "ffts_type"),
            effect=Effect.RESOURCE,
            exception_code=codes.FFTS_EXCEPTION,
            limit=_limit,
            preload=engine.preload if engine else None,
        ),
    )
