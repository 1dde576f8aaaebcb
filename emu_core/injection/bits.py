"""Fields and cells that change: bits that turn over, or a new value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats import CStruct


def changed(value: int, bits: Iterable[int] | None, new: int | None) -> int:
    """`value` with `bits` turned over, or `new`."""
    if new is not None:
        return new
    for bit in bits or ():
        value ^= 1 << bit
    return value


def require_fit(width: int, bits: Iterable[int] | None, new: int | None, where: str) -> None:
    """Nothing when all `bits` and `new` fit into `width` bits; `InputError` (`injection.bits`) otherwise."""
    most = max([*(bits or ()), *([] if new is None else [max(new.bit_length() - 1, 0)])], default=0)
    if most >= width:
        what = f"bit {most}" if new is None else f"the value {new:#x}"
        raise InputError(
            f"{what} does not fit into {width} bits",
            id="injection.bits",
            where=where,
            remedy=f"bits are 0 to {width - 1}, values 0 to {(1 << width) - 1:#x}",
        )


def width_of(struct: CStruct, field: str, where: str) -> int:
    """Bits of a field of `struct`; `InputError` (`injection.field`) when it has none of that name, or an array."""
    if field in struct.joined:
        return struct.joined[field].width
    found = struct.by_name.get(field)
    if found is not None and found.count is None:
        return found.bits
    names = [f.name for f in struct.fields if f.count is None]
    what = "has no field" if found is None else "has an array, no single field,"
    raise InputError(
        f"{struct.struct_name} {what} {field!r}",
        id="injection.field",
        where=where,
        remedy=f"its fields are {', '.join([*names, *struct.joined])}",
    )


def change_field(data: bytes, struct: CStruct, field: str, bits: Iterable[int] | None, new: int | None) -> bytes:
    """`data` with a field of layout `struct` changed."""
    raw = bytearray(data)
    struct.field(field).patch(raw, 0, changed(int(struct.field(field).read(data)), bits, new))
    return bytes(raw)
