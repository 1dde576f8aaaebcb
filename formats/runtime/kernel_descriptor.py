"""Descriptor at the entry of a kernel in device memory: what a program counter points at."""

from formats.cstruct import define

KERNEL_MAGIC = int.from_bytes(b"SQEMUKRN", "little")
"""First word of every kernel descriptor."""

KernelDescriptor = define(
    "runtime",
    "KernelDescriptor",
    64,
    """
    @0   magic:64               | KERNEL_MAGIC
    @8   kernel_key:32          | CRC-32 of the kernel name
    @12  core_type:32           | core it runs on
    @16  tiling_key:64          | tiling key of this entry
    @24  name_addr:64           | address of the kernel name, NUL-terminated
    @32  first_block:32         | first block of a launch that has a part of the blocks
    @36  blocks:32              | blocks of all its parts together; 0: the launch has all of them
    @40  -:8*24
    """,
    note="own layout; an AI Core engine decides from it and from nothing else",
)
