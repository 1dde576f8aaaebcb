"""Wrap of the 16-bit task id: place holder 98 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadFlip = define(
    "v100",
    "PhPayloadFlip",
    48,
    """
    @0   flip_num_report:16  sub_type:16
    @4   stream_id:32
    @8   -:8*40
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"sub_type": "1 when reported in place of a task", "stream_id": "stream the command is about"},
)

PhFlipSqe = define(
    "v100",
    "PhFlipSqe",
    64,
    PH_HEADER,
    """
    @16  flip_num_report:16  sub_type:16
    @20  target_stream_id:32
    @24  -:8*40
    """,
    note="the header carries task id 0xFFFF when sub_type is 1",
    sqe_type=3,
    match={"type": (3,), "task_type": (98,)},
    meanings={"sub_type": "1 when reported in place of a task"},
)
