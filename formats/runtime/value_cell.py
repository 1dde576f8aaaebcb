"""Cell of one context input or output (`reference/device_semantics.md` 6.4, row 9)."""

from formats.cstruct import define

ValueCell = define(
    "runtime",
    "ValueCell",
    128,
    """
    @0   value:64           | the value, or the address of a larger one
    @8   owner:64           | deleter of the value, 0 when the cell owns nothing
    @16  -:8*112
    """,
    note="16 bytes are used; the stride is 128, so that each value is alone in its line",
)
