"""Label context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define
from formats.v100.contexts.common import CONTEXT_HEAD

FftsPlusLabelCtx = define(
    "v100",
    "FftsPlusLabelCtx",
    128,
    CONTEXT_HEAD,
    """
    @64  -:32*2
    @72  thread_id:16  thread_dim:16
    @76  -:32*13
    """,
    match={"context_type": (0x500,)},
)
