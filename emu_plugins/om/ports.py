"""MODEL_INOUT_INFO: inputs and outputs for a caller, and the choices of a dynamic model (`om_format.md` 5.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_plugins.om.cursor import Cursor, text_of
from emu_plugins.om.layout import TensorBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_plugins.om.container import Partition

INPUTS, OUTPUTS, BATCH, HEIGHT_WIDTH, DIMS, SHAPES, ORDER = range(7)
"""Types of the records."""


@dataclass(frozen=True)
class PortInfo:
    """A tensor of the caller: bytes, format and element type by the C API's numbers, dimensions, ranges of them."""

    name: str
    size: int
    format: int
    dtype: int
    dims: tuple[int, ...] = ()
    dims_v2: tuple[int, ...] = ()
    ranges: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ports:
    """The whole partition; `other` has records of unknown type: type and bytes."""

    inputs: tuple[PortInfo, ...] = ()
    outputs: tuple[PortInfo, ...] = ()
    batches: tuple[int, ...] = ()
    sizes: tuple[tuple[int, ...], ...] = ()
    dims: tuple[tuple[int, ...], ...] = ()
    output_shapes: tuple[str, ...] = ()
    input_order: tuple[str, ...] = ()
    other: tuple[tuple[int, bytes], ...] = field(default=())


def read_ports(partition: Partition | None) -> Ports:
    """The records of MODEL_INOUT_INFO; empty when it is absent.

    Raises:
        FormatError: `om.partition`: a count or length beyond its record, bytes left over in one.
    """
    if partition is None:
        return Ports()
    cursor = Cursor(partition.data, f"partition {partition.name}", base=partition.offset)
    found: dict[str, tuple[object, ...]] = {}
    other = []
    while cursor.left:
        kind = int.from_bytes(cursor.take(4, "a type"), "little", signed=True)
        size = cursor.u32("a length")
        at = partition.offset + cursor.at
        inner = Cursor(cursor.take(size, f"record of type {kind}"), f"{cursor.where}, record {kind}", base=at)
        if kind not in _READERS:
            other.append((kind, bytes(inner.data)))
            continue
        name, read = _READERS[kind]
        found[name] = read(inner)
        if inner.left:
            raise inner.error(f"{inner.left} bytes follow what was counted")
    return Ports(**found, other=tuple(other))  # type: ignore[arg-type]  # one reader per field


def _tensors(cursor: Cursor) -> tuple[object, ...]:
    return tuple(_tensor(cursor) for _ in range(cursor.count("tensors", TensorBase.size)))


def _tensor(cursor: Cursor) -> PortInfo:
    base = cursor.struct(TensorBase)
    name = text_of(cursor.take(base["name_len"], "a name"))
    lists = [cursor.i64s(base[f"{what}_len"], what) for what in ("dims", "dims_v2", "range")]
    return PortInfo(name, base["size"], base["format"], base["dtype"], *lists)


def _numbers(cursor: Cursor) -> tuple[object, ...]:
    return cursor.i64s(8 * cursor.count("numbers", 8), "numbers")


def _lengths(cursor: Cursor, what: str) -> list[int]:
    return [cursor.u32(what) for _ in range(cursor.count(what, 4))]


def _groups(cursor: Cursor) -> tuple[object, ...]:
    return tuple(cursor.i64s(8 * count, "numbers") for count in _lengths(cursor, "counts"))


def _texts(cursor: Cursor) -> tuple[object, ...]:
    return tuple(text_of(cursor.take(size, "a text")) for size in _lengths(cursor, "lengths"))


_READERS: dict[int, tuple[str, Callable[[Cursor], tuple[object, ...]]]] = {
    INPUTS: ("inputs", _tensors),
    OUTPUTS: ("outputs", _tensors),
    BATCH: ("batches", _numbers),
    HEIGHT_WIDTH: ("sizes", _groups),
    DIMS: ("dims", _groups),
    SHAPES: ("output_shapes", _texts),
    ORDER: ("input_order", _texts),
}
