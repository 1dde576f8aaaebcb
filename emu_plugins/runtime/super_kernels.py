"""Super kernels as the loader writes them: sub kernels with arguments of their own, and the image that ties them.

| object | space | layout |
|---|---|---|
| super kernel | HBM | descriptor with its own magic, one record per sub kernel, then the names of all |
| arguments | HBM | the slots of each sub kernel in turn, then the descriptor blocks of all |

Each part of the args format belongs to one operator (`{skn<index>…}`) and is filled as in a task of its own, with that
operator's tiling context (`reference/tiling_sink_compiler.md` 8.4, seed 5.6). An operator that has a context must be
passed tiling key, block dim and event word.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.kernels import CoreType
from emu_plugins.compiler.args_format import ArgKind, parse_args_format
from emu_plugins.runtime.arguments import ArgumentBlock
from formats.runtime import NO_WORD, SUPER_KERNEL_MAGIC, KernelDescriptor, SubKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emu_core.device import Device
    from emu_core.origin import Origin
    from emu_plugins.runtime.arguments import Slots
    from emu_plugins.runtime.host.handles import StreamHandle
    from emu_plugins.runtime.host.runtime import Runtime
    from emu_plugins.runtime.images import KernelImage
    from emu_plugins.runtime.sqes import Place
    from formats.blob import BlobOp

_TOLD = (ArgKind.TILING_KEY, ArgKind.BLOCK_DIM, ArgKind.EVENT_ADDR)


@dataclass(frozen=True)
class SubLaunch:
    """A sub kernel: its operator, binary and first argument word, and what it is told at run time, by kind of entry."""

    op: BlobOp
    image: KernelImage
    first_word: int
    told: Mapping[ArgKind, int]


def sub_launches(
    text: str, slots: Callable[[int], Slots], image: Callable[[int], KernelImage], where: str
) -> tuple[list[SubLaunch], ArgumentBlock]:
    """The sub kernels of the args format `text` in order, and the arguments of the launch.

    Args:
        slots: what fills the slots of an operator, by its index. image: its binary.
        where: the task, for messages.

    Raises:
        InputError: an entry of no operator, or of one whose variant is known but half.
        FormatError: the text is no args format.
    """
    block, found = ArgumentBlock(), []
    for sub, group in groupby(parse_args_format(text), key=lambda entry: entry.sub):
        entries = tuple(group)
        if sub is None:
            raise _bad(f"{entries[0].token()} belongs to no sub-operator", where)
        mine, first = slots(sub), len(block.words)
        block.found.clear()
        for entry in entries:
            block.add(entry, mine)
        told = {kind: block.found[kind] - first for kind in _TOLD if kind in block.found}
        if len(told) != (len(_TOLD) if mine.context else 0):
            names = ", ".join(kind.value for kind in _TOLD)
            raise _bad(f"operator {mine.op.name} is passed some of {names}, but not as its tiling needs", where)
        found.append(SubLaunch(mine.op, image(sub), first, told))
    if not found:
        raise _bad("a super kernel without operators", where)
    return found, block


def _bad(what: str, where: str) -> InputError:
    return InputError(what, id="blob.args-format", where=where, remedy="compile the graph again")


def place_super_kernel(device: Device, name: str, subs: Sequence[SubLaunch]) -> tuple[int, CoreType]:
    """Write the image; returns its program counter and the cores it runs on.

    Raises:
        InputError: a binary has no entry for the tiling key of the compiler (`kernel.no-entry`).
    """
    texts = [text.encode() + b"\0" for text in (name, *(sub.op.name for sub in subs))]
    fixed = KernelDescriptor.size + SubKernel.size * len(subs)
    image = device.memory.allocate(fixed + sum(map(len, texts)), label=f"super kernel {name}", align=256)
    starts = [image.address + fixed + sum(map(len, texts[:i])) for i in range(len(texts))]
    core_type = _cores(subs)
    head = {
        "magic": SUPER_KERNEL_MAGIC,
        "core_type": int(core_type),
        "tiling_key": len(subs),
        "name_addr": starts[0],
    }
    records = (SubKernel.build(_record(sub, at)) for sub, at in zip(subs, starts[1:], strict=True))
    device.memory.write(image.address, b"".join((KernelDescriptor.build(head), *records, *texts)))
    return image.address, core_type


def _cores(subs: Sequence[SubLaunch]) -> CoreType:
    """One kind of cores when all sub kernels use that one, else both."""
    kinds = {sub.image.core_type for sub in subs}
    return kinds.pop() if len(kinds) == 1 else CoreType.MIX


def _record(sub: SubLaunch, name_addr: int) -> dict[str, int]:
    entries = sub.image.entries
    known = sub.image.pc(sub.op.tiling_key, sub.op.name)
    return {
        "entry_pc": min(entries.values()) if sub.told else known,
        "entry_count": len(entries) if sub.told else 1,
        "block_dim": max(sub.op.tiling_block_dim, 1),
        "first_word": sub.first_word,
        "key_word": sub.told.get(ArgKind.TILING_KEY, NO_WORD),
        "block_dim_word": sub.told.get(ArgKind.BLOCK_DIM, NO_WORD),
        "event_word": sub.told.get(ArgKind.EVENT_ADDR, NO_WORD),
        "name_addr": name_addr,
    }


def launch_super_kernel(
    runtime: Runtime, stream: StreamHandle, image: tuple[int, CoreType], block_dim: int, args: int, origin: Origin
) -> int:
    """Submit the entry that starts `image` (program counter and cores) and return its task id.

    No program has this program counter, so it is no launch of the host API.

    Args:
        block_dim: blocks; 0 becomes 1. args: address of the argument block.

    Raises:
        LimitError: the ring is full (EE1019).
    """
    (pc, core_type), stack = image, runtime.stack()

    def make(place: Place) -> bytes:
        return runtime.build.kernel(
            place, core_type=core_type, block_dim=block_dim, schem=0, pc=pc, args=args, stack=stack
        )

    return runtime.submit(stream, make, origin)
