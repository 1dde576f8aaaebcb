"""Event record: type 4 (`reference/sqe_formats.md` 4.6)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

EventRecordSqe = define(
    "v100",
    "EventRecordSqe",
    64,
    HEADER,
    """
    @8   event_id:16  -:16
    @12  -:16  kernel_credit:8  -:8
    @16  exe_result:32
    @20  timeout:32
    @24  -:32*10
    """,
    note="sent as a place holder (type 3) when no wait refers to the event",
    sqe_type=4,
    match={"type": (4,)},
    meanings={"timeout": "not used by a record"},
)
