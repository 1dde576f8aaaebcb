"""Model maintenance: place holder 12 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    model_id:16  stream_id:16
    operation:16  stream_type:16
    first_task_id:16  endgraph_notify_id:16
    executor_flag:32
    stream_exec_times_addr:64
    op_sq_id:32
    sq_id:32
    -:32*4
"""

PhPayloadModelMaintenance = define(
    "v200",
    "PhPayloadModelMaintenance",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
    meanings={"sq_id": "SQ of this stream"},
    enums={"operation": "model_operation"},
)

PhModelMaintenanceSqe = define(
    "v200",
    "PhModelMaintenanceSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    note="adds the two SQ ids to the v100 payload",
    sqe_type=3,
    match={"type": (3,), "task_type": (12,)},
    meanings={"sq_id": "SQ of this stream"},
    enums={"operation": "model_operation"},
)
