"""Row of the tiling table of a kernel binary, 40 bytes (`reference/sqe_formats.md` 9)."""

from formats.cstruct import define

TilingTablForDavid = define(
    "v200",
    "TilingTablForDavid",
    40,
    """
    @0   tiling_key:64
    @8   pc_addr0:64
    @16  pc_addr1:64
    @24  task_ratio:32
    @28  mix_type:8  -:8*3
    @32  share_mem_size:32
    @36  kernel_vf_type:32
    """,
    note="the table is an array of these; its length is given in rows",
)
