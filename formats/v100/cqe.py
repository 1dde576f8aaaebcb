"""Completion entries, 16 bytes; `evt`, `place_hold` and `error_bit` tell the form (`reference/sqe_formats.md` 8.1)."""

from formats.cstruct import define

_COMMON = """
    @0   phase:1  warn:1  evt:1  place_hold:1  sq_id:11  error_bit:1  sq_head:16
    @4   stream_id:16  task_id:16
"""
_RESULT = """
    @8   error_type:8  drop_flag:1  acc_error:1  sqe_type:6  sqe_index:16
"""
_INDEX = {"sqe_index": "ring position of the task"}

CqeSysCnt = define(
    "v100",
    "CqeSysCnt",
    16,
    _COMMON,
    """
    @8   syscnt_low:32
    @12  syscnt_high:32
    """,
    note="time stamp form: evt or place_hold is set and error_bit is not",
)
CqeError = define(
    "v100",
    "CqeError",
    16,
    _COMMON,
    _RESULT,
    """
    @12  sq_sw_status:32
    """,
    note="every entry that is not in time stamp form",
    meanings=_INDEX,
)
CqeModelExec = define(
    "v100",
    "CqeModelExec",
    16,
    _COMMON,
    _RESULT,
    """
    @12  fault_task_id:16  fault_stream_id:12  result:1  -:3
    """,
    note="as CqeError, for a model execute task",
    meanings=_INDEX,
)
CqeRuntimeView = define(
    "v100",
    "CqeRuntimeView",
    17,
    _COMMON,
    """
    @8   error_type:8  drop_flag:8  -:1  sqe_type:6  -:1  sqe_index:16
    @13  sq_sw_status:32
    """,
    note="the runtime header's view of the same entry; drop_flag grew to a byte: not for hardware data",
    meanings=_INDEX,
)
