"""Model task update: place holder 101 (`reference/sqe_formats.md` 4.8, 9)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhModelTaskUpdateSqe = define(
    "v100",
    "PhModelTaskUpdateSqe",
    64,
    PH_HEADER,
    """
    @16  desc_buf_offset:64
    @24  tiling_key_offset:64
    @32  block_dim_offset:64
    @40  tiling_tab_offset:64
    @48  tiling_tab_len:16  des_stream_id:16
    @52  des_task_id:16  exe_stream_id:16
    @56  -:8*8
    """,
    note="patches pc_addr and block_dim of the target with the table entry of the current tiling key",
    sqe_type=3,
    match={"type": (3,), "task_type": (101,)},
)
