"""Label set: place holder, sub type 5 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhLabelSetSqe = define(
    "arch5162",
    "PhLabelSetSqe",
    64,
    PH_HEADER,
    """
    @16  label_id:16  -:16*23
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (5,)},
)
