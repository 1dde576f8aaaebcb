"""Host function callback: type 1, topic 26 (`reference/sqe_formats.md` 4.5)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

HostfuncCallbackSqe = define(
    "v100",
    "HostfuncCallbackSqe",
    64,
    HEADER,
    """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:8
    @16  cb_cq_id:16  cb_group_id:16
    @20  dev_id:16  cb_stream_id:16
    @24  event_id:16  is_block:16
    @28  cb_task_id:16  -:16
    @32  hostfunc_addr_low:32
    @36  hostfunc_addr_high:32
    @40  fndata_low:32
    @44  fndata_high:32
    @48  host_pid:32
    @52  -:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="wr_cqe 1 and block_dim 1",
    sqe_type=1,
    match={"type": (1,), "topic_id": (26,)},
    meanings={"event_id": "event or notify that lets the stream go on", "topic_id": "26"},
)
