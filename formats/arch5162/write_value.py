"""Write value: type 9; notify and event records, event reset too (`reference/sqe_formats.md` 10)."""

from formats.arch5162.sqe_header import SUB_TYPE_HEADER
from formats.cstruct import define

WriteValueSqe = define(
    "arch5162",
    "WriteValueSqe",
    64,
    SUB_TYPE_HEADER,
    """
    @8   pu_hint:1  pu_core_id:7  sub_type:8  -:16
    @12  notify_id:16  kernel_credit:8  -:8
    @16  write_addr_low:32
    @20  write_addr_high:16  awsize:3  snoop:1  -:4  awcache:4  awprot:3  va:1
    @24  -:32
    @28  -:32
    @32  write_value_part:32*8
    """,
    note="records and resets: sub_type 31, id in notify_id, first data word 0x80001, 0x800FF or 0x80000",
    sqe_type=9,
    match={"type": (9,)},
    meanings={"notify_id": "notify or event of a record or reset"},
)
