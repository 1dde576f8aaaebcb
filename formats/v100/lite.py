"""Entries with a short header, declared but built by nobody (`reference/sqe_formats.md` 4.17)."""

from formats.cstruct import define

_COMMON = """
    @0   type:6  -:2  ie:2  pre_paused:2  post_paused:2  wr_cqe:1  -:1  -:16
    @4   rt_stream_id:16  task_id:16
    @8   event_id:16  -:16
    @12  sqe_index:16  kernel_cdt:8  -:7  clr:1
"""

LiteSdmaSqe = define(
    "v100",
    "LiteSdmaSqe",
    64,
    _COMMON,
    """
    @16  opcode:8  sssv:1  dssv:1  sns:1  dns:1  sro:1  dro:1  stride:2  sdma_ie:1  comp_en:1  -:14
    @20  sqe_id:16  mpam_part_id:8  mpamns:1  pmg:2  qos:4  -:1
    @24  src_stream_id:16  src_sub_stream_id:16
    @28  dst_stream_id:16  dst_sub_stream_id:16
    @32  src_addr_l:32
    @36  src_addr_h:32
    @40  dst_addr_l:32
    @44  dst_addr_h:32
    @48  length_move:32
    @52  src_stride_len:32
    @56  dst_stride_len:32
    @60  stride_num:32
    """,
    note="declared only",
    sqe_type=11,
    meanings={"event_id": "event index"},
)

LiteEventSqe = define(
    "v100",
    "LiteEventSqe",
    64,
    _COMMON,
    """
    @16  payload:32*12
    """,
    note="declared only",
    meanings={"event_id": "event index"},
)

LiteRdmaSqe = define(
    "v100",
    "LiteRdmaSqe",
    64,
    _COMMON,
    """
    @16  rdma_qp_addr_low:32
    @20  rdma_qp_addr_high:32
    @24  tag:24  cmd:4  -:3  flag:1
    @28  param:32
    @32  wait_cqe_num:16  hac_func_id:8  qp_va:1  ssv:1  -:6
    @36  rdma_smmu_stream_id:16  rdma_smmu_sub_stream_id:16
    @40  -:32*6
    """,
    note="declared only",
    sqe_type=16,
    meanings={"event_id": "event index"},
)
