"""Which family some SQEs belong to, when nobody says: a documented heuristic.

Every entry that is not all zero gives points to each family:

| points | for |
|---|---|
| 3 | the type number has a name in the family; where types have no names, the kind has a layout |
| 2 | the kind has a layout, and (place holders) the task type is known |
| 2 | every reserved bit of that layout is 0 |
| 2 | kernel_credit is a value the runtime writes on that family; where that is not known, no sign at all |
| 2 | counts agree: a v200 place holder has no blocks, the groups of a v200 kernel hold all its blocks |

The family with the highest share of the possible points wins; the one registered first on equal shares,
so `v201` and `arch9201`, which differ from `v200` in few kinds, are only named when something speaks for
them. The confidence is that share, halved when the runner-up of another base family is as good.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from formats.enums import name_of
from formats.raw import SQE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.decoded import Decoded
    from formats.registry import Registry

SAMPLE = 1024
"""Entries looked at, at most."""

_FULL, _CREDIT = 11, 2
_CREDITS: Mapping[str, frozenset[int]] = MappingProxyType({
    "v100": frozenset({254, 255, 8, 12, 16, 18}),
    "v200": frozenset({252, 253, 255, 7, 8, 15, 16}),
    "arch9201": frozenset({252, 253, 254, 255, 8, 16}),
    "arch5162": frozenset({0, 1}),
})  # fmt: skip
_BASE = MappingProxyType({"v201": "v200", "arch9201": "v200"})


class FamilyGuess(NamedTuple):
    """The most plausible family, how sure that is (0 to 1), and why."""

    family: str
    confidence: float
    reason: str


def guess_family(registry: Registry, data: memoryview[int]) -> FamilyGuess:
    """The most plausible family of the 64-byte entries in `data`; looks at `SAMPLE` entries that are not empty."""
    families = registry.sqe_families
    entries = list(_entries(data))
    if not entries or not families:
        first = families[0] if families else ""
        return FamilyGuess(first, 0.0, "there is no entry that is not all zero")
    shares = {f: _share(registry, f, entries) for f in families}
    best = max(families, key=lambda f: shares[f])
    rivals = [f for f in families if _BASE.get(f, f) != _BASE.get(best, best)]
    rival = max(rivals, key=lambda f: shares[f], default=best)
    sure = shares[best] if rival == best or shares[rival] < shares[best] else shares[best] / 2
    told = f"{shares[best]:.0%} of the signs in {len(entries)} entries fit {best}"
    against = "" if rival == best else f", {shares[rival]:.0%} fit {rival}"
    return FamilyGuess(best, round(sure, 3), f"{told}{against}")


def _entries(data: memoryview[int]) -> Iterator[bytes]:
    found = 0
    for at in range(0, len(data) - SQE_SIZE + 1, SQE_SIZE):
        entry = bytes(data[at : at + SQE_SIZE])
        if any(entry):
            yield entry
            found += 1
            if found == SAMPLE:
                return


def _share(registry: Registry, family: str, entries: list[bytes]) -> float:
    written = _CREDITS.get(family) or _CREDITS.get(_BASE.get(family, ""), frozenset())
    full = _FULL if written else _FULL - _CREDIT
    points = sum(_points(registry.decode(family, entry), entry, written) for entry in entries)
    return points / (full * len(entries))


def _points(decoded: Decoded, entry: bytes, written: frozenset[int]) -> int:
    struct = decoded.struct
    named = _is_named(decoded)
    known = named and not decoded.guessed
    clean = known and not struct.has_stray_bits(entry)
    usual = decoded.values.get("kernel_credit") in written
    agrees = known and _agrees(decoded.values)
    return 3 * named + 2 * known + 2 * clean + _CREDIT * (usual and named) + 2 * agrees


def _is_named(decoded: Decoded) -> bool:
    """Whether the type number has a name; where types have none, whether the kind has a layout of its own."""
    field = decoded.struct.by_name.get("type")
    if field is None:
        return False
    return bool(name_of(field.enum, decoded.values["type"])) if field.enum else not decoded.guessed


def _agrees(v: Mapping[str, Any]) -> bool:
    """Whether counts that depend on each other do; only v200 entries have such counts."""
    if "group_dim" in v:
        return bool(v["group_dim"] * v["group_block_dim"] >= v["block_dim"])
    return "timeout_type" not in v or not v["block_dim"]
