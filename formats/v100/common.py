"""Any v100 SQE: header and 14 opaque words; shown when nothing more is known of an entry."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

CommonSqe = define(
    "v100",
    "CommonSqe",
    64,
    HEADER,
    """
    @8   command_custom:32*14
    """,
    note="generic form: header and 14 opaque words",
)
