"""Stream active: place holder, sub type 3 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhStreamActiveSqe = define(
    "arch5162",
    "PhStreamActiveSqe",
    64,
    PH_HEADER,
    """
    @16  active_stream_id:16  -:16*23
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (3,)},
)
