"""Atlas inference series: 310P. Fused AI Cores with cube and vector pipes; older scheduler (HWTS).

The ring of a 310P holds v100 64-byte entries here, as the runtime registers those builders for it; the HWTS command
bodies and 12-byte completion entries are not modelled.
"""

from __future__ import annotations

from types import MappingProxyType

from emu_core.chips import Chip
from emu_plugins.chips.sources import API_LIMIT, COMMON, PLATFORM_FILE, RUNTIME_TABLE, SEED

KIB = 1024
MIB = 1024 * KIB

ASCEND310P3 = Chip(
    name="ascend310p3",
    product="310P",
    family="v100",
    arch=2002,
    core_num=8,
    core_num_aic=8,
    core_num_aiv=8,
    tiling_cores=8,
    fused_cores=True,
    ai_cpus=7,
    ub_bytes=256 * KIB,
    l1_bytes=MIB,
    l0a_bytes=64 * KIB,
    l0b_bytes=64 * KIB,
    l0c_bytes=256 * KIB,
    l2_bytes=16 * MIB,
    memory_bytes=24_000_000_000,
    cube_mhz=1060,
    cube_flops_per_cycle=8192,
    ddr_bytes_per_cycle=17,
    prefetch_num=5,
    platform_prefetch_num=10,
    prefetch_depth=5,
    platform_prefetch_depth=10,
    model_task_update=True,
    sq_depth=2048,
    usable_tasks=2042,
    max_streams=992,
    max_events=1023,
    max_notifies=1024,
    persistent_tasks=32760,
    cqe_bytes=12,
    sources=MappingProxyType(
        {
            **COMMON,
            "core_num": PLATFORM_FILE,
            "core_num_aic": PLATFORM_FILE,
            "core_num_aiv": "8 fused AI Cores answer the vector core query (reference/cgdr.md 3.2)",
            "tiling_cores": "fused AI Cores (reference/cgdr.md 3.2)",
            "prefetch_num": f"{SEED}; the platform file says 10",
            "max_streams": RUNTIME_TABLE,
            "max_events": API_LIMIT,
            "max_notifies": API_LIMIT,
        }
    ),
)
