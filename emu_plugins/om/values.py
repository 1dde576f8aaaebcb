"""What the graph of an offline model is made of, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.attributes import Attributes

_NONE: Attributes = MappingProxyType({})

DTYPES: Mapping[int, str] = MappingProxyType({
    0: "undefined", 1: "float32", 2: "float16", 3: "int8", 4: "uint8", 5: "int16", 6: "uint16", 7: "int32", 8: "int64",
    9: "uint32", 10: "uint64", 11: "bool", 12: "float64", 13: "string", 14: "dual_sub_int8", 15: "dual_sub_uint8",
    16: "complex64", 17: "complex128", 18: "qint8", 19: "qint16", 20: "qint32", 21: "quint8", 22: "quint16",
    23: "resource", 24: "string_ref", 25: "dual", 26: "variant", 27: "bfloat16", 28: "int4", 29: "uint1", 30: "int2",
    31: "uint2", 32: "complex32", 33: "hifloat8", 34: "float8_e5m2", 35: "float8_e4m3fn", 36: "float8_e8m0",
    37: "float6_e3m2", 38: "float6_e2m3", 39: "float4_e2m1", 40: "float4_e1m2", 41: "hifloat4",
})  # fmt: skip
"""Element types by the numbers of the graph, which are not those of the C API (`om_format.md` 8.4)."""
_MOST_DIGITS = 9
"""Digits of the number of an output; more make no output of anything."""
FORMATS: Mapping[int, str] = MappingProxyType({0: "NCHW", 1: "NHWC", 2: "ND"})
"""Formats of MODEL_INOUT_INFO."""


def dtype_name(number: int) -> str:
    """Name of an element type of the graph, or `dtype N`."""
    return DTYPES.get(number, f"dtype {number}")


@dataclass(frozen=True, slots=True)
class TensorDesc:
    """A tensor of the graph: element type by the graph's numbers, shape as stored, bytes; where its weights lie."""

    name: str = ""
    dtype: int = 0
    shape: tuple[int, ...] = ()
    layout: str = ""
    size: int = 0
    weight_size: int = 0
    data_offset: int = 0
    attrs: Attributes = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor with bytes of its own; they are empty when they lie in the weights of the model."""

    desc: TensorDesc
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Named:
    """Attributes with a name."""

    name: str
    attrs: Attributes = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class Op:
    """An operator; `id` is what tasks call `op_index`.

    Attributes:
        inputs: `producer:output` per data input, "" for an unconnected one, then `producer:-1` per control edge.
        input_offsets, output_offsets, workspaces: logical offsets; workspace_bytes: sizes.
    """

    id: int
    name: str
    type: str
    stream_id: int = 0
    inputs: tuple[str, ...] = ()
    attrs: Attributes = field(default_factory=lambda: _NONE)
    input_descs: tuple[TensorDesc, ...] = ()
    output_descs: tuple[TensorDesc, ...] = ()
    input_offsets: tuple[int, ...] = ()
    output_offsets: tuple[int, ...] = ()
    workspaces: tuple[int, ...] = ()
    workspace_bytes: tuple[int, ...] = ()

    @property
    def data_inputs(self) -> tuple[tuple[str, int] | None, ...]:
        """Producer and number of its output per data input, None for an unconnected one; control edges left out."""
        found: list[tuple[str, int] | None] = []
        for each in self.inputs:
            name, _, number = each.rpartition(":")
            if number == "-1":
                continue
            known = name and number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS
            found.append((name, int(number)) if known else None)
        return tuple(found)


@dataclass(frozen=True)
class Graph:
    """A graph with its operators in file order."""

    name: str
    ops: tuple[Op, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attrs: Attributes = field(default_factory=lambda: _NONE)
