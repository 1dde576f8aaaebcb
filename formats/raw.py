"""Bytes that no layout describes: a unit as sixteen words, a tail as single bytes."""

from formats.cstruct import CStruct
from formats.fields import Field

SQE_SIZE = 64
"""Bytes of one submission queue entry, in every family."""

CONTEXT_SIZE = 128
"""Bytes of one FFTS+ context."""

RAW_UNIT = CStruct(
    "raw",
    "RawUnit",
    (Field("word", 0, 32, 16, meaning="sixteen words as they are"),),
    note="a 64-byte unit that no layout describes",
)


def raw_bytes(size: int) -> CStruct:
    """A struct for `size` bytes (at least 1) of which nothing is known."""
    return CStruct(
        "raw",
        "RawBytes",
        (Field("byte", 0, 8, size, meaning="bytes as they are"),),
        note="bytes that no layout describes",
    )
