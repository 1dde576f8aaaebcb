"""Trace marker: place holder 26 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

_PAYLOAD = """
    profiler_trace_id:64
    model_id:64
    tag_id:16  -:8*30
"""

PhPayloadProfilerTraceEx = define(
    "v200",
    "PhPayloadProfilerTraceEx",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhProfilerTraceExSqe = define(
    "v200",
    "PhProfilerTraceExSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (26,)},
)
