"""Hypothesis strategies made from the tables, for tests of layouts and of what uses them.

Needs hypothesis; nothing else of the package imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from formats.cstruct import CStruct
    from formats.fields import Field


def records(struct: CStruct, *, reserved: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Complete records for `struct.build`; with `reserved` off, reserved bits are left out (and so are 0)."""
    fields = struct.fields if reserved else struct.named_fields
    return st.fixed_dictionaries({f.name: values(f) for f in fields})


def raw(struct: CStruct) -> st.SearchStrategy[bytes]:
    """Any bytes of the size of `struct`."""
    return st.binary(min_size=struct.size, max_size=struct.size)


def values(field: Field) -> st.SearchStrategy[Any]:
    """Values of one field: an int, or a list of ints."""
    low, high = field.limits
    one = st.integers(low, high)
    return one if field.count is None else st.lists(one, min_size=field.count, max_size=field.count)
