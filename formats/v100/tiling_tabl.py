"""Entry of the tiling table of a kernel binary, read by the model task update (`reference/sqe_formats.md` 9)."""

from formats.cstruct import define

TilingTabl = define(
    "v100",
    "TilingTabl",
    32,
    """
    @0   tiling_key:64
    @8   pc_addr0:64
    @16  pc_addr1:64
    @24  task_ratio:32
    @28  mix_type:8  -:8*3
    """,
    note="the table is an array of these; its length is given in entries",
)
