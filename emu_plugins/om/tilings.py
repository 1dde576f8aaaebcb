"""TILING_DATA: what the tiling functions answered when the model was compiled (`om_format.md` 5.4).

Each distinct answer is stored once, with the ids of the operators that have it; bits 56 to 63 of an id say what for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.om.cursor import Cursor
from emu_plugins.om.layout import TILING_MAGIC, TILING_VERSION, TilingHead, TilingRun

if TYPE_CHECKING:
    from emu_plugins.om.container import Partition

KIND_SHIFT = 56
AI_CORE, ATOMIC_CLEAN = 0, 0xFF
"""Kinds of ids."""
_STEPS = ("run info", "tiling data", "ids")


@dataclass(frozen=True)
class Tiling:
    """One answer: tiling key, blocks, bytes of tiling data, workspaces, and the ids it is stored for."""

    key: int
    block_dim: int
    data: bytes
    workspaces: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    schedule_mode: int = 0
    clear_atomic: bool = False
    condition: int = 0
    local_memory: int = 0


def read_tilings(partition: Partition | None) -> tuple[Tiling, ...]:
    """The answers of TILING_DATA; empty when it is absent or empty.

    Raises:
        FormatError: `om.partition`: another magic or version, a length beyond the partition, records out of order.
    """
    if partition is None or not partition.size:
        return ()
    cursor = Cursor(partition.data, f"partition {partition.name}", base=partition.offset)
    head = cursor.struct(TilingHead)
    if head["magic"] != TILING_MAGIC:
        raise cursor.error(f"starts with {head['magic']:#010x}, not with {TILING_MAGIC:#010x}")
    if head["version"] != TILING_VERSION:
        raise cursor.error(f"has version {head['version']}, version {TILING_VERSION} can be read")
    if head["data_len"] != cursor.left:
        raise cursor.error(f"says {head['data_len']} bytes of records follow, {cursor.left} do")
    found = []
    while cursor.left:
        run, data, ids = (_record(cursor, step) for step in range(len(_STEPS)))
        found.append(_tiling(run, bytes(data.data), ids.i64s(ids.left, "ids")))
    return tuple(found)


def _record(cursor: Cursor, step: int) -> Cursor:
    kind = int(cursor.take(1, "a record type")[0])
    if kind != step:
        raise cursor.error(f"a record of type {kind} stands where {_STEPS[step]} ({step}) belong")
    size = cursor.u32("a length")
    at = cursor.base + cursor.at
    return Cursor(cursor.take(size, _STEPS[step]), f"{cursor.where}, {_STEPS[step]}", base=at)


def _tiling(run: Cursor, data: bytes, ids: tuple[int, ...]) -> Tiling:
    values = run.struct(TilingRun)
    sizes = run.i64s(8 * values["workspace_num"], "workspaces")
    return Tiling(
        key=values["tiling_key"],
        block_dim=values["block_dim"],
        data=data[: values["tiling_size"]] if values["tiling_size"] else data,
        workspaces=sizes,
        ids=ids,
        schedule_mode=values["schedule_mode"],
        clear_atomic=bool(values["clear_atomic"]),
        condition=values["tiling_cond"],
        local_memory=values["local_memory_size"],
    )
