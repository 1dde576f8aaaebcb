"""Shorthand for meanings of values that a layout splits in two or repeats."""

from __future__ import annotations

_ENDS = (("_low", "_high"), ("_l", "_h"))


def halves(names: str, what: str, *, short: bool = False) -> dict[str, str]:
    """Meanings of `X_low` and `X_high` (or, if `short`, `X_l` and `X_h`) for each X of `names`."""
    low, high = _ENDS[short]
    found: dict[str, str] = {}
    for name in names.split():
        found |= {name + low: f"{what}, low half", name + high: f"{what}, high half"}
    return found


def each(names: str, what: str) -> dict[str, str]:
    """One meaning for several names."""
    return dict.fromkeys(names.split(), what)


def numbered(pattern: str, count: int, what: str, *, first: int = 0) -> dict[str, str]:
    """Meanings of numbered names: `{}` stands for the number in both texts."""
    return {pattern.format(n): what.format(n) for n in range(first, first + count)}
