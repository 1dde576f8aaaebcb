"""Copy: place holder, sub type 20 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhMemcpyAsyncSqe = define(
    "arch5162",
    "PhMemcpyAsyncSqe",
    64,
    PH_HEADER,
    """
    @16  src:64
    @24  dest:64
    @32  size:32
    @36  pid:32
    @40  -:32*6
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (20,)},
)
