"""The wire format: known encodings, padded numbers, reading back, damage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.trace.perfetto import slice_packets
from tools.trace.wire import fields, fixed, message, number, put_varints, text, varint


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (2**64 - 1, "ff" * 9 + "01"),
        (-1, "ff" * 9 + "01"),
    ],
)
def test_known_numbers(value, data):
    """Numbers are written as the format's own guide shows; negative ones as their 64-bit complement."""
    assert varint(value).hex() == data


def test_known_fields():
    """Field 1 with 150, field 2 with the text testing, field 3 with a message of field 1."""
    assert number(1, 150).hex() == "089601"
    assert text(2, "testing").hex() == "120774657374696e67"
    assert message(3, number(1, 150)).hex() == "1a03089601"
    assert fixed(47, 1).hex() == "f9020100000000000000"


@given(st.lists(st.tuples(st.integers(1, 500), st.one_of(st.integers(0, 2**64 - 1), st.binary(max_size=200)))))
def test_read_back(given_fields):
    """What is written is read back."""
    data = b"".join(number(f, v) if isinstance(v, int) else message(f, v) for f, v in given_fields)
    assert list(fields(data)) == given_fields


@given(st.lists(st.integers(0, 2**35 - 1), min_size=1, max_size=20))
def test_padded_numbers(values):
    """Padded to five bytes a number still has its value."""
    rows = np.zeros((len(values), 5), np.uint8)
    put_varints(rows, 0, 5, np.array(values))
    assert [list(fields(b"\x08" + row.tobytes())) for row in rows] == [[(1, value)] for value in values]


@pytest.mark.parametrize("data", ["08", "0880", "1205aa", "0b", "f90201"])
def test_damage(data):
    """Bytes that end within a field, or have a type that is none, are an error."""
    with pytest.raises(ValueError, match=r"byte \d"):
        list(fields(bytes.fromhex(data)))


def test_bytes_of_a_slice():
    """Of 100 µs a time takes 3 bytes and each other number 1, with a byte of tag each: 18 for the begin, 14 the end."""
    one = np.array([1])
    rows = slice_packets(np.array([100_000]), np.array([100_001]), one, one)
    begin, end = (body for _, body in fields(rows.tobytes()))
    assert (len(begin) + 2, len(end) + 2) == (18, 14)
    assert rows.shape == (1, 32)
