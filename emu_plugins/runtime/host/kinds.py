"""What every parameter of the host API takes: one table, looked at before a call begins.

A call that gets a value of another type answers 107000: EE1004 for a null pointer, EE1003 for anything else. Values
that mean the same are made one (`numpy.int32(3)` is 3), so that nothing below has to think of it. Ranges are the calls'
own business, and so are handles: `RuntimeCore.require` knows which of them live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np

from emu_core.kernels import CoreType
from emu_core.memory import raw_bytes
from emu_core.model import Port
from emu_core.origin import Origin
from emu_plugins.runtime.host.capability import Firmware
from emu_plugins.runtime.host.errors import RuntimeApiError, bad_value, null_pointer, shown
from emu_plugins.runtime.host.handles import (
    EventHandle,
    EventStyle,
    ModelHandle,
    NotifyHandle,
    Program,
    StreamHandle,
)

MOST_U64 = (1 << 64) - 1


@dataclass(frozen=True)
class Kind:
    """What a parameter takes.

    Attributes:
        expected: for messages. plain: values of exactly this type are taken as they are.
        convert: the value that is used; raises TypeError or ValueError for what does not fit.
        optional: None is a value. pointer: None is a null pointer (EE1004), not just a bad value (EE1003).
    """

    expected: str
    plain: type | None
    convert: Callable[[Any], object]
    optional: bool = False
    pointer: bool = False


def whole(value: object) -> int:
    """`value` as an int; `TypeError` for truth values, floats and all else that is no whole number."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)  # type: ignore[arg-type]


def _natural(value: object) -> int:
    found = whole(value)
    if found < 0:
        raise ValueError
    return found


def _truth(value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if whole(value) not in (0, 1):
        raise ValueError
    return value == 1


def _words(values: Iterable[object]) -> tuple[int, ...]:
    found = tuple(whole(value) for value in values)
    if any(not 0 <= word <= MOST_U64 for word in found):
        raise ValueError
    return found


def _is(kind: type) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return convert


def _all(kind: type) -> Callable[[Iterable[object]], object]:
    def convert(values: Iterable[object]) -> object:
        found = tuple(values)
        if not all(isinstance(value, kind) for value in found):
            raise TypeError
        return found

    return convert


def _same(value: object) -> object:
    """Looked at by the call itself."""
    return value


INTEGER = Kind("an integer", int, whole)
MAYBE_INTEGER = Kind("an integer or None", int, whole, optional=True)
SIZE = Kind("a size of 0 or more bytes", None, _natural)
TRUTH = Kind("True or False", bool, _truth)
TEXT = Kind("a text", str, _is(str), pointer=True)
MAYBE_TEXT = Kind("a text", str, _is(str), optional=True)
BYTES = Kind("bytes, or a contiguous buffer such as an array", bytes, raw_bytes, pointer=True)
WORDS = Kind("values of 64 bits", None, _words, pointer=True)
MAYBE_KEYS = Kind("tiling keys of 64 bits, or None", None, _words, optional=True)
ORIGIN = Kind("an Origin", Origin, _is(Origin))
PORTS = Kind("ports", None, _all(Port))
ADDRESSES = Kind("addresses", None, _words)
DETAILS = Kind("a mapping or None", None, _is(Mapping), optional=True)
STYLE = Kind("an EventStyle", EventStyle, _is(EventStyle))
FIRMWARE = Kind("a Firmware or None", Firmware, _is(Firmware), optional=True)
CORE_TYPE = Kind("a CoreType", CoreType, _is(CoreType))
OF_THE_CALL = Kind("what the call says", None, _same, optional=True)

HANDLES: Mapping[str, type] = MappingProxyType(
    {
        "stream": StreamHandle,
        "dst_stream": StreamHandle,
        "task_stream": StreamHandle,
        "exec_stream": StreamHandle,
        "event": EventHandle,
        "notify": NotifyHandle,
        "model": ModelHandle,
        "program": Program,
    }
)
"""Parameters that are handles."""

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(HANDLES, OF_THE_CALL),
        "caller": OF_THE_CALL,
        "function": OF_THE_CALL,
        "config": OF_THE_CALL,
        "para": OF_THE_CALL,
        "info": OF_THE_CALL,
        "library": MAYBE_TEXT,
        "launch_aicpu.function": MAYBE_TEXT,
        "register_program.name": MAYBE_TEXT,
        "name": TEXT,
        "label": TEXT,
        "where": TEXT,
        "data": BYTES,
        "words": WORDS,
        "tiling_keys": MAYBE_KEYS,
        "scratch": ADDRESSES,
        "inputs": PORTS,
        "outputs": PORTS,
        "details": DETAILS,
        "origin": ORIGIN,
        "style": STYLE,
        "core_type": CORE_TYPE,
        "waitable": TRUTH,
        "custom": TRUTH,
        "clear": TRUTH,
        "ts": TRUTH,
        "malloc.size": INTEGER,
        "size": SIZE,
        "timeout_s": MAYBE_INTEGER,
        "timeout_us": MAYBE_INTEGER,
        **dict.fromkeys(
            (
                "address", "args", "block_dim", "device_id", "dst_task_id", "feature", "flag", "microseconds", "mode",
                "module", "pc", "priority", "seconds", "source", "target", "task_id", "tiling_key", "timeout_ms",
                "value",
            ),
            INTEGER,
        ),
    }
)  # fmt: skip
"""Kind of each parameter by its name, or by call and name where calls differ."""

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        "schem": INTEGER,
        "block_task_prefetch": INTEGER,
        "timeout_us": MAYBE_INTEGER,
        "id": INTEGER,
        "hdl": OF_THE_CALL,
        "bin_handle": OF_THE_CALL,
        **dict.fromkeys(("ffts_plus_task_info", "block_dim_addr", "tiling_key_addr", "func_entry_addr"), MAYBE_INTEGER),
    }
)
"""Kind of each field of the records that calls take."""


def kind_of(function: str, parameter: str) -> Kind:
    """Kind of a parameter; `KeyError` for one that is not in the table."""
    return KINDS.get(f"{function}.{parameter}") or KINDS[parameter]


def accept(function: str, parameter: str, value: object, kind: Kind) -> object:
    """The value that the call uses.

    Raises:
        RuntimeApiError: another type (107000, EE1003), a null pointer (107000, EE1004).
    """
    if type(value) is kind.plain or (value is None and kind.optional):
        return value
    if value is None and kind.pointer:
        raise null_pointer(function, parameter)
    try:
        return kind.convert(value)
    except (TypeError, ValueError, BufferError, OverflowError) as error:
        raise refused(function, parameter, value, kind.expected, str(error) if kind is BYTES else "") from error


def accept_fields(function: str, parameter: str, record: object, names: Sequence[str]) -> dict[str, Any]:
    """Fields of a record as the call uses them; raises as `accept`, which names ``parameter.field``."""
    return {name: accept(function, f"{parameter}.{name}", getattr(record, name), FIELDS[name]) for name in names}


def refused(function: str, parameter: str, value: object, expected: str, why: str = "") -> RuntimeApiError:
    """`bad_value` with a value of any type and length."""
    what = f"{type(value).__name__}: {why}" if why else type(value).__name__
    return bad_value(function, parameter, _Text(f"{shown(value)} ({what})"), expected)


class _Text(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
