"""Stream clear and notify reset: place holder 104 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadCommonCmd = define(
    "v100",
    "PhPayloadCommonCmd",
    48,
    """
    @0   cmd_type:16  stream_id:16
    @4   notify_id:32
    @8   step:16  -:8*38
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"stream_id": "stream the command is about"},
    enums={"cmd_type": "common_cmd"},
)

PhCommonCmdSqe = define(
    "v100",
    "PhCommonCmdSqe",
    64,
    PH_HEADER,
    """
    @16  cmd_type:16  target_stream_id:16
    @20  notify_id:32
    @24  step:16  -:8*38
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (104,)},
    enums={"cmd_type": "common_cmd"},
)
