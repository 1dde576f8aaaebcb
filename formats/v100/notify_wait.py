"""Notify wait: type 7 (`reference/sqe_formats.md` 4.7)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

NotifyWaitSqe = define(
    "v100",
    "NotifyWaitSqe",
    64,
    HEADER,
    """
    @8   notify_id:13  -:19
    @12  -:16  kernel_credit:8  -:8
    @16  timeout:32
    @20  -:32*11
    """,
    sqe_type=7,
    match={"type": (7,)},
)
