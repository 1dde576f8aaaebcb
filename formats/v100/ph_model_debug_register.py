"""Model debugging on and off: place holder 78, 79 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    addr:64
    model_id:32
    flag:32
    -:32*8
"""

PhPayloadModelDebugRegister = define(
    "v100",
    "PhPayloadModelDebugRegister",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhModelDebugRegisterSqe = define(
    "v100",
    "PhModelDebugRegisterSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (78, 79)},
)
