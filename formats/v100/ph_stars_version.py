"""Version query: place holder 97 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define

PhPayloadStarsVersion = define(
    "v100",
    "PhPayloadStarsVersion",
    48,
    """
    @0   build_version:32
    @4   -:8*44
    """,
    note="payload of the place holder, words 4 and up",
)

PhStarsVersionSqe = define(
    "v100",
    "PhStarsVersionSqe",
    64,
    """
    @0   type:6  l2_lock:1  l2_unlock:1  ie:2  pre_p:2  post_p:2  wr_cqe:1  -:1  task_type:16
    @4   rt_stream_id:16  task_id:16
    @8   ts_log_to_host:32
    @12  -:16  kernel_credit:8  -:8
    @16  build_version:32
    @20  -:8*44
    """,
    note="word 2 is in use here, unlike in other place holders",
    sqe_type=3,
    match={"type": (3,), "task_type": (97,)},
)
