"""Stream recycle: place holder 6 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    sub_type:8  -:8  target_id:16
    -:8*44
"""

PhPayloadMaintenance = define(
    "v200",
    "PhPayloadMaintenance",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
    meanings={"sub_type": "0 normal, 0x67 forced recycle"},
)

PhMaintenanceSqe = define(
    "v200",
    "PhMaintenanceSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (6,)},
    meanings={"sub_type": "0 normal, 0x67 forced recycle"},
)
