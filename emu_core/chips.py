"""A chip as data: a frozen record with a source for each figure. The core reads it, plugins supply it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from emu_core.chip_figures import NOT_FIGURES, refuse_names, refuse_times, refuse_values

if TYPE_CHECKING:
    from collections.abc import Mapping


ABSENT = "absent: "
"""How the source of a figure begins that no source states; the value is then 0, or an assumption the text names."""


@dataclass(frozen=True)
class Latencies:
    """Virtual time of each step in nanoseconds; all are *modelled* defaults unless a chip's sources say more.

    `event_notify_ns` counts under policy `nop_model` only: from an event to what it releases noticing its patch. The
    nearest measured figure is a register signal from AI Core to AI CPU, 600 ns (`reference/device_semantics.md` 2.3).

    Raises:
        ChipError: a time is negative, or no whole number (`chip.field`).
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

    def __post_init__(self) -> None:
        refuse_times({f.name: getattr(self, f.name) for f in fields(self)})


T = TypeVar("T")


def _names_checked(record: type[T]) -> type[T]:
    """A dataclass whose missing and unknown fields are named with their meaning when one is made."""
    make: Any = record.__init__
    known = fields(record)  # type: ignore[arg-type]  # a dataclass
    required = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]

    @wraps(make)
    def checked(self: T, *args: object, **kwargs: object) -> None:
        given = [*(f.name for f in known[: len(args)]), *kwargs]
        refuse_names(given, required, kwargs.get("name", args[0] if args else ""))
        make(self, *args, **kwargs)

    record.__init__ = checked  # type: ignore[method-assign, assignment]
    return record


@_names_checked
@dataclass(frozen=True)
class Chip:
    """Everything the machine, the compiler and the tiling functions ask about a chip.

    Raises:
        ChipError: a figure is missing, unknown, or has a value that cannot be (`chip.field`, `emu_core.chip_figures`).

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
        credit_from_zero: the hardware counts from 0: a credit of n is n + 1 units (`reference/sqe_formats.md` 3).
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
    credit_from_zero: bool = False
    latencies: Latencies = field(default_factory=Latencies)
    sources: Mapping[str, str] = field(default_factory=dict)
    soc_name: str = ""

    def __post_init__(self) -> None:
        refuse_values({f.name: getattr(self, f.name) for f in fields(self)})
        if self.soc_name.lower() != self.name:
            object.__setattr__(self, "soc_name", self.name)

    @property
    def unsourced(self) -> tuple[str, ...]:
        """Figures of which `sources` does not say where they are from, by attribute name."""
        names = (f.name for f in fields(self))
        return tuple(name for name in names if name not in NOT_FIGURES and not self.sources.get(name))

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
