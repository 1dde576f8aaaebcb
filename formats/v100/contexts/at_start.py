"""Start of automatic threads of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define
from formats.v100.contexts.common import CONTEXT_HEAD

FftsPlusAtStartCtx = define(
    "v100",
    "FftsPlusAtStartCtx",
    128,
    CONTEXT_HEAD,
    """
    @64  -:16  -:16
    @68  -:16  -:16
    @72  thread_id:16  thread_dim:16
    @76  thread_id_init:16  thread_window_size:16
    @80  -:32*12
    """,
    match={"context_type": (0x300,)},
)
