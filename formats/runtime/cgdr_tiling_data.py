"""Tiling data of ChunkGatedDeltaRule, 16 four-byte fields (`reference/cgdr.md` 3.7)."""

from formats.cstruct import define

CgdrTilingData = define(
    "runtime",
    "CgdrTilingData",
    64,
    """
    @0   vectorCoreNum:32       | cores the tiling assumed
    @4   ubCalSize:32           | unified buffer the tiling assumed
    @8   ubRestBytes:32         | bytes of the large buffer of the kernel
    @12  t:32                   | tokens, not padded
    @16  hqk:32                 | query and key heads
    @20  dk:32                  | head size of query and key
    @24  hv:32                  | value heads
    @28  dv:32                  | head size of value
    @32  chunkSize:32           | tokens per chunk
    @36  numChunks:32           | chunks per sequence
    @40  b:32                   | batch
    @44  padSize:32             | tokens added to fill the last chunk
    @48  hasGamma:32            | 1 when the gate input is present
    @52  scaleValue:f32         | scale of the query (float32)
    @56  vStep:32               | columns of value per tile
    @60  debug:32               | 0
    """,
    note="scaleValue is a float32; values hold its bit pattern, rendering shows the number",
)
