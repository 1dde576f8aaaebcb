"""Notify and event wait: type 7 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.sqe_header import SUB_TYPE_HEADER
from formats.cstruct import define

NotifyWaitSqe = define(
    "arch5162",
    "NotifyWaitSqe",
    64,
    SUB_TYPE_HEADER,
    """
    @8   -:32
    @12  swapout_credit:8  -:23  timeout_en:1
    @16  notify_id:10  dst_id:6  u_id:12  -:4
    @20  -:32*11
    """,
    note="event waits have this layout too",
    sqe_type=7,
    match={"type": (7,)},
)
