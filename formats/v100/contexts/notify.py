"""Notify wait and record context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define
from formats.v100.contexts.common import CONTEXT_HEAD

FftsPlusNotifyCtx = define(
    "v100",
    "FftsPlusNotifyCtx",
    128,
    CONTEXT_HEAD,
    """
    @64  -:14  satm:1  atm:1  -:16
    @68  -:32
    @72  thread_id:16  thread_dim:16
    @76  notify_id_base:16  auto_window:8  -:8
    @80  -:32*4
    @96  notify_id:16*16
    """,
    match={"context_type": (3, 4)},
    meanings={"notify_id": "notify of each slot of the window"},
)
