"""Head of the tiling data block of a sink buffer (`reference/device_semantics.md` 6.4, row 1)."""

from formats.cstruct import define

TilingDataHeader = define(
    "runtime",
    "TilingDataHeader",
    64,
    """
    @0   capacity:64        | bytes that the data area holds
    @8   data_size:64       | bytes of tiling data written
    @16  data_addr:64       | device address of the data
    @24  -:8*40
    """,
    note="the data follow at byte 64",
)
