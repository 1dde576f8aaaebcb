"""Write value: type 8 (`reference/sqe_formats.md` 6.4)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   -:32
    @12  -:16  kernel_credit:8  -:8
"""

WriteValueSqe = define(
    "v200",
    "WriteValueSqe",
    64,
    HEADER,
    _COMMON,
    """
    @16  write_addr_low:32
    @20  write_addr_high:17  -:3  awsize:3  snoop:1  awcache:4  awprot:3  va:1
    @24  notify_id:32
    @28  sub_type:32
    @32  write_value_part:32*8
    """,
    note="writes 2 to the power awsize bytes; address bits above 48 are lost",
    sqe_type=8,
    match={"type": (8,), "ptr_mode": (0,)},
    meanings={"notify_id": "notify of an IPC record"},
    enums={"sub_type": "write_value_use"},
)

WriteValuePtrSqe = define(
    "v200",
    "WriteValuePtrSqe",
    64,
    HEADER,
    _COMMON,
    """
    @16  write_value_new_sqe_addr_low:32
    @20  write_value_new_sqe_addr_high:17  -:14  va:1
    @24  -:32*10
    """,
    note="the address, size and data are in a descriptor",
    sqe_type=8,
    match={"type": (8,), "ptr_mode": (1,)},
)
