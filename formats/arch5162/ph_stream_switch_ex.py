"""Stream switch with both operands in memory: place holder, sub type 2 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.place_holder import PH_HEADER
from formats.cstruct import define

PhStreamSwitchExSqe = define(
    "arch5162",
    "PhStreamSwitchExSqe",
    64,
    PH_HEADER,
    """
    @16  var_ptr:64
    @24  val_ptr:64
    @32  condition:32
    @36  true_stream_id:32
    @40  data_type:32
    @44  -:16*10
    """,
    sqe_type=3,
    match={"type": (3,), "sqe_sub_type": (2,)},
    meanings={"data_type": "type of the operands"},
    enums={"data_type": ""},
)
