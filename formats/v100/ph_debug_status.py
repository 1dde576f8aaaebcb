"""Clear the float status: place holder 89 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    debug_flag:8  -:8*3
"""

PhPayloadDebugStatus = define(
    "v100",
    "PhPayloadDebugStatus",
    4,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhDebugStatusSqe = define(
    "v100",
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
