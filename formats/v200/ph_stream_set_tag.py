"""Operator tag of the graph engine: place holder 93 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

PhPayloadStreamSetTag = define(
    "v200",
    "PhPayloadStreamSetTag",
    48,
    """
    @0   stream_id:16  -:16
    @4   ge_op_tag:32
    @8   -:32*10
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"stream_id": "stream the command is about"},
)

PhStreamSetTagSqe = define(
    "v200",
    "PhStreamSetTagSqe",
    64,
    PH_HEADER,
    """
    @16  target_stream_id:16  -:16
    @20  ge_op_tag:32
    @24  -:32*10
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (93,)},
)
