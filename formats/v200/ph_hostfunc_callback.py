"""Host function callback: place holder 72 (`reference/sqe_formats.md` 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

PhPayloadHostfuncCallback = define(
    "v200",
    "PhPayloadHostfuncCallback",
    48,
    """
    @0   cb_cq_id:16  cb_group_id:16
    @4   dev_id:16  stream_id:16
    @8   notify_id:32
    @12  task_id:16  is_block:1  is_online:1  -:6  -:8
    @16  hostfunc_addr_low:32
    @20  hostfunc_addr_high:32
    @24  fndata_low:32
    @28  fndata_high:32
    @32  -:32
    @36  -:32
    @40  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @44  dest_pid:32
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"notify_id": "notify that lets the stream go on", "topic_id": "26"},
)

PhHostfuncCallbackSqe = define(
    "v200",
    "PhHostfuncCallbackSqe",
    64,
    PH_HEADER,
    """
    @16  cb_cq_id:16  cb_group_id:16
    @20  dev_id:16  cb_stream_id:16
    @24  notify_id:32
    @28  cb_task_id:16  is_block:1  is_online:1  -:6  -:8
    @32  hostfunc_addr_low:32
    @36  hostfunc_addr_high:32
    @40  fndata_low:32
    @44  fndata_high:32
    @48  host_pid:32
    @52  -:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="block_dim 1",
    sqe_type=3,
    match={"type": (3,), "task_type": (72,)},
    meanings={"notify_id": "notify that lets the stream go on", "topic_id": "26"},
)
