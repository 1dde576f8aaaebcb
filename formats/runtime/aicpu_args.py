"""Head of the argument block of an AI CPU task (`reference/om_format.md` 7, 20 bytes packed)."""

from formats.cstruct import define

AicpuArgHead = define(
    "runtime",
    "AicpuArgHead",
    20,
    """
    @0   length:32              | bytes of the whole argument block
    @4   io_count:32            | addresses that follow
    @8   ext_info_length:32     | bytes of the extended info
    @12  ext_info_addr:64       | address of the extended info
    """,
    note="packed: the last field is not aligned",
)
