"""Write value: type 8; event reset and IPC notify records too (`reference/sqe_formats.md` 4.9)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

WriteValueSqe = define(
    "v100",
    "WriteValueSqe",
    64,
    HEADER,
    """
    @8   remote_phy_dev_id:32
    @12  is_pod:16  kernel_credit:8  ptr_mode:1  -:7
    @16  write_addr_low:32
    @20  write_addr_high:17  -:3  awsize:3  snoop:1  awcache:4  awprot:3  va:1
    @24  event_id:32
    @28  sub_type:32
    @32  write_value_part0:32
    @36  write_value_part1:32
    @40  write_value_part2:32
    @44  write_value_part3:32
    @48  write_value_part4:32
    @52  write_value_part5:32
    @56  write_value_part6:32
    @60  write_value_part7:32
    """,
    note="writes 2 to the power awsize bytes; address bits above 48 are lost",
    sqe_type=8,
    match={"type": (8,), "ptr_mode": (0,)},
    meanings={"event_id": "event id of a reset, notify id of an IPC record"},
    enums={"sub_type": "write_value_use"},
)

WriteValuePtrSqe = define(
    "v100",
    "WriteValuePtrSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  ptr_mode:1  -:7
    @16  write_addr_low:32
    @20  write_addr_high:17  -:14  va:1
    @24  -:32*10
    """,
    note="the address, size and data are in a descriptor",
    sqe_type=8,
    match={"type": (8,), "ptr_mode": (1,)},
    meanings={"write_addr_low": "descriptor, low half", "write_addr_high": "descriptor, high half"},
)

WriteValuePtrDst = define(
    "v100",
    "WriteValuePtrDst",
    64,
    """
    @0   write_addr_low:32
    @4   write_addr_high:17  -:3  awsize:3  snoop:1  awcache:4  awprot:3  va:1
    @8   -:32
    @12  sub_type:32
    @16  write_value_part:32*8
    @48  -:32*4
    """,
    note="the descriptor: words 4 to 15 of a write value as words 0 to 11",
    enums={"sub_type": "write_value_use"},
)
