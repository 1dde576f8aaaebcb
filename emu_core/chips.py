"""A chip as data: a frozen record with a source for each figure. The core reads it, plugins supply it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


ABSENT = "absent: "
"""How the source of a figure begins that no source states; the value is then 0, or an assumption the text names."""


@dataclass(frozen=True)
class Latencies:
    """Virtual time of each step in nanoseconds; all are *modelled* defaults unless a chip's sources say more.

    `event_notify_ns` counts under policy `nop_model` only: from an event to what it releases noticing its patch. The
    nearest measured figure is a register signal from AI Core to AI CPU, 600 ns (`reference/device_semantics.md` 2.3).
    """

    nop_ns: int = 100
    event_ns: int = 500
    notify_ns: int = 500
    write_value_ns: int = 100
    aicpu_launch_ns: int = 5_000
    tiling_ns: int = 10_000
    update_ns: int = 2_000
    ai_core_launch_ns: int = 3_000
    condition_ns: int = 1_000
    host_round_trip_ns: int = 30_000
    event_notify_ns: int = 600


@dataclass(frozen=True)
class Chip:
    """Everything the machine, the compiler and the tiling functions ask about a chip.

    Attributes:
        name: lower-case SoC name.
        product: `A2`, `A3`, `310P`, `950` …; gates and NOP counts are stated per product.
        family: family of the SQE layouts, a key of the format registry.
        arch: NpuArch number of the platform file.
        core_num: AI Cores by the platform query `GetCoreNum`; `core_num_aic`, `core_num_aiv`: cube and vector cores.
        tiling_cores: cores that a tiling function spreads blocks over.
        fused_cores: one AI Core has both cube and vector pipes.
        vector_cores: separate vector cores beside fused AI Cores; 0 where there are none.
        ai_cpus: AI CPU threads a user may occupy.
        ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, l2_bytes, memory_bytes: sizes in bytes.
        cube_mhz: cube clock in MHz. `cube_flops_per_cycle`: FP16 operations per core and cycle.
        ddr_bytes_per_cycle: device memory rate per core and cycle.
        prefetch_num: NOP count between wait and kernel (the default policy, the user's word).
        platform_prefetch_num: the same by the platform file; 0 and listed in `absent` where it has no such key.
        prefetch_depth, platform_prefetch_depth: entries fetched past head, likewise.
        model_task_update: the device supports the model task update feature.
        sq_depth, usable_tasks, max_streams, max_events, max_notifies, persistent_tasks, cq_depth: limits in entries.
        cqe_bytes: size of a completion entry on the real chip.
        credit_ns: nanoseconds of one unit of kernel credit, the time budget of an entry.
        sources: where each figure is from, by attribute name.
        soc_name: `name` as software of the vendor spells it, for example `Ascend310P3`; `name` itself where nothing is
            given, or the spelling of another name (a variant that was made by replacing the name).
    """

    name: str
    product: str
    family: str
    arch: int
    core_num: int
    core_num_aic: int
    core_num_aiv: int
    tiling_cores: int
    fused_cores: bool
    ai_cpus: int
    ub_bytes: int
    l1_bytes: int
    l0a_bytes: int
    l0b_bytes: int
    l0c_bytes: int
    l2_bytes: int
    memory_bytes: int
    cube_mhz: int
    cube_flops_per_cycle: int
    ddr_bytes_per_cycle: int
    prefetch_num: int
    platform_prefetch_num: int
    prefetch_depth: int
    platform_prefetch_depth: int
    model_task_update: bool
    sq_depth: int
    usable_tasks: int
    max_streams: int
    max_events: int
    max_notifies: int
    persistent_tasks: int
    cqe_bytes: int
    vector_cores: int = 0
    cq_depth: int = 1024
    credit_ns: int = 1 << 32
    latencies: Latencies = field(default_factory=Latencies)
    sources: Mapping[str, str] = field(default_factory=dict)
    soc_name: str = ""

    def __post_init__(self) -> None:
        if self.soc_name.lower() != str(self.name):
            object.__setattr__(self, "soc_name", self.name)

    @property
    def absent(self) -> tuple[str, ...]:
        """Figures that no source states, by attribute name."""
        return tuple(name for name, source in self.sources.items() if source.startswith(ABSENT))

    def peak_flops_per_ns(self, cores: int) -> float:
        """FP16 cube operations per nanosecond of `cores` cores."""
        return max(cores, 1) * self.cube_mhz * self.cube_flops_per_cycle / 1000

    def bandwidth_per_ns(self, cores: int) -> float:
        """Device memory bytes per nanosecond that `cores` cores can move."""
        return max(cores, 1) * self.cube_mhz * self.ddr_bytes_per_cycle / 1000
