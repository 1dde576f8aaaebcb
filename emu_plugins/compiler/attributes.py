"""Attributes of a node: the GE attributes that the passes read, kinds of values, and values that contradict each other.

Mirrors the vendor's `AttrUtils` and the attribute names of `reference/tiling_sink_compiler.md` 4.5 and 8. Those listed
here may be given on any node; all others are the operator's own.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.blob.model import KernelType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emu_core.operators import AttrValue
    from emu_plugins.compiler.graph import RawAttr

DYNAMIC_TILING_DEPEND = "_dynamic_tiling_depend_op"
TILING_SINK = "_tiling_sink_op"
FORCE_UNKNOWN_SHAPE = "_force_unknown_shape"
NEVER_TIMEOUT = "_op_exec_never_timeout"
COMPILE_INFO = "compile_info_json"
OP_PARA_SIZE = "op_para_size"
IMPLY_TYPE = "_fe_imply_type"
DFX_BUFFER_SIZE = "_op_dfx_buffer_size"
ADDR_REFRESH = "_is_support_addr_refresh"
DISABLE_ATTACHED = "_disable_attached_resource"
STREAM_LABEL = "_stream_label"
PATH_PREFIX = "_ops_path_name_prefix"
KERNEL_LIST = "_kernel_list_first_name"
CORE_TYPE = "_cube_vector_core_type"
SUPER_KERNEL_SCOPE = "_super_kernel_scope"
SUPPORTS_FUSION = "supportSuperKernel"
LOCAL_MEMORY = "local_memory_size"
ENSURE_REUSE = "_op_ensure_reuse_binary"
REUSE_BINARY = "super_kernel_reuse_binary"

GE_ATTRS: Mapping[str, str] = MappingProxyType(
    {
        DYNAMIC_TILING_DEPEND: "bool",
        TILING_SINK: "bool",
        FORCE_UNKNOWN_SHAPE: "bool",
        NEVER_TIMEOUT: "bool",
        COMPILE_INFO: "str",
        OP_PARA_SIZE: "int",
        IMPLY_TYPE: "int",
        DFX_BUFFER_SIZE: "int",
        ADDR_REFRESH: "bool",
        DISABLE_ATTACHED: "bool",
        STREAM_LABEL: "str",
        PATH_PREFIX: "str",
        KERNEL_LIST: "str",
        CORE_TYPE: "str",
        SUPER_KERNEL_SCOPE: "str",
        SUPPORTS_FUSION: "int",
        LOCAL_MEMORY: "int",
        ENSURE_REUSE: "bool",
        REUSE_BINARY: "bool",
    }
)
"""GE attributes that a graph may preset, and their kind."""

SPLIT_CORE_TYPES: Mapping[str, KernelType] = MappingProxyType(
    {"MIX_AICORE": KernelType.MIX_AICORE, "MIX_VECTOR_CORE": KernelType.MIX_VECTOR_CORE}
)
"""Values of `_cube_vector_core_type` that split the kernel over both kinds of cores, on a platform without FFTS+, and
the kernel type of its tasks (`reference/tiling_sink_compiler.md` 7.5)."""
CORE_TYPES = ("AiCore", "VectorCore", *SPLIT_CORE_TYPES)
"""Values of `_cube_vector_core_type` that are understood here."""
LARGEST_TILING_BYTES = 16 * 1024 * 1024


def contradictions(preset: Mapping[str, AttrValue]) -> Iterator[tuple[str, str, str]]:
    """(attribute, what is wrong, remedy) for each pair of presets that cannot both hold."""
    if preset.get(TILING_SINK) is True:
        for other, value, why in _AGAINST_SINK:
            if preset.get(other) is value:
                shown = str(value).lower()
                yield TILING_SINK, f"is true although {other} is {shown}: {why}", f"drop one of {TILING_SINK}, {other}"
    if preset.get(CORE_TYPE, CORE_TYPES[0]) not in CORE_TYPES:
        yield CORE_TYPE, f"is {preset[CORE_TYPE]!r}", f"give one of {', '.join(CORE_TYPES)}"


_AGAINST_SINK = (
    (FORCE_UNKNOWN_SHAPE, True, "tiling sinks in static graphs only"),
    (ADDR_REFRESH, False, "such an operator is host scheduled, and tiling sinks in static graphs only"),
    (DYNAMIC_TILING_DEPEND, False, "what depends on no value has nothing to sink"),
)


def convert(kind: str, value: RawAttr) -> AttrValue | None:
    """`value` as an attribute of `kind`, or None when it is none."""
    return _CONVERT[kind](value)


def too_large(name: str, value: AttrValue) -> bool:
    """Whether a size in bytes is more than 16 MiB."""
    return name in (OP_PARA_SIZE, DFX_BUFFER_SIZE) and number(value) > LARGEST_TILING_BYTES


def number(value: AttrValue) -> float | int:
    """`value` when it is a number, else 0."""
    return value if isinstance(value, (int, float)) else 0


def _as_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63 else None


def _as_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and value.bit_length() > 1000:
        return None
    return float(value) if math.isfinite(value) else None


def _as_str(value: object) -> str | None:
    if not isinstance(value, str) or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _as_ints(value: object) -> tuple[int, ...] | None:
    found = tuple(_as_int(item) for item in value) if isinstance(value, tuple) else (None,)
    good = tuple(item for item in found if item is not None)
    return good if len(good) == len(found) else None


def _as_floats(value: object) -> tuple[float, ...] | None:
    found = tuple(_as_float(item) for item in value) if isinstance(value, tuple) else (None,)
    good = tuple(item for item in found if item is not None)
    return good if len(good) == len(found) else None


_CONVERT: Mapping[str, Callable[[object], AttrValue | None]] = MappingProxyType(
    {
        "bool": lambda value: value if isinstance(value, bool) else None,
        "int": _as_int,
        "float": _as_float,
        "str": _as_str,
        "list_int": _as_ints,
        "list_float": _as_floats,
    }
)
KINDS = tuple(_CONVERT)
"""Kinds that an operator may declare."""
REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "bool": "give true or false",
        "int": "give an integer of 64 bits; op_para_size and _op_dfx_buffer_size at most 16 MiB",
        "float": "give a finite number",
        "str": "give text without NUL",
        "list_int": "give a list of integers of 64 bits",
        "list_float": "give a list of finite numbers",
    }
)
"""What to do about a value of the wrong kind."""
