"""Place holder: type 3; also the NOP (`reference/sqe_formats.md` 6.10)."""

from formats.cstruct import define

PH_HEADER = """
    @0   type:6  lock:1  unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  ptr_mode:1  rtt_mode:1  head_update:1
         -:1  block_dim:16
    @4   task_id:32                    | task serial number
    @8   -:32
    @12  task_type:16  kernel_credit:8  timeout_type:8
"""
"""Words 0 to 3, for the tables of the place holders."""

PhSqe = define(
    "v200",
    "PhSqe",
    64,
    PH_HEADER,
    """
    @16  payload:32*12
    """,
    note="pre_p 1: the TS CPU handles the entry by its task_type; task_type 103 is the NOP",
    sqe_type=3,
    match={"type": (3,)},
)
