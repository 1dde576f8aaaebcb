"""Create or delete the error ring buffer: place holder 83 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    ringbuffer_offset:64
    ringbuffer_phy_addr:64
    pid:64
    total_len:32
    ringbuffer_del_flag:8  -:8*3
    element_size:32
    -:8*12
"""

PhPayloadRingBufferControl = define(
    "v200",
    "PhPayloadRingBufferControl",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhRingBufferControlSqe = define(
    "v200",
    "PhRingBufferControlSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    note="word 2 holds the flag that sends scheduler logs to the host",
    sqe_type=3,
    match={"type": (3,), "task_type": (83,)},
)
