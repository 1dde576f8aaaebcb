"""Model maintenance: place holder, sub type 25 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhModelMaintenanceSqe = define(
    "arch5162",
    "PhModelMaintenanceSqe",
    64,
    PH_HEADER,
    """
    @16  model_id:16  stream_id:16
    @20  operation:16  stream_type:16
    @24  first_task_id:16  endgraph_notify_id:16
    @28  executor_flag:32
    @32  stream_exec_times_addr:64
    @40  -:32*6
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (25,)},
    enums={"operation": "model_operation"},
)
