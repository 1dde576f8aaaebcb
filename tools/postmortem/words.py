"""Codes, bits and types of logs in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.acl import ACL
from tools.explanations.error_type import BITS
from tools.explanations.ts import TS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CREDIT_S = 2**32 / 1e9
"""Seconds of one kernel credit on 910B: 254 of them are the documented 1091 s (`device_semantics.md` 8.5)."""

V200_BITS = MappingProxyType({1: "bus error"})
"""Bits of the error type that 950 names differently (`sqe_formats.md` 8.1)."""

CORE_BITS: Mapping[tuple[int, int], str] = MappingProxyType({
    (0, 23): "the DDR address of an MTE instruction is out of range",
    (2, 15): "the D-cache read or wrote the UB and the bus answered with an error",
    (3, 30): "a parameter of a CUBE instruction is invalid",
})  # fmt: skip
"""(number of the AIC_ERROR register, bit): what hosts of 910B print for it in published logs."""

_ACL_OFFSET = 0x7150000
"""Return codes of the runtime hold a TS code in their low digits: 0x7150026 is TS 0x26."""
DAY_NS = 86_400_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def error_bits(value: int, dialect: str = "") -> str:
    """The bits of the error type of a completion entry in words; the lowest one decides."""
    names = [BITS[k][0] for k in range(len(BITS)) if value >> k & 1]
    if dialect == "950":
        names = [V200_BITS.get(k, BITS[k][0]) for k in range(len(BITS)) if value >> k & 1]
    return " + ".join(names) or "no bit set"


def ts_code(code: int) -> str:
    """A task scheduler code, with its name and meaning when it has one; codes of the runtime are taken apart."""
    plain = code - _ACL_OFFSET if _ACL_OFFSET <= code <= _ACL_OFFSET + 0xFFF else code
    if plain not in TS:
        return f"TS {code:#x}"
    name, meaning = TS[plain]
    return f"TS {plain:#x} {name}: {meaning}"


def acl_code(code: int) -> str:
    """A return code with its meaning when it has one."""
    known = ACL.get(code)
    return f"{code} ({known.meaning.rstrip('.')})" if known else str(code)


def core_bits(registers: Mapping[str, int]) -> list[str]:
    """The error bits that are set in AIC_ERROR0 to 5, in words where they are known."""
    found = []
    for k in range(6):
        value = registers.get(f"AIC_ERROR{k}", 0)
        for bit in range(64):
            if value >> bit & 1:
                known = CORE_BITS.get((k, bit))
                found.append(f"AIC_ERROR{k} bit {bit}" + (f": {known}" if known else ", no public meaning"))
    return found


def moment(stamp: int | None) -> str:
    """A stamp for people, to the microsecond."""
    if stamp is None:
        return "at an unknown time"
    return "at " + (_EPOCH + timedelta(microseconds=stamp // 1000)).strftime("%Y-%m-%d %H:%M:%S.%f")


def span(nanoseconds: int) -> str:
    """A length of time in a fitting unit."""
    size = abs(nanoseconds)
    if size >= 2 * DAY_NS:
        return f"{nanoseconds / DAY_NS:.1f} days"
    for unit, name in ((1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")):
        if size >= unit:
            return f"{nanoseconds / unit:.3f} {name}"
    return f"{nanoseconds} ns"


def counted(count: int, noun: str) -> str:
    """`count` with its noun: `1 entry`, `2 entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"


def listed(parts: Iterable[object], most: int = 6) -> str:
    """`a, b, c and 4 more`."""
    texts = [str(part) for part in parts]
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")
