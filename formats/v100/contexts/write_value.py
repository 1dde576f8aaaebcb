"""Write value context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define
from formats.v100.contexts.common import CONTEXT_HEAD

FftsPlusWriteValueCtx = define(
    "v100",
    "FftsPlusWriteValueCtx",
    128,
    CONTEXT_HEAD,
    """
    @64  -:15  atm:1  -:16
    @68  -:32
    @72  thread_id:16  thread_dim:16
    @76  aw_size:3  aw_snoop:1  -:4  aw_cache:4  aw_prot:3  aw_va:1  ar_size:3  ar_snoop:1  -:4  ar_cache:4
         ar_prot:3  ar_va:1
    @80  write_address_base_l:32
    @84  write_address_base_h:17  -:15
    @88  write_address_offset:32
    @92  -:32
    @96  write_value:32*4
    @112 -:32*4
    """,
    match={"context_type": (5, 0x805)},
)
