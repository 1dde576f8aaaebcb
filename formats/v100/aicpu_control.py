"""AICPU control: type 1, topic 5, told apart by the command (`reference/sqe_formats.md` 4.4)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:8
    @16  pid:32
    @20  cmd_type:8  vf_id:8  tid:8  ts_id:8
"""

AicpuControlModelOperateSqe = define(
    "v100",
    "AicpuControlModelOperateSqe",
    64,
    HEADER,
    _COMMON,
    """
    @24  model_info_addr_low:32
    @28  model_info_addr_high:16  -:16
    @32  sq_id:16  model_task_id:16
    @36  model_id:16  model_cmd_type:8  -:8
    @40  -:32*4
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="usr_data_len 24, kernel_credit 254",
    sqe_type=1,
    match={"type": (1,), "topic_id": (5,), "cmd_type": (1,)},
    meanings={"sq_id": "stream id", "model_id": "AICPU model"},
)

AicpuControlTimeoutSqe = define(
    "v100",
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
    sqe_type=1,
    match={"type": (1,), "topic_id": (5,), "cmd_type": (13,)},
)
