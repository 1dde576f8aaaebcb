"""The contexts of an FFTS+ entry as launches (`reference/sqe_formats.md` 5): what each runs, and what follows it.

| field | reading |
|---|---|
| `context_type` | 0 AIC, 1 AIV, 6 mix with cube cores as main ones, 7 with vector cores; others are refused |
| `thread_dim` | threads; the last one takes the tail fields, all before it the non-tail ones |
| `…task_param_ptr`, `…_offset` | argument block of thread t: pointer + t × offset |
| `…block_ratio_n` | mix: secondary cores of a block; with 0 the second entry is not looked at |
| `schem` | as in an AI Core entry |
| `pred_cnt` | contexts that must end first; the count in memory stays as it is, since each round starts from it |
| `successor_list` | contexts that wait for this one, `successor_num` of them |
| `aten` | 1 (automatic threads) is refused |
| `thread_id`, prefetch, `dump_switch`, QoS, slots | of no effect here |

Which of tail and non-tail a single thread takes is our choice; a launch writes the same into both.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.errors import DeviceFault
from emu_core.kernels import CoreType, Mix, MixType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.device import Device

CONTEXT_BYTES = 128
MOST_SUCCESSORS = 26
BATCH = 1
PLAIN = MappingProxyType({0: CoreType.AIC, 1: CoreType.AIV})
MIXED = MappingProxyType({6: CoreType.AIC, 7: CoreType.AIV})
"""Main cores by context type."""

_ENTRIES = ("{part}_task_start_pc", "{part}_{core}_task_start_pc")
_NAMES = MappingProxyType({CoreType.AIC: "aic", CoreType.AIV: "aiv"})
_KINDS = MappingProxyType({
    (CoreType.AIC, False): MixType.AIC_ONLY, (CoreType.AIC, True): MixType.AIC_MAIN,
    (CoreType.AIV, False): MixType.AIV_ONLY, (CoreType.AIV, True): MixType.AIV_MAIN,
})  # fmt: skip


@dataclass(frozen=True)
class Thread:
    """One launch of a context.

    Attributes:
        context: its index. block_dim: main blocks. mix: cores of a block.
        pcs: entries by core, the main one first. args: address of the argument block.
        batch: all blocks start at once.
    """

    context: int
    block_dim: int
    mix: Mix
    pcs: tuple[tuple[CoreType, int], ...]
    args: int
    batch: bool


@dataclass(frozen=True)
class ContextTask:
    """A context: its launches, how many contexts it waits for, and which ones wait for it.

    Attributes:
        index: its place among the contexts of the entry.
        last: the launch of the last thread.
        others: how many come before it. first: the first of those, if there are any.
        step: bytes from the arguments of one thread to those of the next.
    """

    index: int
    last: Thread
    waits_for: int = 0
    successors: tuple[int, ...] = ()
    others: int = 0
    first: Thread | None = None
    step: int = 0

    @property
    def threads(self) -> int:
        """Launches of this context."""
        return self.others + 1

    @property
    def blocks(self) -> int:
        """Main blocks of all launches."""
        return self.last.block_dim + (self.others * self.first.block_dim if self.first else 0)

    @property
    def kinds(self) -> tuple[Thread, ...]:
        """Launches that differ in more than their arguments."""
        return (self.last,) if self.first is None else (self.first, self.last)

    def thread(self, number: int) -> Thread:
        """Launch `number`, from 0."""
        if self.first is None or number == self.others:
            return self.last
        return replace(self.first, args=self.first.args + number * self.step)


def read_contexts(device: Device, raw: bytes) -> tuple[ContextTask, ...]:
    """The contexts in `raw`, 128 bytes each.

    Raises:
        DeviceFault: a kind that is not supported here (`sqe.unsupported`), or a context that cannot be
            (`ffts.context`).
    """
    count = len(raw) // CONTEXT_BYTES
    return tuple(_context(device, i, raw[CONTEXT_BYTES * i : CONTEXT_BYTES * (i + 1)], count) for i in range(count))


def check_graph(contexts: Sequence[ContextTask], ready: int) -> None:
    """Nothing when `ready` contexts can start at once and every other one becomes ready later.

    Raises:
        DeviceFault: anything else (`ffts.graph`).
    """
    starts = [c.index for c in contexts if not c.waits_for]
    if len(starts) != ready:
        raise _bad("ffts.graph", f"the entry says that {ready} contexts are ready at once, {len(starts)} wait for none")
    left = [c.waits_for for c in contexts]
    found, ended = deque(starts), 0
    while found:
        ended += 1
        for following in contexts[found.popleft()].successors:
            left[following] -= 1
            if left[following] == 0:
                found.append(following)
            if left[following] < 0:
                raise _bad("ffts.graph", f"context {following} has more predecessors than its count says")
    if ended < len(contexts):
        stuck = [i for i, n in enumerate(left) if n > 0]
        raise _bad("ffts.graph", f"contexts {stuck[:8]} never become ready: nothing counts them down to 0")


def _context(device: Device, index: int, raw: bytes, count: int) -> ContextTask:
    decoded = device.host.registry.decode_context(raw, family=device.chip.family)
    values = decoded.values
    kind = values["context_type"]
    if kind not in PLAIN and kind not in MIXED:
        raise _unsupported(f"context {index} ({decoded.struct.struct_name}, type {kind:#x})")
    if values["aten"]:
        raise _unsupported(f"context {index} with automatic threads")
    if not values["thread_dim"]:
        raise _bad("ffts.context", f"context {index} has 0 threads")
    number = values["successor_num"]
    following = tuple(values["successor_list"][:number])
    if number > MOST_SUCCESSORS or any(f >= count for f in following):
        raise _bad("ffts.context", f"context {index} names {number} successors {list(following)} of {count} contexts")
    fields = dict(values) | {name: decoded.struct.field(name).read(raw) for name in decoded.struct.joined}
    others = values["thread_dim"] - 1
    first = _thread(index, kind, fields, 0, "non_tail") if others else None
    last = _thread(index, kind, fields, others, "tail")
    step = _arguments(fields, kind, last.pcs[0][0])[1]
    return ContextTask(index, last, values["pred_cnt"], following, others, first, step)


def _thread(index: int, kind: int, values: dict[str, int], number: int, part: str) -> Thread:
    main = PLAIN[kind] if kind in PLAIN else MIXED[kind]
    ratio = values[f"{part}_block_ratio_n"] if kind in MIXED else 0
    cores = (main, CoreType.AIV if main is CoreType.AIC else CoreType.AIC)[: 2 if ratio else 1]
    if len({_arguments(values, kind, core) for core in cores}) > 1:
        raise _unsupported(f"context {index}: cube and vector cores with argument blocks of their own")
    base, step = _arguments(values, kind, main)
    pcs = tuple((core, values[_ENTRIES[kind in MIXED].format(part=part, core=_NAMES[core])]) for core in cores)
    mix = Mix(_KINDS[main, ratio > 0], ratio)
    return Thread(index, values[f"{part}_block_dim"], mix, pcs, base + number * step, values["schem"] == BATCH)


def _arguments(values: dict[str, int], kind: int, core: CoreType) -> tuple[int, int]:
    """Address of the arguments of thread 0 of the cores `core`, and bytes from one thread to the next."""
    if kind in PLAIN:
        return values["task_param_ptr_base"], values["task_param_ptr_offset"]
    return values[f"{_NAMES[core]}_task_param_ptr"], values[f"{_NAMES[core]}_task_param_ptr_offset"]


def _unsupported(what: str) -> DeviceFault:
    return DeviceFault(
        f"{what} is unsupported here",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="AIC, AIV and mix contexts without automatic threads run here, with successors among them",
    )


def _bad(id_: str, what: str) -> DeviceFault:
    return DeviceFault(
        what, ts_code=codes.SQE_ERROR, error_type=8, id=id_, remedy="sqemu dump shows the contexts of an entry"
    )
