"""The chip: round figures, none of which is from any product."""

from __future__ import annotations

from dataclasses import fields, replace

from emu_core import Chip

from .layouts import FAMILY

_OURS = "chosen for this example"
_CHIP = Chip(
    name="edu-one",
    soc_name="Edu-One",
    product="EDU",
    family=FAMILY,
    arch=1,
    core_num=4,
    core_num_aic=4,
    core_num_aiv=4,
    tiling_cores=4,
    fused_cores=True,
    ai_cpus=2,
    ub_bytes=64 << 10,
    l1_bytes=256 << 10,
    l0a_bytes=32 << 10,
    l0b_bytes=32 << 10,
    l0c_bytes=64 << 10,
    l2_bytes=1 << 20,
    memory_bytes=1 << 30,
    cube_mhz=1000,
    cube_flops_per_cycle=1024,
    ddr_bytes_per_cycle=16,
    prefetch_num=4,
    platform_prefetch_num=4,
    prefetch_depth=4,
    platform_prefetch_depth=4,
    model_task_update=True,
    sq_depth=256,
    usable_tasks=250,
    max_streams=16,
    max_events=64,
    max_notifies=16,
    persistent_tasks=2000,
    cqe_bytes=16,
)
_IDENTITY = {"name", "soc_name", "product", "family", "fused_cores", "sources"}

EDU_ONE = replace(_CHIP, sources={f.name: _OURS for f in fields(Chip) if f.name not in _IDENTITY})
"""Four fused AI Cores, rings of 256 entries, 4 entries fetched ahead."""
