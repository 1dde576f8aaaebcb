"""Atlas 950 and 350: separate cube and vector cores, STARS v2 scheduler with entries of family v200.

Everything that is executed here is described in `docs/device.md`, "Entries of v200".
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from emu_core.chips import ABSENT, Chip
from emu_plugins.chips.sources import GIB, INFERRED, KIB, MIB, PLATFORM_FILE, RUNTIME_TABLE, sources

_CUBE = f"as on arch 2201, {INFERRED}"
_SEED_SILENT = f"{PLATFORM_FILE}; the feature text names no number"

ASCEND950PR_9599 = Chip(
    name="ascend950pr_9599",
    soc_name="Ascend950PR_9599",
    product="950",
    family="v200",
    arch=3510,
    core_num=36,
    core_num_aic=36,
    core_num_aiv=72,
    tiling_cores=72,
    fused_cores=False,
    ai_cpus=6,
    ub_bytes=248 * KIB,
    l1_bytes=512 * KIB,
    l0a_bytes=64 * KIB,
    l0b_bytes=64 * KIB,
    l0c_bytes=256 * KIB,
    l2_bytes=128 * MIB,
    memory_bytes=128 * GIB,
    cube_mhz=1800,
    cube_flops_per_cycle=8192,
    ddr_bytes_per_cycle=31,
    prefetch_num=8,
    platform_prefetch_num=8,
    prefetch_depth=8,
    platform_prefetch_depth=8,
    model_task_update=True,
    sq_depth=2049,
    usable_tasks=2014,
    max_streams=1984,
    max_events=65536,
    max_notifies=65535,
    persistent_tasks=60000,
    cqe_bytes=32,
    credit_from_zero=True,
    sources=sources(cube_flops_per_cycle=_CUBE, prefetch_num=_SEED_SILENT),
)


class _Row(NamedTuple):
    """What differs from the 950PR_9599; vector cores are twice the cube cores."""

    soc_name: str
    cube_cores: int
    ai_cpus: int
    cube_mhz: int
    l2_mib: int
    memory_gib: int
    ddr: int = 31


_OTHERS = (
    _Row("Ascend950DT_9591", 36, 6, 1800, 128, 144, ddr=80),
    _Row("Ascend950PR_9579", 28, 7, 1650, 128, 128),
    _Row("Ascend950PR_950z", 4, 5, 1650, 16, 24),
)
_ATLAS_350 = _Row("Ascend350_355e", 16, 4, 1650, 64, 64)


def _chip(row: _Row) -> Chip:
    return replace(
        ASCEND950PR_9599,
        name=row.soc_name.lower(),
        soc_name=row.soc_name,
        core_num=row.cube_cores,
        core_num_aic=row.cube_cores,
        core_num_aiv=2 * row.cube_cores,
        tiling_cores=2 * row.cube_cores,
        ai_cpus=row.ai_cpus,
        cube_mhz=row.cube_mhz,
        l2_bytes=row.l2_mib * MIB,
        memory_bytes=row.memory_gib * GIB,
        ddr_bytes_per_cycle=row.ddr,
    )


ASCEND350_355E = replace(
    _chip(_ATLAS_350),
    product="350",
    max_streams=2016,
    max_events=131072,
    sources=sources(
        cube_flops_per_cycle=_CUBE,
        prefetch_num=_SEED_SILENT,
        ddr_bytes_per_cycle=f"{ABSENT}no source; 31 as on the 950PR is our choice",
        max_streams=f"physical streams, {RUNTIME_TABLE}; no documented limit",
        max_events=f"event count, {RUNTIME_TABLE}; no documented limit",
        max_notifies=f"{ABSENT}no source; 65535 as on the 950 is our choice",
        model_task_update="runtime feature table; vendor pages disagree (reference/device_semantics.md 5.3)",
    ),
)
"""Reads as a product of its own: the feature table has the task update, vendor pages do not list the sink for it."""

CHIPS = (ASCEND950PR_9599, *map(_chip, _OTHERS), ASCEND350_355E)
"""950DT_9591, 950PR_9599, 950PR_9579, 950PR_950z and 350_355e."""
