"""Layouts as C: packed structs that a compiler checks with `_Static_assert`.

Members on byte boundaries with 8, 16, 32 or 64 bits are plain integers; other named fields are bit
fields, with `STRUCT_FIELD_BIT` and `STRUCT_FIELD_WIDTH` macros that count bits of the whole struct
from the least significant bit of byte 0. Reserved runs over 64 bits are `uint8_t` arrays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats.cstruct import CStruct
    from formats.fields import Field

_FLOATS = {32: "float", 64: "double"}
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def macro_prefix(struct: CStruct) -> str:
    """Upper-case name that macros of a struct begin with: `AicoreKernelSqe` -> `AICORE_KERNEL_SQE`."""
    return _WORD_STARTS.sub("_", struct.struct_name).upper()


def to_c(struct: CStruct) -> str:
    """One struct as C11 text: macros of the bit fields, the packed struct, the assertions.

    Needs `<stddef.h>` and `<stdint.h>`; :func:`c_header` writes a whole header.

    Raises:
        FormatError: an array of elements that are not C integers (id `format.no-c`).
    """
    return "\n".join([*_macros(struct), *_body(struct), *_asserts(struct), ""])


def c_header(structs: Iterable[CStruct], guard: str = "SQEMU_FORMATS_H") -> str:
    """A header of several structs, with include guard and includes."""
    parts = [f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n"]
    parts += [to_c(struct) for struct in structs]
    return "\n".join([*parts, f"#endif  /* {guard} */", ""])


def _macros(struct: CStruct) -> Iterator[str]:
    for f in struct.named_fields:
        if not f.is_cell:
            name = f"{macro_prefix(struct)}_{f.name.upper()}"
            yield f"#define {name}_BIT {f.offset}"
            yield f"#define {name}_WIDTH {f.width}"


def _body(struct: CStruct) -> Iterator[str]:
    if struct.note:
        yield f"/* {struct.note} */"
    yield f"typedef struct __attribute__((packed)) {struct.struct_name} {{"
    for f in struct.fields:
        comment = "" if f.reserved else f"  /* {f.meaning} */"
        yield f"    {_member(struct, f)};{comment}"
    yield f"}} {struct.struct_name};"


def _member(struct: CStruct, f: Field) -> str:
    if f.reserved and f.bits > 64 and f.bits % 8 == 0 and f.offset % 8 == 0:
        return f"uint8_t {f.name}[{f.bits // 8}]"
    if f.is_cell:
        return f"{_c_type(f)} {f.name}" + (f"[{f.count}]" if f.count else "")
    if f.count is None and f.width <= 64:
        return f"{_c_type(f)} {f.name} : {f.width}"
    raise FormatError(
        f"{f.count or 1} × {f.width} bits have no C form", id="format.no-c", where=f"{struct.struct_name}.{f.name}"
    )


def _c_type(f: Field) -> str:
    if f.kind == "float" and f.width in _FLOATS:
        return _FLOATS[f.width]
    size = next(n for n in (8, 16, 32, 64) if f.width <= n) if f.is_cell else (32 if f.width <= 32 else 64)
    return f"int{size}_t" if f.kind == "int" else f"uint{size}_t"


def _asserts(struct: CStruct) -> Iterator[str]:
    name = struct.struct_name
    yield f'_Static_assert(sizeof({name}) == {struct.size}, "{name} has {struct.size} bytes");'
    for f in struct.named_fields:
        if f.is_cell:
            byte = f.offset // 8
            yield f'_Static_assert(offsetof({name}, {f.name}) == {byte}, "{name}.{f.name} is at byte {byte}");'
