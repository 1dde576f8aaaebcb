"""DQS message to the AICPU: type 5; layout only (`reference/sqe_formats.md` 6.2)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

AicpuDqsSqe = define(
    "v200",
    "AicpuDqsSqe",
    64,
    HEADER,
    """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:5  sqe_length:3
    @16  magic:32
    @20  sub_type:8  model_priority:8  exe_sq_id:16
    @24  model_id:16  notify_id:16
    @28  user_group_id:16  sq_id:16
    @32  pid:32
    @36  -:32*5
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="nothing in the bits tells it from an AICPU kernel; layout only",
    sqe_type=5,
    meanings={"sub_type": "kind of DQS message"},
)
