"""Logic report: the 32 bytes in which the driver hands completions to the runtime (`reference/sqe_formats.md` 8.3)."""

from formats.cstruct import define

_COMMON = """
    @0   stream_id:16  task_id:16
    @4   error_code:32
    @8   error_type:8  sqe_type:8  sq_id:16
    @12  sq_head:16  match_flag:1  drop_flag:1  error_bit:1  acc_error:1  next_task_vld:1  notify_attached:1
         -:10
"""

LogicCqeSqeIndex = define(
    "v200",
    "LogicCqeSqeIndex",
    32,
    _COMMON,
    """
    @16  sqe_index:16  -:48
    @24  enque_time_stamp:64
    """,
    meanings={"sqe_index": "ring position of the task"},
)

LogicCqeTimestamp = define(
    "v200",
    "LogicCqeTimestamp",
    32,
    _COMMON,
    """
    @16  time_stamp:64
    @24  enque_time_stamp:64
    """,
)
