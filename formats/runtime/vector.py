"""Head of a vector of 64-bit numbers: workspace sizes of a sink buffer (`reference/device_semantics.md` 6.4, row 3)."""

from formats.cstruct import define

VectorHeader = define(
    "runtime",
    "VectorHeader",
    64,
    """
    @0   capacity:64        | elements that fit
    @8   size:64            | elements in use
    @16  -:8*40
    @56  elements:64        | element 0; the others follow
    """,
    note="with 16 further elements a sink buffer spends 192 bytes on it",
)
