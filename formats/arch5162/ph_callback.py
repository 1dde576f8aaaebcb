"""Host function callback: place holder, sub type 24 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhCallbackSqe = define(
    "arch5162",
    "PhCallbackSqe",
    64,
    PH_HEADER,
    """
    @16  cb_cq_id:16  cb_group_id:16
    @20  dev_id:16  cb_stream_id:16
    @24  event_id:16  is_block:16
    @28  cb_task_id:16  -:16
    @32  hostfunc_addr_low:32
    @36  hostfunc_addr_high:32
    @40  fndata_low:32
    @44  fndata_high:32
    @48  -:32
    @52  -:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (24,)},
    meanings={"event_id": "event or notify that lets the stream go on"},
)
