"""PCIe DMA: type 17; also rewrites entries of a queue (`reference/sqe_formats.md` 4.11, 9)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

PcieDmaSqe = define(
    "v100",
    "PcieDmaSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:8
    @16  sq_addr_low:32
    @20  sq_addr_high:32
    @24  sq_tail_ptr:16  -:16
    @28  is_converted:1  is_dsa_update:1  is_sqe_update:1  offset:8  -:21
    @32  src:64
    @40  dst:64
    @48  length:64
    @56  pass_id:32
    @60  -:32
    """,
    note="in the update modes dst is the SQ id in the high half and the ring position in the low half",
    sqe_type=17,
    match={"type": (17,)},
    meanings={"offset": "byte inside the target entry"},
)
