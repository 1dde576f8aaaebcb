"""Completion entries, 20 bytes in slots of 32 (`reference/sqe_formats.md` 8.2)."""

from formats.cstruct import define

_COMMON = """
    @0   phase:1  warn:1  evt:1  place_hold:1  sq_id:11  error_bit:1  sq_head:16
    @4   stream_id:16  task_id:16
"""

CqeError = define(
    "v200",
    "CqeError",
    20,
    _COMMON,
    """
    @8   error_type:8  notify_attached:1  next_task_vld:1  sqe_type:6  sqe_index:16
    @12  sq_sw_status:32
    @16  -:32
    """,
    note="every entry that is in no other form",
    meanings={"sqe_index": "ring position of the task"},
)

CqeSysCnt = define(
    "v200",
    "CqeSysCnt",
    20,
    _COMMON,
    """
    @8   syscnt_low:32
    @12  syscnt_high:32
    @16  -:32
    """,
    note="time stamp form: evt or place_hold is set and error_bit is not",
)

CqeDvpp = define(
    "v200",
    "CqeDvpp",
    20,
    _COMMON,
    """
    @8   error_type:8  -:1  -:1  sqe_type:6  -:16
    @12  status:16  cmdlist_id:16
    @16  int_err:32
    """,
    note="completion of a picture unit, types 12 to 14",
)

CqeUbdma = define(
    "v200",
    "CqeUbdma",
    20,
    _COMMON,
    """
    @8   jetty_id0:16  jetty_id1:16
    @12  ci_idx0:16  ci_idx1:16
    @16  status0:8  sub_status0:8  status1:8  sub_status1:8
    """,
    note="completion of UB DMA",
    meanings={
        "jetty_id1": "second jetty",
        "ci_idx0": "consumer index of the first jetty",
        "ci_idx1": "consumer index of the second jetty",
        "status0": "status of the first jetty",
        "status1": "status of the second jetty",
        "sub_status0": "sub status of the first jetty",
        "sub_status1": "sub status of the second jetty",
    },
)
