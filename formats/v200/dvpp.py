"""Picture units: types 12, 13 and 14 (`reference/sqe_formats.md` 4.15)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   cmd_buf_size:32
    @12  -:16  kernel_credit:8  -:1  task_pos:7
    @16  usr_data:32*12
"""

DvppVpcSqe = define(
    "v200",
    "DvppVpcSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=12,
    match={"type": (12,)},
)

DvppJpegeSqe = define(
    "v200",
    "DvppJpegeSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=13,
    match={"type": (13,)},
)

DvppJpegdSqe = define(
    "v200",
    "DvppJpegdSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=14,
    match={"type": (14,)},
)
