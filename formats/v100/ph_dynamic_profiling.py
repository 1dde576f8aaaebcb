"""Dynamic profiling on and off: place holder 27, 28 (`reference/sqe_formats.md` 4.8)."""

from formats.cstruct import define
from formats.v100.place_holder import PH_HEADER

_PAYLOAD = """
    pid:64
    event_mux_config:8*8
    start_cycle:64
    stop_cycle:64
    user_defined_enable:8  is_timeline_prof_en:8  is_task_based_prof_en:8  is_prof_log_en:8
    is_soc_log_en:8  -:8*11
"""

PhPayloadDynamicProfiling = define(
    "v100",
    "PhPayloadDynamicProfiling",
    48,
    _PAYLOAD,
    note="payload of the place holder, words 4 and up",
)

PhDynamicProfilingSqe = define(
    "v100",
    "PhDynamicProfilingSqe",
    64,
    PH_HEADER,
    _PAYLOAD,
    sqe_type=3,
    match={"type": (3,), "task_type": (27, 28)},
)
