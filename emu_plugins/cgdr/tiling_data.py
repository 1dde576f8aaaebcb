"""The 64 bytes that host tiling hands to the kernel (`reference/cgdr.md` 3.7): packed, little-endian.

The operator keeps this struct twice, for host and device, and nothing compares them. Here the second
copy is the table in `formats/runtime`, and a test holds the two together.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, fields

_LAYOUT = struct.Struct("<13IfII")
TILING_DATA_BYTES = _LAYOUT.size

C_NAMES = (
    "vectorCoreNum", "ubCalSize", "ubRestBytes", "t", "hqk", "dk", "hv", "dv", "chunkSize", "numChunks", "b", "padSize",
    "hasGamma", "scaleValue", "vStep", "debug",
)  # fmt: skip
"""Public field names, in memory order: those of `CgdrTilingData` by position."""

FIRST_C_NAMES = tuple("hasInitialState" if name == "hasGamma" else name for name in C_NAMES)
"""The names in the first public version, whose 13th field says something else (`reference/cgdr.md` 5.3)."""


def to_float32(value: float) -> float:
    """`value` rounded to float32 as a C cast does; a magnitude beyond float32 becomes infinite."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


@dataclass(frozen=True)
class CgdrTilingData:
    """The fields in memory order, each four bytes; `C_NAMES` has their public names.

    Attributes:
        cores: `vectorCoreNum`, cores of the platform.
        ub_bytes: `ubCalSize`, UB size in bytes.
        rest_bytes: `ubRestBytes`, size of the big UB buffer in bytes.
        t: tokens of all sequences, not padded.
        hqk, dk, hv, dv: heads and head widths.
        chunk_size: `chunkSize`, rows of a chunk.
        num_chunks: `numChunks`, chunks of the packed tokens; informational.
        batch: `b`, sequences.
        pad_size: `padSize`, rows that would fill the last chunk.
        has_gamma: `hasGamma`, 1 when the log decay is given.
        scale_value: `scaleValue`, float32.
        v_step: `vStep`, V columns of a work item.
        debug: always 0.
    """

    cores: int
    ub_bytes: int
    rest_bytes: int
    t: int
    hqk: int
    dk: int
    hv: int
    dv: int
    chunk_size: int
    num_chunks: int
    batch: int
    pad_size: int
    has_gamma: int
    scale_value: float
    v_step: int
    debug: int = 0

    def pack(self) -> bytes:
        """The 64 bytes."""
        return _LAYOUT.pack(*(getattr(self, f.name) for f in fields(self)))

    @classmethod
    def unpack(cls, data: bytes) -> CgdrTilingData:
        """The fields of the first 64 bytes of `data`."""
        return cls(*_LAYOUT.unpack(data[:TILING_DATA_BYTES]))
