"""Short names of the sources of chip figures, and the sources that most chips share."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.chips import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

PLATFORM_FILE = "platform file of the SoC (reference/device_semantics.md 1.1)"
RUNTIME_TABLE = "runtime device table (reference/device_semantics.md 1.2)"
API_LIMIT = "documented limit of the user API (reference/device_semantics.md 1.2)"
SEED = "tiling sink feature text 4.3"
INFERRED = "inferred (reference/device_semantics.md)"
CHOICE = "our choice"
MODELLED = "modelled"
CUBE = "16 x 16 x 16 multiply-accumulates per cycle (reference/device_semantics.md 1.1)"
VECTOR_QUERY = "what the vector core query answers (reference/cgdr.md 3.2)"
CREDIT = "fallback of the driver's value: 2^32 cycles at 1 GHz (reference/sqe_formats.md 3)"
CREDIT_COUNT = "builders of the runtime (reference/sqe_formats.md 3)"
NO_PREFETCH_KEY = f"{ABSENT}the platform file has no such key, which its reader takes for 0"
NO_VECTOR_CORES = f"{PLATFORM_FILE}: none beside the AI Cores"

COMMON: Mapping[str, str] = MappingProxyType(
    {
        "arch": PLATFORM_FILE,
        "core_num": PLATFORM_FILE,
        "core_num_aic": PLATFORM_FILE,
        "core_num_aiv": PLATFORM_FILE,
        "tiling_cores": VECTOR_QUERY,
        "vector_cores": NO_VECTOR_CORES,
        "ai_cpus": PLATFORM_FILE,
        "ub_bytes": PLATFORM_FILE,
        "l1_bytes": PLATFORM_FILE,
        "l0a_bytes": PLATFORM_FILE,
        "l0b_bytes": PLATFORM_FILE,
        "l0c_bytes": PLATFORM_FILE,
        "l2_bytes": PLATFORM_FILE,
        "memory_bytes": PLATFORM_FILE,
        "cube_mhz": PLATFORM_FILE,
        "cube_flops_per_cycle": CUBE,
        "ddr_bytes_per_cycle": f"{PLATFORM_FILE}; unit inferred",
        "prefetch_num": SEED,
        "platform_prefetch_num": PLATFORM_FILE,
        "prefetch_depth": f"equal to prefetch_num, {INFERRED}",
        "platform_prefetch_depth": f"equal to the runtime's prefetch count, {INFERRED}",
        "model_task_update": "runtime feature table (reference/device_semantics.md 5.3)",
        "sq_depth": RUNTIME_TABLE,
        "usable_tasks": RUNTIME_TABLE,
        "max_streams": API_LIMIT,
        "max_events": API_LIMIT,
        "max_notifies": API_LIMIT,
        "persistent_tasks": RUNTIME_TABLE,
        "cqe_bytes": RUNTIME_TABLE,
        "cq_depth": CHOICE,
        "credit_ns": CREDIT,
        "credit_from_zero": CREDIT_COUNT,
        "latencies": MODELLED,
    }
)
"""Sources that hold for a chip unless it says otherwise."""


def sources(**others: str) -> Mapping[str, str]:
    """The shared sources with `others` over them, by attribute name."""
    return MappingProxyType({**COMMON, **others})
