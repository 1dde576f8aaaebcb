"""Entries of TPRT, which schedules in host threads (`reference/sqe_formats.md` 10)."""

from formats.cstruct import define

HEADER = """
    @0   type:8  wr_cqe:2  sqe_length:6  sq_id:16
    @4   dfx_id:16  task_sn:32
"""
"""The 10-byte header."""

TprtSqeHeader = define(
    "other",
    "TprtSqeHeader",
    10,
    HEADER,
    note="10 bytes",
    meanings={"type": "kind of entry", "sqe_length": "length of the entry"},
)

TprtAicpuSqe = define(
    "other",
    "TprtAicpuSqe",
    66,
    HEADER,
    """
    @10  start_pc_addr:64
    @18  args_addr:64
    @26  timeout:32
    @30  -:32*9
    """,
    note="66 bytes",
    meanings={"type": "kind of entry", "sqe_length": "length of the entry"},
)

TprtCqe = define(
    "other",
    "TprtCqe",
    14,
    """
    @0   task_sn:32
    @4   error_code:32
    @8   error_type:8  sqe_type:8  sq_id:16
    @12  sq_head:16
    """,
    note="completion entry, 14 bytes",
    meanings={"sqe_type": "kind of entry"},
)
