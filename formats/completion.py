"""What a completion entry says: its form, the errors in words, the task code (`reference/sqe_formats.md` 8).

| function | bytes |
|---|---|
| `decode_cqe("v100", data)` | 16 |
| `decode_cqe("v200", data)` | 20, or a slot of 32 |
| `decode_logic_cqe(data)` | 32, the report the driver gives to the runtime |
| `task_result(word)` | a packed result word |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from formats.buffers import flat
from formats.builtin import BUILTIN
from formats.decoded import Decoded, stray_bits
from formats.enums import name_of
from formats.errors import FormatError
from formats.registry import INHERITS
from formats.ts_codes import AICPU_CODES, SDMA_STATUS_BITS, TS_CODES, UB_DMA_STATUS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.buffers import Buffer

ERROR_MASK = 0x3F
WARNING_MASK = 0x40
_STATUS_BIT = 5
_STATUS = -1
"""Stands for the status word itself in the tables of codes."""


class TaskKind(Enum):
    """What kind of task completed; it decides which codes the error bits stand for."""

    COMMON = "common"
    AI_CORE = "AI Core"
    AI_VECTOR = "AI Vector"
    AICPU = "AICPU"
    FFTS_PLUS = "FFTS+"


_CODES_V100: Mapping[TaskKind, tuple[int, ...]] = MappingProxyType({
    TaskKind.COMMON: (0x103, 0x104, 0x105, 0x106, 0x109, 0x75),
    TaskKind.AI_CORE: (0x26, 0x27, 0x25, 0x106, 0x26, _STATUS),
    TaskKind.AI_VECTOR: (0x31, 0x32, 0x30, 0x106, 0x31, _STATUS),
    TaskKind.AICPU: (0x2A, 0x104, 0x28, 0x106, 0x2A, _STATUS),
    TaskKind.FFTS_PLUS: (0x10F, 0x110, 0x111, 0x106, 0x10F, _STATUS),
})  # fmt: skip
_CODES_V200: Mapping[TaskKind, tuple[int, ...]] = MappingProxyType({
    TaskKind.COMMON: (0x103, 0x112, 0x105, 0x106, 0x113, 0x114),
    TaskKind.AI_CORE: (0x26, 0x112, 0x25, 0x106, 0x26, _STATUS),
    TaskKind.AI_VECTOR: (0x31, 0x112, 0x30, 0x106, 0x31, _STATUS),
    TaskKind.AICPU: (0x2A, 0x112, 0x28, 0x106, 0x2A, _STATUS),
})  # fmt: skip
_KINDS_V100 = {0: TaskKind.AI_CORE, 1: TaskKind.AICPU}
_KINDS_V200 = {0: TaskKind.AI_CORE, 1: TaskKind.AI_VECTOR, 4: TaskKind.AICPU, 5: TaskKind.AICPU}
_CONDITION, _SDMA, _UB_DMA = 20, 11, 9
_PICTURE_TYPES = range(12, 15)
_SIZES: Mapping[str, tuple[int, ...]] = MappingProxyType({"v100": (16,), "v200": (20, 32)})


class TaskResult(NamedTuple):
    """A packed result word: task (16 bits), stream (12 bits), result (4 bits, 0 is success)."""

    task_id: int
    stream_id: int
    result: int


def task_result(word: int) -> TaskResult:
    """The parts of a 32-bit result word; `FormatError` (id `format.range`) when it is not one."""
    if not 0 <= word < 1 << 32:
        raise FormatError(f"{word} is not a 32-bit word", id="format.range", where="task_result")
    return TaskResult(word & 0xFFFF, word >> 16 & 0xFFF, word >> 28)


@dataclass(frozen=True)
class Completion:
    """One completion entry, understood.

    Attributes:
        decoded: layout and values.
        form: `time stamp`, `result`, `model execute`, `picture`, `UB DMA` or `logic report`.
        kind: kind of task the codes were taken for.
        errors: names of the error bits that are set, lowest first; empty for success.
        warning: whether the warning bit is set.
        status: the status word, `None` in a form without one.
        code: task scheduler code of the error (the lowest set bit decides), `None` for success.
        fault: for a failed model execute, the task that really failed.
        meaning: what the status word says where that is known, for example `AICPU TIMEOUT`.
    """

    decoded: Decoded
    form: str
    kind: TaskKind
    errors: tuple[str, ...] = ()
    warning: bool = False
    status: int | None = None
    code: int | None = None
    fault: TaskResult | None = None
    meaning: str = ""

    @property
    def code_name(self) -> str:
        """Name of `code`, or an empty string."""
        return "" if self.code is None else TS_CODES.get(self.code, "")


def decode_cqe(family: str, data: Buffer, *, kind: TaskKind | None = None, offset: int = 0) -> Completion:
    """One entry of a completion queue.

    Args:
        family: `v100` (16 bytes), or `v200`, `v201`, `arch9201` (20 bytes, or slots of 32).
        data: one entry.
        kind: kind of the task, when the caller knows it; otherwise the SQE type in the entry decides, which
            cannot tell AI Core from AI Vector and FFTS+ on v100.
        offset: only remembered.

    Raises:
        FormatError: another size (id `format.size`), or a family without such entries (`format.unknown-family`).
    """
    base = INHERITS.get(family, family)
    entry = bytes(flat(data))
    if base not in _SIZES:
        raise FormatError(
            f"no completion entries are known for {family!r}", id="format.unknown-family", remedy="use v100 or v200"
        )
    if len(entry) not in _SIZES[base]:
        sizes = " or ".join(str(size) for size in _SIZES[base])
        what = f"a {family} entry has {sizes} bytes, got {len(entry)}"
        raise FormatError(what, id="format.size", where=family, offset=offset)
    form, name = _form(base, entry, kind)
    return _understood(base, form, _as(base, name, entry, offset), kind)


def decode_logic_cqe(
    data: Buffer, *, family: str = "v100", kind: TaskKind | None = None, offset: int = 0, time_stamp: bool = False
) -> Completion:
    """The 32-byte report in which the driver hands a completion to the runtime.

    `family` says which codes its error bits stand for; `time_stamp` reads byte 16 as a time stamp instead
    of a ring position (nothing in the report tells).

    Raises:
        FormatError: not 32 bytes (id `format.size`), or an unknown family (`format.unknown-family`).
    """
    base = INHERITS.get(family, family)
    if base not in _SIZES:
        raise FormatError(f"no logic reports are known for {family!r}", id="format.unknown-family")
    entry = bytes(flat(data))
    decoded = _as(base, "LogicCqeTimestamp" if time_stamp else "LogicCqeSqeIndex", entry, offset)
    if len(entry) != decoded.struct.size:
        what = f"a logic report has {decoded.struct.size} bytes, got {len(entry)}"
        raise FormatError(what, id="format.size", where=family, offset=offset)
    return _understood(base, "logic report", decoded, kind)


def _as(family: str, name: str, entry: bytes, offset: int) -> Decoded:
    struct = BUILTIN.get(family, name)
    values = struct.parse(entry)
    return Decoded(struct, values, offset, notes=stray_bits(struct, entry[: struct.size]))


def _form(family: str, entry: bytes, kind: TaskKind | None) -> tuple[str, str]:
    v = BUILTIN.get(family, "CqeError").parse(entry)
    if (v["evt"] or v["place_hold"]) and not v["error_bit"]:
        return "time stamp", "CqeSysCnt"
    if family == "v100":
        executes = v["sqe_type"] == _CONDITION and kind in {None, TaskKind.COMMON}
        return ("model execute", "CqeModelExec") if executes else ("result", "CqeError")
    return ("picture", "CqeDvpp") if v["sqe_type"] in _PICTURE_TYPES else ("result", "CqeError")


def decode_ub_dma_cqe(data: Buffer, *, offset: int = 0) -> Completion:
    """A v200 entry of UB DMA, which only its queue tells from other entries.

    Raises:
        FormatError: neither 20 nor 32 bytes (id `format.size`).
    """
    entry = bytes(flat(data))
    if len(entry) not in _SIZES["v200"]:
        raise FormatError(f"a v200 entry has 20 or 32 bytes, got {len(entry)}", id="format.size", offset=offset)
    decoded = _as("v200", "CqeUbdma", entry, offset)
    status = [decoded.values[f"status{n}"] for n in (0, 1)]
    told = [f"jetty {decoded.values[f'jetty_id{n}']}: {UB_DMA_STATUS.get(s, s)}" for n, s in enumerate(status) if s]
    errors = ("UB_DMA",) if decoded.values["error_bit"] or told else ()
    return Completion(decoded, "UB DMA", TaskKind.COMMON, errors, meaning=", ".join(told))


def _understood(family: str, form: str, decoded: Decoded, kind: TaskKind | None) -> Completion:
    v = decoded.values
    kinds = _KINDS_V100 if family == "v100" else _KINDS_V200
    taken = kind or kinds.get(v.get("sqe_type", -1), TaskKind.COMMON)
    if form == "time stamp":
        return Completion(decoded, form, taken)
    bits = v["error_type"]
    table = "error_type" if family == "v100" else "error_type_v200"
    status = _status_word(form, v)
    code = _code(family, taken, bits & ERROR_MASK, status)
    return Completion(
        decoded,
        form,
        taken,
        errors=tuple(name_of(table, 1 << bit) for bit in range(_STATUS_BIT + 1) if bits >> bit & 1),
        warning=bool(bits & WARNING_MASK),
        status=status,
        code=code,
        fault=_fault(form, v),
        meaning=_meaning(family, taken, v.get("sqe_type", -1), bits & ERROR_MASK, status),
    )


def _status_word(form: str, v: Mapping[str, int]) -> int:
    if form == "model execute":
        return v["fault_task_id"] | v["fault_stream_id"] << 16 | v["result"] << 28 | v["reserved_0"] << 29
    return v["error_code"] if form == "logic report" else v.get("sq_sw_status", v.get("status", 0))


def _fault(form: str, v: Mapping[str, int]) -> TaskResult | None:
    failed = form == "model execute" and v["result"]
    return TaskResult(v["fault_task_id"], v["fault_stream_id"], v["result"]) if failed else None


def _code(family: str, kind: TaskKind, bits: int, status: int) -> int | None:
    """The task code of the lowest error bit; on v200 a status word of the common rule goes first."""
    if not bits:
        return None
    if family != "v100" and kind is TaskKind.COMMON and status:
        return status
    codes = _CODES_V100 if family == "v100" else _CODES_V200
    code = codes.get(kind, codes[TaskKind.COMMON])[(bits & -bits).bit_length() - 1]
    return status if code == _STATUS else code


def _meaning(family: str, kind: TaskKind, sqe_type: int, bits: int, status: int) -> str:
    """What the status word says, where its coding is known."""
    if not bits or not status:
        return ""
    if kind is TaskKind.AICPU:
        code = status if family == "v100" else status >> 16
        name = AICPU_CODES.get(code)
        return f"AICPU {name}" if name else ""
    if sqe_type == _SDMA:
        names = [name for bit, name in SDMA_STATUS_BITS.items() if status >> bit & 1]
        return f"SDMA {'|'.join(names)}" if names else ""
    if sqe_type == _UB_DMA and family != "v100":
        return f"UB DMA {UB_DMA_STATUS[status]}" if status in UB_DMA_STATUS else ""
    return TS_CODES.get(status, "") if bits >> _STATUS_BIT & 1 else ""
