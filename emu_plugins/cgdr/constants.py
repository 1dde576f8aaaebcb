"""Constants of the operator, host and device side (`reference/cgdr.md` 3.1, 6 and 16)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OP_TYPE = "ChunkGatedDeltaRule"

# A DMA block is 32 bytes.
FP16_PER_BLOCK = 16
FP32_PER_BLOCK = 8
FP16_BYTES = 2
FP32_BYTES = 4

CHUNK_SIZE = 64
PAIRED_TILES = 2

# Nominal Cube tile, the widest that any bucket needs.
MATMUL_M = 64
MATMUL_K = 128
MATMUL_N = 128

# Compiled widths, ascending. A head wider than the last has no bucket.
BUCKETS = (64, 80, 96, 128)
NO_BUCKET = 0

# Tiling key -> width `B_` it was compiled for; a head without a bucket runs in the 96-wide instance.
WIDTH_OF_KEY: Mapping[int, int] = MappingProxyType(dict(enumerate(BUCKETS)))
KEY_OF_BUCKET: Mapping[int, int] = MappingProxyType({width: key for key, width in WIDTH_OF_KEY.items()})
FALLBACK_KEY = 2

STAGE_SLOTS = 2
STAGE_BYTES_PER_CORE = STAGE_SLOTS * (2 * MATMUL_M * MATMUL_K + MATMUL_K * MATMUL_N) * FP16_BYTES

# The device indexes its staging area with literals of its own, and nothing compares them (`reference/cgdr.md` 16).
DEVICE_STAGE_SLOT_BYTES = 64 * 1024
DEVICE_STAGE_SLOTS = 2
assert STAGE_BYTES_PER_CORE == DEVICE_STAGE_SLOTS * DEVICE_STAGE_SLOT_BYTES

WORKSPACE_FLOOR = 32 * 1024 * 1024
MIN_BLOCK_DIM = 1

# IR input indices that the tiling looks at.
INPUT_QUERY = 0
INPUT_VALUE = 2
INPUT_INITIAL_STATE = 4
INPUT_SEQ_LENGTHS = 5
INPUT_GAMMA = 6
INPUT_COUNT = 7

ATTR_SCALE = 0
DEFAULT_SCALE = 1.0
