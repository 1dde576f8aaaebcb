"""Create or delete the error ring buffer: place holder 83 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    ringbuffer_offset:64
    ringbuffer_phy_addr:64
    pid:64
    total_len:32
    ringbuffer_del_flag:8  -:8*19
"""

PhPayloadRingBufferControl = define(
    "v100",
    "PhPayloadRingBufferControl",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhRingBufferControlSqe = define(
    "v100",
    "PhRingBufferControlSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (83,)},
)
