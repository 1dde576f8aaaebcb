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
    @32  -:8*32
    """,
    note="own layout; an AI Core engine decides from it and from nothing else",
)
