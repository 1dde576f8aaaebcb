"""Topic entry: type 1 (`reference/sqe_formats.md` 2.3)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

TopicSchedSqe = define(
    "v100",
    "TopicSchedSqe",
    64,
    HEADER,
    """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  dest_pid_flag:1
    @12  sqe_index:16  kernel_credit:8  -:8
    @16  user_data:8*40
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:6  devid_flag:1  tid_flag:1
    @60  dest_pid:32
    """,
    note="nothing in the bits tells it from an AICPU kernel; layout only",
    sqe_type=1,
)
