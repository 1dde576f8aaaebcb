"""Copy device messages: place holder 87 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadGetDevMsg = define(
    "v100",
    "PhPayloadGetDevMsg",
    48,
    """
    @0   dev_addr:64
    @8   offset:64
    @16  len:32
    @20  type:16  -:8*26
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"type": "kind of message"},
    enums={"type": ""},
)

PhGetDevMsgSqe = define(
    "v100",
    "PhGetDevMsgSqe",
    64,
    PH_HEADER,
    """
    @16  dev_addr:64
    @24  offset:64
    @32  len:32
    @36  msg_type:16  -:8*26
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (87,)},
)
