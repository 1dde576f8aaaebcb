"""UB doorbells: type 9 (`reference/sqe_formats.md` 6.6)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

UbdmaDbModeSqe = define(
    "v200",
    "UbdmaDbModeSqe",
    64,
    HEADER,
    """
    @8   mode:1  doorbell_num:2  -:13  -:16
    @12  -:16  kernel_credit:8  -:5  sqe_length:3
    @16  jetty_id1:16  -:9  func_id1:7
    @20  pi_value1:16  -:15  die_id1:1
    @24  jetty_id2:16  -:9  func_id2:7
    @28  pi_value2:16  -:15  die_id2:1
    @32  source:16  -:16
    @36  -:32*7
    """,
    note="one or two doorbells",
    sqe_type=9,
    match={"type": (9,), "mode": (1,)},
)
