"""Hypothesis strategies made from the tables, for tests of layouts and of what uses them.

Needs hypothesis; nothing else of the package imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from formats.cstruct import CStruct
    from formats.fields import Field

_LONG = 256
"""Longer runs repeat a pattern, as hypothesis limits how much it draws."""


def records(struct: CStruct, *, reserved: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Complete records for `struct.build`; with `reserved` off, reserved bits are left out (and so are 0)."""
    fields = struct.fields if reserved else struct.named_fields
    return st.fixed_dictionaries({f.name: values(f) for f in fields})


def raw(struct: CStruct) -> st.SearchStrategy[bytes]:
    """Any bytes of the size of `struct`."""
    if struct.size <= 8 * _LONG:
        return st.binary(min_size=struct.size, max_size=struct.size)
    return st.binary(min_size=1, max_size=_LONG).map(lambda pattern: bytes(_repeated(pattern, struct.size)))


def values(field: Field) -> st.SearchStrategy[Any]:
    """Values of one field: an int, or a list of ints."""
    low, high = field.limits
    one = st.integers(low, high)
    count = field.count
    if count is None:
        return one
    if count <= _LONG:
        return st.lists(one, min_size=count, max_size=count)
    return st.lists(one, min_size=1, max_size=_LONG).map(lambda pattern: _repeated(pattern, count))


def _repeated(pattern: list[int] | bytes, size: int) -> list[int]:
    return [pattern[k % len(pattern)] for k in range(size)]
