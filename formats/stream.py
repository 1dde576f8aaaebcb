"""A run of SQEs as records: one per task, with the units that belong to it (`reference/sqe_formats.md` 2.2, 6.6, 6.8).

A v200 task may take up to five 64-byte units; the first one says in `sqe_length` how many follow it.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.decoded import Decoded
from formats.raw import RAW_UNIT, SQE_SIZE, raw_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.registry import Registry

MAX_FURTHER_UNITS = 4
"""Units a task may have after its first one."""

_CCU_UNITS = 4
_FUSION_KERNEL_BIT = 2
_FURTHER: Mapping[str, str] = MappingProxyType({
    "CcuSqe": "arguments 10 to 25 of the CCU mission",
    "UbdmaDirectWqeSqe": "part of the UB work queue entry",
    "AsyncDmaSqe": "part of the UB work queue entry",
})  # fmt: skip
"""What the units after the first one hold, by struct of the first."""


def decode_stream(registry: Registry, family: str, data: memoryview[int], base: int) -> Iterator[Decoded]:
    """The records of `data`; see :meth:`formats.registry.Registry.decode_stream`."""
    at = 0
    while at + SQE_SIZE <= len(data):
        first = registry.decode(family, data[at : at + SQE_SIZE], offset=base + at)
        record = _with_units(registry, family, first, data[at:], base + at)
        yield record
        at += record.size
    if at < len(data):
        yield _trailing(bytes(data[at:]), base + at)


def _trailing(rest: bytes, offset: int) -> Decoded:
    struct = raw_bytes(len(rest))
    note = f"{len(rest)} trailing bytes at {offset:#x} are not a whole entry of {SQE_SIZE}"
    return Decoded(struct, struct.parse(rest), offset, guessed=True, notes=(note,))


def _with_units(registry: Registry, family: str, first: Decoded, data: memoryview[int], offset: int) -> Decoded:
    """`first` with the further units that its `sqe_length` claims, as far as `data` (which starts at it) has them."""
    further = first.values.get("sqe_length", 0)
    if not further:
        return first
    if further > MAX_FURTHER_UNITS:
        return first.noting(f"sqe_length {further} is over {MAX_FURTHER_UNITS}: taken as a single unit")
    there = min(further, len(data) // SQE_SIZE - 1)
    units = tuple(
        _unit(registry, family, first, k, bytes(data[k * SQE_SIZE : (k + 1) * SQE_SIZE]), offset + k * SQE_SIZE)
        for k in range(1, there + 1)
    )
    record = replace(first, units=units)
    if there == further:
        return record
    end = offset + len(data)
    return record.noting(f"sqe_length asks for {further} further units, {there} are there: the data end at {end:#x}")


def _unit(registry: Registry, family: str, first: Decoded, k: int, entry: bytes, offset: int) -> Decoded:
    part = _fusion_part(registry, family, first, k, entry, offset)
    if part is not None:
        return part
    what = _FURTHER.get(first.struct.struct_name, f"belongs to the {first.struct.struct_name} before it")
    return Decoded(RAW_UNIT, RAW_UNIT.parse(entry), offset, notes=(f"unit {k}: {what}",))


def _fusion_part(registry: Registry, family: str, first: Decoded, k: int, entry: bytes, offset: int) -> Decoded | None:
    """A unit of a fusion that is the kernel: behind four CCU units, or behind the AICPU unit; else `None`."""
    parts = {"FusionCcuSqe": _CCU_UNITS, "FusionAicpuSqe": 1}.get(first.struct.struct_name)
    if parts is None or k < parts or not first.values["sub_type"] >> _FUSION_KERNEL_BIT & 1:
        return None
    kernel = registry.get(family, "AicKernelSqe")
    note = f"unit {k}: taken for the kernel of the fusion; the caller chooses the order of its parts"
    return Decoded(kernel, kernel.parse(entry), offset, guessed=True, notes=(note,))
