"""What an update reads: key, block dim, and the row of the tiling table that has the key (`device_semantics.md` 5.4).

Rows are ascending by key and unique when the host built them, so every way of searching gives the same row. In a
table that is not, policy `update_table_search` decides:

| value | row | keys read |
|---|---|---|
| `linear` | the first one with the key | up to all |
| `binary` | the one that halving finds; may miss a key that is there | about log2 of the rows |
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import Mix, MixType
from emu_plugins.engines.task_update_steps import DIM_POLICY, KEY_POLICY, STRUCT, Refused, readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.engines import Task
    from formats import CStruct

    KeyAt = Callable[[int], int]

ROW_ALIGN = 8
SHOWN_KEYS = 8
NO_BLOCK_DIMS = (0, 0xFFFF)
_FIELDS = ("tiling_key", "pc_addr0", "pc_addr1", "task_ratio", "mix_type")


@dataclass(frozen=True)
class Wanted:
    """What an update reads before it looks for its target: tiling key, block dim, and the table with the key's row.

    Attributes:
        key, block_dim: values of the two cells. table: bytes of all rows. row: number of the key's row.
        pc: `pcInfo[0]`, the main entry. second_pc: `pcInfo[1]`, the AIV entry of a row with both kinds of cores.
        mix: cores of a block; None in the row of a plain kernel.
    """

    key: int
    block_dim: int
    table: bytes
    row: int
    pc: int
    second_pc: int
    mix: Mix | None


def linear(key_at: KeyAt, rows: int, key: int) -> int | None:
    """Index of the first of `rows` rows with `key`, or None."""
    return next((i for i in range(rows) if key_at(i) == key), None)


def binary(key_at: KeyAt, rows: int, key: int) -> int | None:
    """Index of a row with `key` in an ascending table, or None."""
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if key_at(middle) < key:
            low = middle + 1
        else:
            high = middle
    return low if low < rows and key_at(low) == key else None


SEARCHES = MappingProxyType({"linear": linear, "binary": binary})
"""Ways to search by the value of policy `update_table_search`."""


def read_wanted(task: Task, rows: str, address: Callable[[int], int]) -> Wanted:
    """Key, block dim and row of an update whose table has rows of layout `rows`.

    Args:
        task: the update; its entry has the fields `tiling_key_offset`, `block_dim_offset`, `tiling_tab_offset` and
            `tiling_tab_len`. rows: struct name of a row. address: device address of such an offset.

    Raises:
        Refused: a cell or the table is unreadable; the block dim is 0 or 0xFFFF (`update.block-dim`); no row has the
            key (`update.unknown-key`); or the row cannot be one (`update.bad-row`).
    """
    at = {name: address(task.field(STRUCT, f"{name}_offset")) for name in ("tiling_key", "block_dim", "tiling_tab")}
    key = readable(KEY_POLICY, "tiling key", 8, at["tiling_key"], task.memory.u64)
    block_dim = readable(DIM_POLICY, "block dim", 4, at["block_dim"], task.memory.u32) & 0xFFFF
    if block_dim in NO_BLOCK_DIMS:
        raise Refused(
            DIM_POLICY,
            "update.block-dim",
            f"the block dim to write is {block_dim:#x}",
            "the tiling function must set a block dim from 1 to 65534",
        )
    layout, length = task.device.layout(rows), task.field(STRUCT, "tiling_tab_len")
    table = readable(
        KEY_POLICY, "tiling table", ROW_ALIGN, at["tiling_tab"], lambda a: task.memory.read(a, length * layout.size)
    )
    read = layout.field("tiling_key").read
    index = SEARCHES[task.device.policies["update_table_search"]](lambda i: read(table, i), length, key)
    if index is None:
        raise _unknown_key(key, length, [read(table, i) for i in range(min(length, SHOWN_KEYS))])
    return _wanted(layout, table, index, block_dim)


def _unknown_key(key: int, rows: int, keys: list[int]) -> Refused:
    return Refused(
        KEY_POLICY,
        "update.unknown-key",
        f"the tiling key {key} is in none of the {rows} rows of the tiling table (keys {keys})",
        "the tiling function must set a key that the kernel binary was compiled for",
    )


def _wanted(layout: CStruct, table: bytes, index: int, block_dim: int) -> Wanted:
    key, pc, second, ratio, kind = (layout.field(name).read(table, index) for name in _FIELDS)
    if kind not in set(MixType):
        raise Refused(
            KEY_POLICY,
            "update.bad-row",
            f"row {index} of the tiling table has the mix type {kind}, there are 0 to {max(MixType):d}",
            "the row was not initialised, or something overwrote the table",
        )
    return Wanted(key, block_dim, table, index, pc, second, Mix(MixType(kind), ratio) if kind else None)
