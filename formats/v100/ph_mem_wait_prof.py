"""Profiling helper of a memory wait: place holder 31 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    dest_sqe_pos:16  -:8*46
"""

PhPayloadMemWaitProf = define(
    "v100",
    "PhPayloadMemWaitProf",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhMemWaitProfSqe = define(
    "v100",
    "PhMemWaitProfSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (31,)},
)
