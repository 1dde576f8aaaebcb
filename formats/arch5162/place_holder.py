"""Place holder: type 3 (`reference/sqe_formats.md` 10)."""

from formats.cstruct import define

PH_HEADER = """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  rd_conds:1  -:3  sqe_sub_type:16
    @4   rt_stream_id:16  task_id:16
    @8   pu_hint:1  pu_core_id:7  -:24
    @12  -:32
"""
"""Words 0 to 3, for the tables of the place holders."""

PhSqe = define(
    "arch5162",
    "PhSqe",
    64,
    PH_HEADER,
    """
    @16  payload:32*12
    """,
    note="sqe_sub_type says what it stands for",
    sqe_type=3,
    match={"type": (3,)},
)
