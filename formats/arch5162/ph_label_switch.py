"""Label switch: place holder, sub type 4 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhLabelSwitchSqe = define(
    "arch5162",
    "PhLabelSwitchSqe",
    64,
    PH_HEADER,
    """
    @16  index_ptr:64
    @24  label_info_ptr:64
    @32  label_count_ptr:64
    @40  label_max:32
    @44  -:16*10
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (4,)},
)
