"""Notify record and wait, and all events: types 6 and 7 (`reference/sqe_formats.md` 6.3)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   notify_id:17  -:13  cnt_flag:1  clr_flag:1
    @12  sub_type:16  kernel_credit:8  -:5  sqe_length:3
    @16  cnt_value:32
    @20  wait_mode_bit:2  record_mode_bit:3  bitmap:1  -:26
    @24  timeout:32
    @28  exe_result:32
    @32  -:32*8
"""

NotifyRecordSqe = define(
    "v200",
    "NotifyRecordSqe",
    64,
    HEADER,
    _COMMON,
    note="events and resets are told apart by sub_type",
    sqe_type=6,
    match={"type": (6,)},
    meanings={"sub_type": "what the notify stands for; events are notifies too", "timeout": "not used by a record"},
    enums={"sub_type": "notify_use"},
)

NotifyWaitSqe = define(
    "v200",
    "NotifyWaitSqe",
    64,
    HEADER,
    _COMMON,
    note="events are told apart by sub_type",
    sqe_type=7,
    match={"type": (7,)},
    meanings={"sub_type": "what the notify stands for; events are notifies too"},
    enums={"sub_type": "notify_use"},
)
