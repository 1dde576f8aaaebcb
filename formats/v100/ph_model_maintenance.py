"""Model maintenance: place holder 12 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    model_id:16  stream_id:16
    operation:16  stream_type:16
    first_task_id:16  endgraph_notify_id:16
    executor_flag:32
    stream_exec_times_addr:64
    -:32*6
"""

PhPayloadModelMaintenance = define(
    "v100",
    "PhPayloadModelMaintenance",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
    enums={"operation": "model_operation"},
)

PhModelMaintenanceSqe = define(
    "v100",
    "PhModelMaintenanceSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    note="pre_p is 1 for operations 0, 1, 4 and 6",
    sqe_type=3,
    match={"type": (3,), "task_type": (12,)},
    enums={"operation": "model_operation"},
)
