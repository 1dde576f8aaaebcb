"""Event wait: type 5 (`reference/sqe_formats.md` 4.6)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

EventWaitSqe = define(
    "v100",
    "EventWaitSqe",
    64,
    HEADER,
    """
    @8   event_id:16  -:16
    @12  -:16  kernel_credit:8  -:8
    @16  exe_result:32
    @20  timeout:32
    @24  -:32*10
    """,
    note="the event stays set until a write value with sub_type 1 resets it",
    sqe_type=5,
    match={"type": (5,)},
)
