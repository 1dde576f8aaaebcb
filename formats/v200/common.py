"""Any v200 entry: header and 14 opaque words, when nothing more is known (`reference/sqe_formats.md` 2.2)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

CommonSqe = define(
    "v200",
    "CommonSqe",
    64,
    HEADER,
    """
    @8   command_custom:32*14
    """,
    note="generic form: header and 14 opaque words",
)
