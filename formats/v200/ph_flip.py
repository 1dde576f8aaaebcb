"""Wrap of the task id: place holder 98 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    flip_num_report:16  -:8*46
"""

PhPayloadFlip = define(
    "v200",
    "PhPayloadFlip",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhFlipSqe = define(
    "v200",
    "PhFlipSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    note="layout only: the v200 runtime sends a bare place holder",
    sqe_type=3,
    match={"type": (3,), "task_type": (98,)},
)
