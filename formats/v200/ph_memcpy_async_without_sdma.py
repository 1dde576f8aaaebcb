"""Copy by the TS CPU on chips without SDMA: place holder 90 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    src:64
    dest:64
    size:32
    pid:32
    -:8*24
"""

PhPayloadMemcpyAsyncWithoutSdma = define(
    "v200",
    "PhPayloadMemcpyAsyncWithoutSdma",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhMemcpyAsyncWithoutSdmaSqe = define(
    "v200",
    "PhMemcpyAsyncWithoutSdmaSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (90,)},
)
