"""Refresh copied addresses: place holder 100 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    dev_addr:64
    len:64
    -:8*32
"""

PhPayloadUpdateAddress = define(
    "v100",
    "PhPayloadUpdateAddress",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhUpdateAddressSqe = define(
    "v100",
    "PhUpdateAddressSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (100,)},
)
