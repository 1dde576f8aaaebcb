"""Model task update: place holder 101 (`reference/sqe_formats.md` 4.8, 9)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    desc_buf_offset:64
    tiling_key_offset:64
    block_dim_offset:64
    tiling_tab_offset:64
    tiling_tab_len:16  des_stream_id:16
    des_task_id:16  exe_stream_id:16
    -:8*8
"""

PhPayloadModelTaskUpdate = define(
    "v100",
    "PhPayloadModelTaskUpdate",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhModelTaskUpdateSqe = define(
    "v100",
    "PhModelTaskUpdateSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    note="patches pc_addr and block_dim of the target with the table entry of the current tiling key",
    sqe_type=3,
    match={"type": (3,), "task_type": (101,)},
)
