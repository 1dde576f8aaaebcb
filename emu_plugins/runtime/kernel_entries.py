"""The entry of a kernel launch, and where the family needs one, its context (`reference/sqe_formats.md` 4.2, 5.1).

| kernel | v100, cube and vector cores apart | fused cores (310P), and v200 |
|---|---|---|
| for one kind of cores | AI Core entry | AI Core entry |
| mix | FFTS+ entry and one mix context in TS memory | AI Core entry |

A mix context starts with what was launched: entries of the tiling key, block dim as the entry has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.engines.task_update_mix import CONTEXT, CONTEXT_TYPE, context_values
from emu_plugins.runtime.sqes import narrow_block_dim

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.kernels import Mix
    from emu_plugins.runtime.images import KernelImage
    from emu_plugins.runtime.sqes import Place, SqeBuilder


@dataclass(frozen=True)
class KernelLaunchEntry:
    """What a launch writes: the 64 bytes of the entry, and the address of its context (None: it has none)."""

    sqe: bytes
    context: int | None = None


@dataclass(frozen=True)
class LaunchValues:
    """What a launch says: blocks (32 bits, as given), schedule mode, addresses of arguments and stack pool."""

    block_dim: int
    schem: int
    args: int
    stack: int


def kernel_entry(
    device: Device,
    build: SqeBuilder,
    place: Place,
    image: KernelImage,
    key: int,
    values: LaunchValues,
    *,
    where: str,
) -> KernelLaunchEntry:
    """The entry that launches `image` for tiling key `key`, to be put at the tail of the stream of `place`.

    Args:
        where: the operator, for messages.

    Raises:
        InputError: the binary has no entry for the key.
    """
    pc, second, mix = image.pc(key, where), image.seconds.get(key, 0), image.mixes.get(key)
    if mix is None or not build.has_contexts:
        sqe = build.kernel(
            place,
            core_type=image.core_type,
            block_dim=values.block_dim,
            schem=values.schem,
            pc=pc,
            args=values.args,
            stack=values.stack,
            second_pc=second,
            mix=mix,
        )
        return KernelLaunchEntry(sqe)
    layout = device.layout(CONTEXT)
    slot = device.streams[place.stream_id].queue.tail
    context = device.contexts.room(layout.size, f"the mix context of {where}", place.stream_id, slot)
    raw = layout.build(_context(device, mix, pc, second, values))
    device.contexts.place(context, layout, raw, place.stream_id, slot)
    sqe = build.mix_kernel(place, mix=mix, block_dim=values.block_dim, context=context, stack=values.stack)
    return KernelLaunchEntry(sqe, context)


def _context(device: Device, mix: Mix, pc: int, second: int, values: LaunchValues) -> dict[str, int]:
    """Fields of the context of a launch: one thread, tail and non-tail alike, both cores with the same arguments."""
    block = device.memory.find(values.args)
    size = block.end - values.args if block else 0
    found = {
        "context_type": CONTEXT_TYPE[mix.type.main],
        "thread_dim": 1,
        "ns": 1,
        "schem": values.schem,
        **context_values(mix, pc, second, narrow_block_dim(values.block_dim)),
    }
    for core in ("aic", "aiv"):
        found[f"{core}_task_param_ptr"] = values.args
        found[f"{core}_task_param_ptr_offset"] = size & 0xFFFF
    return found
