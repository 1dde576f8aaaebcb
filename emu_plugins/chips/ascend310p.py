"""Atlas inference series: 310P. Fused AI Cores with cube and vector pipes; older scheduler (HWTS).

The ring of a 310P holds v100 64-byte entries here, as the runtime registers those builders for it; the HWTS command
bodies and 12-byte completion entries are not modelled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from emu_core.chips import Chip
from emu_plugins.chips.sources import KIB, MIB, PLATFORM_FILE, RUNTIME_TABLE, SEED, sources

ASCEND310P3 = Chip(
    name="ascend310p3",
    soc_name="Ascend310P3",
    product="310P",
    family="v100",
    arch=2002,
    core_num=8,
    core_num_aic=8,
    core_num_aiv=8,
    tiling_cores=8,
    fused_cores=True,
    vector_cores=7,
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
    credit_ns=1 << 31,
    sources=sources(
        core_num_aiv="8 fused AI Cores answer the vector core query (reference/cgdr.md 3.2)",
        tiling_cores="fused AI Cores, 8 on every 310P (reference/cgdr.md 3.2)",
        vector_cores=f"{PLATFORM_FILE}; tiling does not use them",
        prefetch_num=f"{SEED}; the platform file says 10",
        credit_ns=RUNTIME_TABLE,
        max_streams=f"{RUNTIME_TABLE}; the user API's text says 1024",
    ),
)


class _Row(NamedTuple):
    """What differs from the 310P3."""

    soc_name: str
    ai_cores: int
    vector_cores: int
    ai_cpus: int
    cube_mhz: int


_OTHERS = (
    _Row("Ascend310P1", 10, 8, 8, 1060),
    _Row("Ascend310P5", 8, 7, 8, 800),
    _Row("Ascend310P7", 8, 7, 8, 550),
)


def _chip(row: _Row) -> Chip:
    return replace(
        ASCEND310P3,
        name=row.soc_name.lower(),
        soc_name=row.soc_name,
        core_num=row.ai_cores,
        core_num_aic=row.ai_cores,
        vector_cores=row.vector_cores,
        ai_cpus=row.ai_cpus,
        cube_mhz=row.cube_mhz,
    )


CHIPS = (ASCEND310P3, *map(_chip, _OTHERS))
"""310P1, 310P3, 310P5, 310P7."""
