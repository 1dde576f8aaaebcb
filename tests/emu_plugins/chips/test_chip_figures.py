"""The built-in chips: figures of the reference, a source for each, and what follows from them."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from emu_core.chips import Chip, Latencies
from emu_core.plugins import PluginHost
from emu_plugins.chips import sqemu_chips
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.chips.ascend910b import ASCEND910B3

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
CHIPS = {chip.name: chip for chip in sqemu_chips()}
IDENTITY = {"name", "product", "family", "fused_cores", "sources"}

# reference/device_semantics.md 1.1 and 1.2; NOP counts 5 and 8 by the feature text.
FIGURES = {
    "ascend310p3": {
        "product": "310P", "arch": 2002, "core_num": 8, "core_num_aic": 8, "tiling_cores": 8, "fused_cores": True,
        "ai_cpus": 7, "ub_bytes": 256 * KIB, "l1_bytes": MIB, "l0a_bytes": 64 * KIB, "l0b_bytes": 64 * KIB,
        "l0c_bytes": 256 * KIB, "l2_bytes": 16 * MIB, "memory_bytes": 24_000_000_000, "cube_mhz": 1060,
        "ddr_bytes_per_cycle": 17, "prefetch_num": 5, "platform_prefetch_num": 10, "prefetch_depth": 5,
        "platform_prefetch_depth": 10, "sq_depth": 2048, "usable_tasks": 2042, "max_streams": 992,
        "max_events": 1023, "max_notifies": 1024, "persistent_tasks": 32760, "cqe_bytes": 12,
    },
    "ascend910b3": {
        "product": "A2", "arch": 2201, "core_num": 20, "core_num_aic": 20, "core_num_aiv": 40, "fused_cores": False,
        "ai_cpus": 6, "ub_bytes": 192 * KIB, "l1_bytes": 512 * KIB, "l0a_bytes": 64 * KIB, "l0b_bytes": 64 * KIB,
        "l0c_bytes": 128 * KIB, "l2_bytes": 192 * MIB, "memory_bytes": 64 * GIB, "cube_mhz": 1800,
        "ddr_bytes_per_cycle": 32, "prefetch_num": 8, "platform_prefetch_num": 8, "prefetch_depth": 8,
        "platform_prefetch_depth": 8, "sq_depth": 2048, "usable_tasks": 2013, "max_streams": 1984,
        "max_events": 65536, "max_notifies": 8192, "persistent_tasks": 60000, "cqe_bytes": 16,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_those_of_the_reference(name):
    """Cores, sizes, clocks, NOPs, depths and limits."""
    chip = CHIPS[name]
    assert {key: getattr(chip, key) for key in FIGURES[name]} == FIGURES[name]
    assert chip.model_task_update
    assert chip.family == "v100"


@pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
def test_every_figure_has_a_source_and_every_source_a_figure(chip):
    """No number without its origin, no origin of a number that is gone."""
    figures = {f.name for f in fields(Chip)} - IDENTITY
    assert set(chip.sources) == figures
    assert all(chip.sources.values())


@pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
def test_chips_are_consistent(chip):
    """Names are lower case, sizes positive, and a ring has room for the entries it may hold."""
    assert chip.name == chip.name.lower()
    assert chip.usable_tasks < chip.sq_depth
    assert chip.prefetch_num + 2 > chip.prefetch_depth
    assert chip.platform_prefetch_num + 2 > chip.platform_prefetch_depth
    numbers = [getattr(chip, f.name) for f in fields(Chip) if f.type == "int"]
    assert all(value > 0 for value in numbers)


def test_names_are_spelled_as_the_vendor_does():
    """Upper case after the series' name."""
    assert [c.soc_name for c in CHIPS.values()] == ["Ascend310P3", "Ascend910B3"]


def test_peaks_follow_from_cores_and_clock():
    """20 cubes at 1.8 GHz and 8192 operations make 294.9 TFLOPS; 20 x 32 bytes at 1.8 GHz make 1.152 TB/s."""
    assert ASCEND910B3.peak_flops_per_ns(20) == pytest.approx(294_912)
    assert ASCEND910B3.bandwidth_per_ns(20) == pytest.approx(1152)
    assert ASCEND310P3.peak_flops_per_ns(0) == ASCEND310P3.peak_flops_per_ns(1)


def test_latencies_are_the_modelled_defaults():
    """NOP 0.1 us, event and notify 0.5, update 2, launch 3, AI CPU 5, tiling 10, host round trip 30."""
    assert Latencies() == Latencies(100, 500, 500, 100, 5_000, 10_000, 2_000, 3_000, 1_000, 30_000)
    assert {c.latencies for c in CHIPS.values()} == {Latencies()}


def test_chips_are_values():
    """A variant is made by replacing figures; the original stays."""
    variant = replace(ASCEND910B3, name="ascend910b4-1", platform_prefetch_num=0)
    assert ASCEND910B3.platform_prefetch_num == 8
    assert variant.soc_name == "Ascend910B4-1"


def test_the_host_collects_them():
    """They come through the entry point."""
    assert set(CHIPS) <= set(PluginHost().chips)
