"""Any arch5162 entry: header and 14 opaque words (ours; the C headers have no such struct)."""

from formats.arch5162.sqe_header import HEADER
from formats.cstruct import define

CommonSqe = define(
    "arch5162",
    "CommonSqe",
    64,
    HEADER,
    """
    @8   command_custom:32*14
    """,
    note="generic form: header and 14 opaque words; our own struct",
)
