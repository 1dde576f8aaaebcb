"""Model task update of v200 (place holder 101): the entry holds addresses, not offsets, and a row has 40 bytes.

Key, block dim, row, target and order are those of `emu_plugins.engines.task_update`. What is written is the reading of
`device_semantics.md` 5.6 for 950:

| field of the target | value |
|---|---|
| `aic_start_pc`, `aiv_start_pc` | by `mix_type` of the row: see below; low and high part |
| `block_dim` | the block dim |
| `group_dim`, `group_block_dim` | 1 group up to one block, else 2, and blocks of a group: where they change |
| `mix`, `pi_mix`, `ratio`, `aiv_simt_dcu_sm_size` | of the row: where they change |

| `mix_type` | leads | cube cores start at | vector cores start at |
|---|---|---|---|
| 0 not mixed | the entry's own cores | `pc_addr0` if they lead | `pc_addr0` if they lead |
| 1, 2 one kind only | cube, vector | `pc_addr0`, - | -, `pc_addr0` |
| 3, 4 both | cube, vector | `pc_addr0` | `pc_addr1` |

A row that says who leads decides the type of the entry, as it does the sub type of a mix entry of v100 (our reading).
What the table does not have stays: a kernel that was launched for one kind of cores has no arguments for the other.
`kernel_vf_type` has no field in the entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.engines.ai_core_v200 import CUBE, ENTRIES, VECTOR, groups
from emu_plugins.engines.task_update_steps import check_order, find_target, handler, no_kernel, patch_target
from emu_plugins.engines.task_update_table import read_wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Handler, Task
    from emu_plugins.engines.task_update_table import Wanted

ROWS = "TilingTablForDavid"
HALF = 0xFFFFFFFF


def _update(task: Task) -> None:
    wanted = read_wanted(task, ROWS, int)
    stream, slot, place = find_target(task)
    sqe = stream.queue.entry(slot)
    lead = sqe[0] & 0x3F
    if lead not in (CUBE, VECTOR):
        raise no_kernel(place)
    check_order(task, stream, slot)
    patch_target(task, stream, slot, _patch(task, wanted, sqe, lead), ENTRIES[lead].struct, wanted)


def _patch(task: Task, wanted: Wanted, sqe: bytes, lead: int) -> dict[str, int]:
    """New values of the target's fields."""
    mix, layout = wanted.mix, task.device.layout(ENTRIES[lead].struct)
    leads = int(mix.type.main) if mix else lead
    starts = {ENTRIES[leads].pc: wanted.pc}
    if mix is not None and mix.type.both:
        starts = {ENTRIES[CUBE].pc: wanted.pc, ENTRIES[VECTOR].pc: wanted.second_pc}
    values: dict[str, int] = {}
    for name, pc in starts.items():
        values |= {f"{name}_low": pc & HALF, f"{name}_high": pc >> 32 & 0xFFFF}
    rest = {
        "type": leads,
        **groups(wanted.block_dim),
        "mix": int(mix is not None),
        "pi_mix": int(mix is not None),
        "ratio": mix.secondary & 0xFF if mix else 1,
        "aiv_simt_dcu_sm_size": task.device.layout(ROWS).field("share_mem_size").read(wanted.table, wanted.row),
    }
    changed = {name: value for name, value in rest.items() if layout.field(name).read(sqe) != value}
    return values | {"block_dim": wanted.block_dim} | changed


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of task type 101."""
    return (handler(_update),)
