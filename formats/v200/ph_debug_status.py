"""Clear the float status: place holder 89 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    debug_flag:8  -:8*3
"""

PhPayloadDebugStatus = define(
    "v200",
    "PhPayloadDebugStatus",
    4,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhDebugStatusSqe = define(
    "v200",
    "PhDebugStatusSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    """
    @20  -:352
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (89,)},
)
