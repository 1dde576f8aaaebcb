"""Cache maintenance: type 15; as v201, with the header of arch9201 (`reference/sqe_formats.md` 6.12)."""

from formats.arch9201.sqe_header import HEADER
from formats.cstruct import define
from formats.v200.cmo_modes import LINEAR, STRIDE, TWO_DIM

_COMMON = """
    @8   cmo_type:2  cmo_id:12  -:18
    @12  -:16  kernel_credit:8  -:8
    @16  opcode:8  sssv:1  dssv:1  sns:1  dns:1  sro:1  dro:1  stride:2  ie2:1  comp_en:1  allocate:1
         victim_hint:2  -:11
    @20  sqe_id:16  mpam_part_id:8  mpamns:1  pmg:2  qos:4  d2d_offset_flag:1
    @24  src_stream_id:16  src_sub_stream_id:16
"""

CmoLinearSqe = define(
    "arch9201",
    "CmoLinearSqe",
    64,
    HEADER,
    _COMMON,
    LINEAR,
    note="cmo_id is the stream id plus 1, low 8 bits",
    sqe_type=15,
    match={"type": (15,), "stride": (0,)},
)

CmoStrideSqe = define(
    "arch9201",
    "CmoStrideSqe",
    64,
    HEADER,
    _COMMON,
    STRIDE,
    note="cmo_id is the stream id plus 1, low 8 bits",
    sqe_type=15,
    match={"type": (15,), "stride": (1,)},
)

CmoTwoDimSqe = define(
    "arch9201",
    "CmoTwoDimSqe",
    64,
    HEADER,
    _COMMON,
    TWO_DIM,
    note="cmo_id is the stream id plus 1, low 8 bits",
    sqe_type=15,
    match={"type": (15,), "stride": (2,)},
)
