"""CDQM: type 19; layout only (`reference/sqe_formats.md` 4.14)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

CdqmSqe = define(
    "v100",
    "CdqmSqe",
    64,
    HEADER,
    """
    @8   sqe_index:16  -:16
    @12  -:16  kernel_credit:8  ptr_mode:1  -:7
    @16  cdqe_addr_low:32
    @20  cdqe_addr_high:17  -:14  va:1
    @24  cdqe_index:16  cdq_id:16
    @28  die_id:16  -:16
    @32  cdqe:8*15
    @47  -:7  ready:1
    @48  -:32*4
    """,
    note="va must be 1 in pointer mode",
    sqe_type=19,
    match={"type": (19,)},
)
