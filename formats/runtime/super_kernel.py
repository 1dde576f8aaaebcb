"""A super kernel in device memory: a descriptor with a magic of its own, and one record per sub kernel behind it.

The descriptor's `tiling_key` is the number of records. Own layout: the vendor's linker makes machine code instead.
"""

from formats.cstruct import define

SUPER_KERNEL_MAGIC = int.from_bytes(b"SQEMUSKN", "little")
"""First word of the descriptor of a super kernel."""
NO_WORD = 0xFFFF_FFFF
"""In place of an argument word: the sub kernel is not told its variant at run time."""

SubKernel = define(
    "runtime",
    "SubKernel",
    64,
    """
    @0   entry_pc:64            | first entry of its binary; its only one when the variant is known
    @8   entry_count:32         | entries from there on, one descriptor each
    @12  block_dim:32           | blocks, when known
    @16  first_word:32          | where its arguments begin, in words of the launch
    @20  key_word:32            | argument with the address of the tiling key, or NO_WORD
    @24  block_dim_word:32      | argument with the address of the block dim, or NO_WORD
    @28  event_word:32          | argument with the address of the event word, or NO_WORD
    @32  name_addr:64           | address of the operator's name, NUL-terminated
    @40  -:8*24
    """,
    note="own layout; words count from first_word",
)
