"""Load AICPU operator information: place holder 102 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadAicpuInfoLoad = define(
    "v100",
    "PhPayloadAicpuInfoLoad",
    20,
    """
    @0   aicpu_info_ptr:64
    @8   length:32
    @12  stream_id:16  task_id:16
    @16  -:16*2
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"stream_id": "stream of the task to load for", "task_id": "task to load for"},
)

PhAicpuInfoLoadSqe = define(
    "v100",
    "PhAicpuInfoLoadSqe",
    64,
    PH_HEADER,
    """
    @16  aicpu_info_ptr:64
    @24  length:32
    @28  stream_id:16  load_task_id:16
    @32  -:16*2
    @36  -:224
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (102,)},
    meanings={"stream_id": "stream of the task to load for"},
)
