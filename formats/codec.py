"""Generated scalar parse and build: the named fields of one record as an object with slots.

The source is written from the table of the struct and stays readable (`codec.source`). Each run of
fields between two byte boundaries becomes one `struct` cell; bit fields are shifted out of their
cell. Reserved bits are dropped by `parse` and written 0 by `build`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.buffers import flat
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from formats.cstruct import CStruct
    from formats.fields import Field

_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}


@dataclass(frozen=True)
class _Cell:
    """Fields that share the bytes from `byte` on; `bits` is a multiple of 8."""

    byte: int
    bits: int
    fields: tuple[Field, ...]

    @property
    def named(self) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if not f.reserved)

    @property
    def plain(self) -> bool:
        """Whether the `struct` module reads the one field (or array) of the cell as it is."""
        return len(self.fields) == 1 and self.fields[0].is_cell

    @property
    def code(self) -> str:
        if not self.named:
            return f"{self.bits // 8}x"
        if not self.plain:
            return _CODES[self.bits].upper() if self.bits in _CODES else f"{self.bits // 8}s"
        f = self.fields[0]
        letter = _CODES[f.width]
        return f"{f.count or ''}{letter if f.kind == 'int' else letter.upper()}"


def _cells(fields: tuple[Field, ...]) -> Iterator[_Cell]:
    run: list[Field] = []
    for f in fields:
        run.append(f)
        if f.end % 8 == 0:
            yield _Cell(run[0].offset // 8, f.end - run[0].offset, tuple(run))
            run = []


class Codec:
    """Scalar codec of one struct.

    Attributes:
        source: the generated Python source.
        record: class of the parsed objects: a slot per named field (tuples for arrays), a property per
            joined value; missing constructor arguments are 0.
        parse: `parse(buf, offset=0) -> record`.
        build: `build(record) -> bytes`.

    Raises:
        FormatError: `parse`: too few bytes (id `format.size`); `build`: a value that does not fit (`format.range`).
    """

    def __init__(self, owner: CStruct) -> None:
        cells = tuple(_cells(owner.fields))
        self.source = _source(owner, cells)
        space: dict[str, Any] = {"_struct_error": struct.error, "_owner": owner, "_diagnose": _diagnose}
        packer = struct.Struct("<" + "".join(c.code for c in cells))
        space |= {"_unpack": packer.unpack_from, "_pack": packer.pack, "_short": _short}
        # The source is made from the names and numbers of a checked table, never from input.
        exec(compile(self.source, f"<codec of {owner.struct_name}>", "exec"), space)  # noqa: S102
        self.record: type[Any] = space["Record"]
        self.record.__qualname__ = self.record.__name__ = owner.struct_name
        self.parse: Callable[..., Any] = space["parse"]
        self.build: Callable[[Any], bytes] = space["build"]


def _short(owner: CStruct, buf: Any, offset: int) -> FormatError:  # noqa: ANN401 - any buffer
    have = len(flat(buf))
    what = f"needs {owner.size} bytes from byte {offset}, the buffer has {have}"
    return FormatError(what, id="format.size", where=owner.struct_name, offset=offset)


def _diagnose(owner: CStruct, record: Any) -> bytes:  # noqa: ANN401 - any record
    """Build the slow way, which names the field that does not fit."""
    return owner.build({f.name: getattr(record, f.name) for f in owner.named_fields})


def _source(owner: CStruct, cells: tuple[_Cell, ...]) -> str:
    return "\n".join([*_record_source(owner), *_parse_source(cells), *_build_source(cells), ""])


def _record_source(owner: CStruct) -> Iterator[str]:
    names = [f.name for f in owner.named_fields]
    default = {f.name: repr((0,) * f.count) if f.count else "0" for f in owner.named_fields}
    yield "class Record:"
    yield f"    __slots__ = {tuple(names)!r}"
    yield f"    def __init__(self, {''.join(f'{n}={default[n]}, ' for n in names)}):"
    yield from (f"        self.{n} = {n}" for n in names)
    yield "    def __eq__(self, other):"
    yield "        return type(other) is Record and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)"
    yield "    __hash__ = None"
    yield "    def __repr__(self):"
    shown = "', '.join(f'{n}={getattr(self, n)!r}' for n in self.__slots__)"
    yield f"        return '{owner.struct_name}(' + {shown} + ')'"
    for pair in owner.joined.values():
        yield "    @property"
        yield f"    def {pair.name}(self):"
        yield f"        return self.{pair.low.name} | self.{pair.high.name} << {pair.low.width}"


def _parse_source(cells: tuple[_Cell, ...]) -> Iterator[str]:
    targets: list[str] = []
    body: list[str] = []
    for k, cell in enumerate(cells):
        names = _cell_targets(k, cell)
        targets += names
        body += _cell_reads(k, cell, names)
    yield "def parse(buf, offset=0, _new=Record.__new__, _cls=Record):"
    yield "    try:"
    yield f"        ({''.join(t + ', ' for t in targets)}) = _unpack(buf, offset)"
    yield "    except _struct_error:"
    yield "        raise _short(_owner, buf, offset) from None"
    yield "    r = _new(_cls)"
    yield from (f"    {line}" for line in body)
    yield "    return r"


def _cell_targets(k: int, cell: _Cell) -> list[str]:
    if not cell.named:
        return []
    count = cell.fields[0].count if cell.plain else None
    return [f"c{k}"] if count is None else [f"c{k}_{n}" for n in range(count)]


def _cell_reads(k: int, cell: _Cell, names: list[str]) -> Iterator[str]:
    if not cell.named:
        return
    if cell.plain:
        array = cell.fields[0].count is not None
        yield f"r.{cell.fields[0].name} = " + (f"({''.join(n + ', ' for n in names)})" if array else names[0])
        return
    if cell.bits not in _CODES:
        yield f"c{k} = int.from_bytes(c{k}, 'little')"
    base = cell.byte * 8
    for f in cell.named:
        yield f"r.{f.name} = {_read(f'c{k}', f, f.offset - base, cell.bits)}"


def _read(cell: str, f: Field, shift: int, bits: int) -> str:
    one = [_element(cell, f, shift + n * f.width, bits) for n in range(f.count or 1)]
    return one[0] if f.count is None else f"({''.join(x + ', ' for x in one)})"


def _element(cell: str, f: Field, shift: int, bits: int) -> str:
    moved = f"{cell} >> {shift}" if shift else cell
    value = moved if shift + f.width == bits else f"{moved} & {(1 << f.width) - 1:#x}"
    if f.kind == "int":
        half = 1 << (f.width - 1)
        return f"(({value}) ^ {half:#x}) - {half:#x}"
    return value


def _build_source(cells: tuple[_Cell, ...]) -> Iterator[str]:
    arguments: list[str] = []
    checks: list[str] = []
    for cell in cells:
        if not cell.named:
            continue
        if cell.plain:
            f = cell.fields[0]
            arguments.append(f"r.{f.name}" if f.count is None else f"*r.{f.name}")
            checks += [] if f.count is None else [f"len(r.{f.name}) != {f.count}"]
        else:
            checks += [check for f in cell.named for check in _checks(f)]
            arguments.append(_word(cell))
    yield "def build(r):"
    yield "    try:"
    if checks:
        yield f"        if {' or '.join(checks)}:"
        yield "            return _diagnose(_owner, r)"
    yield f"        return _pack({', '.join(arguments)})"
    yield "    except (_struct_error, TypeError, OverflowError):"
    yield "        return _diagnose(_owner, r)"


def _checks(f: Field) -> list[str]:
    names = [f"r.{f.name}"] if f.count is None else [f"r.{f.name}[{n}]" for n in range(f.count)]
    if f.kind == "int":
        half = 1 << (f.width - 1)
        return [f"({n} + {half:#x}) >> {f.width}" for n in names]
    return [f"{n} >> {f.width}" for n in names]


def _word(cell: _Cell) -> str:
    terms = []
    for f in cell.named:
        for n in range(f.count or 1):
            name = f"r.{f.name}" if f.count is None else f"r.{f.name}[{n}]"
            value = f"({name} & {(1 << f.width) - 1:#x})" if f.kind == "int" else name
            shift = f.offset + n * f.width - cell.byte * 8
            terms.append(f"{value} << {shift}" if shift else value)
    word = " | ".join(terms)
    return word if cell.bits in _CODES else f"({word}).to_bytes({cell.bits // 8}, 'little')"
