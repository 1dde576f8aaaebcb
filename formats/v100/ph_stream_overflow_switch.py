"""Overflow detection on and off: place holder 91 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

PhPayloadStreamOverflowSwitch = define(
    "v100",
    "PhPayloadStreamOverflowSwitch",
    48,
    """
    @0   stream_id:16  is_switch_on:1  -:15
    @4   -:32*11
    """,
    note="payload of the place holder, words 4 and up",
    meanings={"stream_id": "stream the command is about"},
)

PhStreamOverflowSwitchSqe = define(
    "v100",
    "PhStreamOverflowSwitchSqe",
    64,
    PH_HEADER,
    """
    @16  target_stream_id:16  is_switch_on:1  -:15
    @20  -:32*11
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (91,)},
)
