"""Atlas A2 and A3 series: 910B and 910_93. Separate cube and vector cores; STARS v1 scheduler.

One table for both: they share architecture, core sizes and scheduler, and differ in cores, clock, cache and memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from emu_core.chips import ABSENT, Chip
from emu_plugins.chips.sources import GIB, KIB, MIB, NO_PREFETCH_KEY, PLATFORM_FILE, sources

ASCEND910B3 = Chip(
    name="ascend910b3",
    soc_name="Ascend910B3",
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
    sources=sources(),
)
_NO_MEMORY = f"{ABSENT}the field of the platform file is empty; 64 GiB as on the 910B2 is our choice"


class _Row(NamedTuple):
    """What differs from the 910B3; vector cores are twice the cube cores."""

    soc_name: str
    product: str
    cube_cores: int
    cube_mhz: int
    l2_mib: int
    memory_gib: int | None
    prefetch_key: bool = True


_OTHERS = (
    _Row("Ascend910B1", "A2", 24, 1850, 192, 64),
    _Row("Ascend910B2", "A2", 24, 1800, 192, 64),
    _Row("Ascend910B2C", "A2", 24, 1800, 192, None),
    _Row("Ascend910B4", "A2", 20, 1500, 96, 32),
    _Row("Ascend910B4-1", "A2", 20, 1500, 168, 32, prefetch_key=False),
    _Row("Ascend910_9391", "A3", 24, 1850, 192, 64),
    _Row("Ascend910_9392", "A3", 24, 1850, 192, 64),
    _Row("Ascend910_9381", "A3", 24, 1800, 192, 64),
    _Row("Ascend910_9382", "A3", 24, 1800, 192, 64),
    _Row("Ascend910_9372", "A3", 20, 1800, 192, 64),
    _Row("Ascend910_9362", "A3", 20, 1500, 168, 64, prefetch_key=False),
    _Row("Ascend910_9363", "A3", 20, 1500, 168, 64, prefetch_key=False),
)


def _chip(row: _Row) -> Chip:
    return replace(
        ASCEND910B3,
        name=row.soc_name.lower(),
        soc_name=row.soc_name,
        product=row.product,
        core_num=row.cube_cores,
        core_num_aic=row.cube_cores,
        core_num_aiv=2 * row.cube_cores,
        tiling_cores=2 * row.cube_cores,
        cube_mhz=row.cube_mhz,
        l2_bytes=row.l2_mib * MIB,
        memory_bytes=(row.memory_gib or 64) * GIB,
        platform_prefetch_num=8 if row.prefetch_key else 0,
        sources=sources(
            memory_bytes=_NO_MEMORY if row.memory_gib is None else PLATFORM_FILE,
            platform_prefetch_num=PLATFORM_FILE if row.prefetch_key else NO_PREFETCH_KEY,
        ),
    )


CHIPS = (ASCEND910B3, *map(_chip, _OTHERS))
"""910B1 to 910B4-1 (A2) and 910_9362 to 910_9392 (A3)."""
