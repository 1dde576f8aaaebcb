"""Notify record: type 6 (`reference/sqe_formats.md` 4.7)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

NotifyRecordSqe = define(
    "v100",
    "NotifyRecordSqe",
    64,
    HEADER,
    """
    @8   notify_id:13  -:19
    @12  -:16  kernel_credit:8  -:8
    @16  timeout:32
    @20  -:32*11
    """,
    note="a record towards another process or device is a write value",
    sqe_type=6,
    match={"type": (6,)},
    meanings={"timeout": "not used by a record"},
)
