"""The attribute table: every kind of value, in order, inline or behind the entries."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.tiling.attributes import AttributeTable, encode_attributes, float32

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
FLOAT = st.floats(width=32, allow_nan=False)
VALUE = st.one_of(
    st.booleans(), INT64, FLOAT, st.text(max_size=20), st.lists(INT64, max_size=4).map(tuple),
    st.lists(FLOAT, min_size=1, max_size=4).map(tuple),
)  # fmt: skip


def _entry(raw, index):
    """kind, count, size, and the value's bytes, read by hand."""
    kind, count, size, word = struct.unpack_from("<IIQQ", raw, 32 * index)
    data = struct.pack("<Q", word)[:size] if size <= 8 else raw[word : word + size]
    return kind, count, data


def _expected(value):
    if isinstance(value, bool):
        return 0, 1, bytes([value])
    if isinstance(value, int):
        return 1, 1, struct.pack("<q", value)
    if isinstance(value, float):
        return 2, 1, struct.pack("<f", value)
    if isinstance(value, str):
        return 3, 1, value.encode()
    if any(isinstance(v, float) for v in value):
        return 5, len(value), struct.pack(f"<{len(value)}f", *value)
    return 4, len(value), struct.pack(f"<{len(value)}q", *value)


@given(st.lists(VALUE, max_size=6))
def test_every_value_is_found_again(values):
    """Kind, count and bytes of each attribute, whatever lies before it; the table is a multiple of 8 bytes."""
    raw = encode_attributes(values)
    assert len(raw) % 8 == 0
    assert [_entry(raw, i) for i in range(len(values))] == [_expected(v) for v in values]


@given(st.lists(VALUE, min_size=1, max_size=6))
def test_numbers_come_back_by_position_and_only_as_their_kind(values):
    """An int is no float, a bool is no int, and positions outside the table are absent."""
    table = AttributeTable(encode_attributes(values), len(values))
    for index, value in enumerate(values):
        is_int = isinstance(value, int) and not isinstance(value, bool)
        assert table.get_int(index) == (value if is_int else None)
        assert table.get_float(index) == (value if isinstance(value, float) else None)
    assert table.get_int(len(values)) is None
    assert table.get_float(-1) is None


def test_floats_are_rounded_to_float32():
    """0.1 is the nearest float32; what is too large becomes infinite with its sign."""
    table = AttributeTable(encode_attributes([0.1, 1e300, -1e300]), 3)
    assert table.get_float(0) == 0.10000000149011612
    assert (table.get_float(1), table.get_float(2)) == (float("inf"), float("-inf"))
    assert float32(1.0) == b"\0\0\x80\x3f"


def test_long_values_lie_behind_the_entries():
    """Two entries of 32 bytes, then the text of nine bytes padded to 16."""
    raw = encode_attributes(["123456789", 5])
    assert len(raw) == 64 + 16
    assert struct.unpack_from("<IIQQ", raw) == (3, 1, 9, 64)
    assert raw[64:] == b"123456789" + bytes(7)


@pytest.mark.parametrize(("value", "size"), [("", 0), ("12345678", 8), ((), 0), ((1,), 8)])
def test_values_up_to_eight_bytes_lie_in_the_entry(value, size):
    """Nothing follows the entry."""
    raw = encode_attributes([value])
    assert len(raw) == 32
    assert struct.unpack_from("<Q", raw, 8) == (size,)
