"""The same layouts written with stock construct, and with dissect.cstruct: the peers of the format figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct

from tools.bench.pairs import PeerMissingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats import CStruct

_C_TYPES = {32: "uint32_t", 64: "uint64_t"}


def stock_construct(struct: CStruct) -> construct.Construct[Any, Any]:
    """`ByteSwapped(BitStruct(...))` over the whole struct, fields from high to low."""
    fields = [f.name / construct.BitsInteger(f.bits) for f in reversed(struct.fields)]
    return construct.ByteSwapped(construct.BitStruct(*fields))


def parsed(values: Mapping[str, Any], struct: CStruct) -> dict[str, int]:
    """The named scalar fields of a parsed record, to compare both sides."""
    return {f.name: int(values[f.name]) for f in struct.named_fields if f.count is None}


def dissect_struct(struct: CStruct) -> Any:  # noqa: ANN401 - a class that dissect generates
    """The struct compiled by dissect.cstruct; `PeerMissingError` when it is not installed."""
    try:
        from dissect.cstruct import cstruct  # noqa: PLC0415 - an optional peer
    except ImportError:
        raise PeerMissingError("dissect.cstruct is not installed; pip install 'sqemu[bench]'") from None
    lines = [_member(f.name, f.offset, f.width) for f in struct.fields]
    text = f"struct {struct.struct_name} {{\n" + "\n".join(lines) + "\n};"
    return getattr(cstruct().load(text, compiled=True), struct.struct_name)


def _member(name: str, offset: int, width: int) -> str:
    """A whole word as it is, everything else as bits of a 32-bit word, so that the words stay together."""
    if offset % width == 0 and width in _C_TYPES:
        return f"  {_C_TYPES[width]} {name};"
    return f"  uint32_t {name} : {width};"
