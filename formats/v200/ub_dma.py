"""UB DMA: type 9, and asynchronous copies over UB: type 10 (`reference/sqe_formats.md` 6.6)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   mode:1  wqe_size:1  -:14  -:16
    @12  -:16  kernel_credit:8  -:5  sqe_length:3
    @16  jetty_id:16  -:9  func_id:7
    @20  -:31  die_id:1
    @24  -:32*10
"""

UbdmaDirectWqeSqe = define(
    "v200",
    "UbdmaDirectWqeSqe",
    64,
    HEADER,
    _COMMON,
    note="one or two units with the work entry follow",
    sqe_type=9,
    match={"type": (9,), "mode": (0,)},
)

AsyncDmaSqe = define(
    "v200",
    "AsyncDmaSqe",
    64,
    HEADER,
    _COMMON,
    note="as the direct form of UB DMA; one or two units with the work entry follow",
    sqe_type=10,
    match={"type": (10,)},
)
