"""Picture units: types 12, 13 and 14 (`reference/sqe_formats.md` 4.15)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   cmd_buf_size:32
    @12  -:16  kernel_credit:8  ptr_mode:1  task_pos:7
    @16  usr_data:32*12
"""

DvppVpcSqe = define(
    "v100",
    "DvppVpcSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=12,
    match={"type": (12,)},
    meanings={"ptr_mode": "as given by the caller"},
)

DvppJpegeSqe = define(
    "v100",
    "DvppJpegeSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=13,
    match={"type": (13,)},
    meanings={"ptr_mode": "as given by the caller"},
)

DvppJpegdSqe = define(
    "v100",
    "DvppJpegdSqe",
    64,
    HEADER,
    _COMMON,
    note="copied from the caller; words 14 and 15 hold the address of the command list",
    sqe_type=14,
    match={"type": (14,)},
    meanings={"ptr_mode": "as given by the caller"},
)
