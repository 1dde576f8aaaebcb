"""Model task update: place holder 101 (`reference/sqe_formats.md` 6.10, 9)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    tiling_key_offset:64
    block_dim_offset:64
    tiling_tab_offset:64
    tiling_tab_len:16  des_stream_id:16
    des_task_id:32
    exe_stream_id:16  -:16
"""

PhPayloadModelTaskUpdate = define(
    "v200",
    "PhPayloadModelTaskUpdate",
    36,
    _PAYLOAD,
    note="payload of the place holder, words 4 to 12",
)

PhModelTaskUpdateSqe = define(
    "v200",
    "PhModelTaskUpdateSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    """
    @52  -:96
    """,
    note="all addresses are virtual; there is no descriptor buffer",
    sqe_type=3,
    match={"type": (3,), "task_type": (101,)},
    meanings={"des_task_id": "serial number of the task to patch"},
)
