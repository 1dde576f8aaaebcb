"""AICPU control: type 5, topic 5, told apart by the command (`reference/sqe_formats.md` 6.2)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:5  sqe_length:3
    @16  pid:32
    @20  cmd_type:8  vf_id:8  tid:8  ts_id:8
"""

AicpuControlModelOperateSqe = define(
    "v200",
    "AicpuControlModelOperateSqe",
    64,
    HEADER,
    _COMMON,
    """
    @24  model_info_addr_low:32
    @28  model_info_addr_high:16  -:16
    @32  stream_id:16  model_id:16
    @36  model_cmd_type:8  -:8*3
    @40  -:32*4
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="usr_data_len 24, kernel_credit 253",
    sqe_type=5,
    match={"type": (5,), "topic_id": (5,), "cmd_type": (1,)},
)

AicpuControlTimeoutSqe = define(
    "v200",
    "AicpuControlTimeoutSqe",
    64,
    HEADER,
    _COMMON,
    """
    @24  op_wait_timeout_en:1  op_execute_timeout_en:1  -:30
    @28  op_wait_timeout:32
    @32  op_execute_timeout:32
    @36  -:32
    @40  -:32*4
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="usr_data_len 20, kernel_credit 8 or 16",
    sqe_type=5,
    match={"type": (5,), "topic_id": (5,), "cmd_type": (8,)},
)

AicpuControlMsgVersionSqe = define(
    "v200",
    "AicpuControlMsgVersionSqe",
    64,
    HEADER,
    _COMMON,
    """
    @24  magic_num:16  version:16
    @28  -:96
    @40  -:32*4
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="usr_data_len 12, kernel_credit 255",
    sqe_type=5,
    match={"type": (5,), "topic_id": (5,), "cmd_type": (0,)},
)
