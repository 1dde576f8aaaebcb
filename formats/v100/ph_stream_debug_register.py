"""Stream debugging on and off: place holder 84, 85 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadStreamDebugRegister = define(
    "v100",
    "PhPayloadStreamDebugRegister",
    48,
    """
    @0   addr:64
    @8   stream_id:32
    @12  flag:32
    @16  -:32*8
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"stream_id": "stream the command is about"},
)

PhStreamDebugRegisterSqe = define(
    "v100",
    "PhStreamDebugRegisterSqe",
    64,
    PH_HEADER,
    """
    @16  addr:64
    @24  target_stream_id:32
    @28  flag:32
    @32  -:32*8
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (84, 85)},
)
