"""Atlas A2 series: 910B. Separate cube and vector cores; STARS v1 scheduler."""

from __future__ import annotations

from types import MappingProxyType

from emu_core.chips import Chip
from emu_plugins.chips.sources import API_LIMIT, COMMON, PLATFORM_FILE

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

ASCEND910B3 = Chip(
    name="ascend910b3",
    product="A2",
    family="v100",
    arch=2201,
    core_num=20,
    core_num_aic=20,
    core_num_aiv=40,
    tiling_cores=40,
    fused_cores=False,
    ai_cpus=6,
    ub_bytes=192 * KIB,
    l1_bytes=512 * KIB,
    l0a_bytes=64 * KIB,
    l0b_bytes=64 * KIB,
    l0c_bytes=128 * KIB,
    l2_bytes=192 * MIB,
    memory_bytes=64 * GIB,
    cube_mhz=1800,
    cube_flops_per_cycle=8192,
    ddr_bytes_per_cycle=32,
    prefetch_num=8,
    platform_prefetch_num=8,
    prefetch_depth=8,
    platform_prefetch_depth=8,
    model_task_update=True,
    sq_depth=2048,
    usable_tasks=2013,
    max_streams=1984,
    max_events=65536,
    max_notifies=8192,
    persistent_tasks=60000,
    cqe_bytes=16,
    sources=MappingProxyType(
        {
            **COMMON,
            "core_num": PLATFORM_FILE,
            "core_num_aic": PLATFORM_FILE,
            "core_num_aiv": PLATFORM_FILE,
            "tiling_cores": "what the vector core query answers (reference/cgdr.md 3.2)",
            "max_streams": API_LIMIT,
            "max_events": API_LIMIT,
            "max_notifies": API_LIMIT,
        }
    ),
)
