"""Place holder: type 3, what STARS has no SQE of its own for; also the NOP (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define

PH_HEADER = """
    @0   type:6  l2_lock:1  l2_unlock:1  ie:2  pre_p:2  post_p:2  wr_cqe:1  -:1  task_type:16
    @4   rt_stream_id:16  task_id:16
    @8   -:32
    @12  -:16  kernel_credit:8  -:8
"""
"""Words 0 to 3, for the tables of the place holders."""

PhSqe = define(
    "v100",
    "PhSqe",
    64,
    PH_HEADER,
    """
    @16  payload:32*12
    """,
    note="pre_p 1: the TS CPU handles the entry by its task_type; 0: it is passed over; task_type 103 is the NOP",
    sqe_type=3,
    match={"type": (3,)},
)
