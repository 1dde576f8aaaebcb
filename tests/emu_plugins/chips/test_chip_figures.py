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
REAL = {name: chip for name, chip in CHIPS.items() if name.startswith("ascend")}
IDENTITY = {"name", "soc_name", "product", "family", "fused_cores", "sources"}

# reference/device_semantics.md 1.1, typed from the page: AIC, AIV, AI CPUs, MHz, L2 MiB, memory, NOPs of the
# platform file (0: no such key).
TABLE = {
    "ascend910b1": ("A2", 24, 48, 6, 1850, 192, 64 * GIB, 8),
    "ascend910b2": ("A2", 24, 48, 6, 1800, 192, 64 * GIB, 8),
    "ascend910b2c": ("A2", 24, 48, 6, 1800, 192, None, 8),
    "ascend910b3": ("A2", 20, 40, 6, 1800, 192, 64 * GIB, 8),
    "ascend910b4": ("A2", 20, 40, 6, 1500, 96, 32 * GIB, 8),
    "ascend910b4-1": ("A2", 20, 40, 6, 1500, 168, 32 * GIB, 0),
    "ascend910_9391": ("A3", 24, 48, 6, 1850, 192, 64 * GIB, 8),
    "ascend910_9392": ("A3", 24, 48, 6, 1850, 192, 64 * GIB, 8),
    "ascend910_9381": ("A3", 24, 48, 6, 1800, 192, 64 * GIB, 8),
    "ascend910_9382": ("A3", 24, 48, 6, 1800, 192, 64 * GIB, 8),
    "ascend910_9372": ("A3", 20, 40, 6, 1800, 192, 64 * GIB, 8),
    "ascend910_9362": ("A3", 20, 40, 6, 1500, 168, 64 * GIB, 0),
    "ascend910_9363": ("A3", 20, 40, 6, 1500, 168, 64 * GIB, 0),
    "ascend310p1": ("310P", 10, 8, 8, 1060, 16, 24_000_000_000, 10),
    "ascend310p3": ("310P", 8, 8, 7, 1060, 16, 24_000_000_000, 10),
    "ascend310p5": ("310P", 8, 8, 8, 800, 16, 24_000_000_000, 10),
    "ascend310p7": ("310P", 8, 8, 8, 550, 16, 24_000_000_000, 10),
    "ascend950dt_9591": ("950", 36, 72, 6, 1800, 128, 144 * GIB, 8),
    "ascend950pr_9599": ("950", 36, 72, 6, 1800, 128, 128 * GIB, 8),
    "ascend950pr_9579": ("950", 28, 56, 7, 1650, 128, 128 * GIB, 8),
    "ascend950pr_950z": ("950", 4, 8, 5, 1650, 16, 24 * GIB, 8),
    "ascend350_355e": ("350", 16, 32, 4, 1650, 64, 64 * GIB, 8),
}

# What all chips of an architecture share: arch, family, UB, L1, L0A, L0B, L0C, seed NOPs, depths of seed and runtime.
SHARED = {
    "A2": (2201, "v100", 192 * KIB, 512 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, 8, 8, 8),
    "A3": (2201, "v100", 192 * KIB, 512 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, 8, 8, 8),
    "310P": (2002, "v100", 256 * KIB, MIB, 64 * KIB, 64 * KIB, 256 * KIB, 5, 5, 10),
    "950": (3510, "v200", 253_952, 512 * KIB, 64 * KIB, 64 * KIB, 256 * KIB, 8, 8, 8),
    "350": (3510, "v200", 253_952, 512 * KIB, 64 * KIB, 64 * KIB, 256 * KIB, 8, 8, 8),
}

# reference/device_semantics.md 1.2: ring depth, usable tasks, streams, events, notifies, sunk tasks, bytes of a CQE.
SCHEDULERS = {
    "A2": (2048, 2013, 1984, 65536, 8192, 60000, 16),
    "A3": (2048, 2013, 1984, 65536, 8192, 60000, 16),
    "310P": (2048, 2042, 992, 1023, 1024, 32760, 12),
    "950": (2049, 2014, 1984, 65536, 65535, 60000, 32),
    "350": (2049, 2014, 2016, 131072, None, 60000, 32),
}


def test_every_soc_of_the_reference_is_there():
    """22 products, and one chip of ours."""
    assert set(REAL) == set(TABLE)
    assert set(CHIPS) - set(REAL) == {"edu-large"}


@pytest.mark.parametrize("name", TABLE)
def test_figures_are_those_of_the_platform_file(name):
    """Cores, AI CPUs, clock, cache, memory and the NOP count; a figure the file lacks is listed as absent."""
    chip = CHIPS[name]
    product, aic, aiv, cpus, mhz, l2, memory, nops = TABLE[name]
    assert (chip.product, chip.core_num, chip.core_num_aic, chip.core_num_aiv) == (product, aic, aic, aiv)
    assert (chip.ai_cpus, chip.cube_mhz, chip.l2_bytes) == (cpus, mhz, l2 * MIB)
    assert chip.platform_prefetch_num == nops
    assert ("platform_prefetch_num" in chip.absent) is (nops == 0)
    assert ("memory_bytes" in chip.absent) is (memory is None)
    assert memory is None or chip.memory_bytes == memory


@pytest.mark.parametrize("name", TABLE)
def test_figures_of_the_architecture(name):
    """Sizes of the core memories, the family of entries, NOP count and fetch depth."""
    chip = CHIPS[name]
    found = (
        chip.arch, chip.family, chip.ub_bytes, chip.l1_bytes, chip.l0a_bytes, chip.l0b_bytes, chip.l0c_bytes,
        chip.prefetch_num, chip.prefetch_depth, chip.platform_prefetch_depth,
    )  # fmt: skip
    assert found == SHARED[chip.product]
    assert chip.model_task_update


@pytest.mark.parametrize("name", TABLE)
def test_limits_of_the_scheduler(name):
    """Ring depth, usable tasks, streams, events, notifies, sunk tasks and the size of a completion entry."""
    chip = CHIPS[name]
    *first, notifies, sunk, cqe = SCHEDULERS[chip.product]
    assert [chip.sq_depth, chip.usable_tasks, chip.max_streams, chip.max_events] == first
    assert (chip.persistent_tasks, chip.cqe_bytes) == (sunk, cqe)
    assert ("max_notifies" in chip.absent) is (notifies is None)
    assert notifies is None or chip.max_notifies == notifies


def test_cores_of_the_310p():
    """Tiling spreads over 8 fused cores on each of them; separate vector cores are counted apart."""
    found = {n: (c.fused_cores, c.tiling_cores, c.vector_cores) for n, c in CHIPS.items() if c.product == "310P"}
    assert found == {
        "ascend310p1": (True, 8, 8),
        "ascend310p3": (True, 8, 7),
        "ascend310p5": (True, 8, 7),
        "ascend310p7": (True, 8, 7),
    }


@pytest.mark.parametrize("chip", [c for c in REAL.values() if c.product != "310P"], ids=lambda chip: chip.name)
def test_cores_of_the_others(chip):
    """Two vector cores per cube core, all of them used by tiling, none beside."""
    assert chip.core_num_aiv == chip.tiling_cores == 2 * chip.core_num_aic
    assert not chip.fused_cores
    assert chip.vector_cores == 0


def test_device_memory_rates():
    """17 bytes per core and cycle on 310P, 32 on 910B and A3, 80 on 950DT, 31 on 950PR; none known of the 350."""
    assert {(c.product, c.ddr_bytes_per_cycle) for c in REAL.values() if "ddr_bytes_per_cycle" not in c.absent} == {
        ("310P", 17), ("A2", 32), ("A3", 32), ("950", 80), ("950", 31),
    }  # fmt: skip
    assert CHIPS["ascend950dt_9591"].ddr_bytes_per_cycle == 80
    assert "ddr_bytes_per_cycle" in CHIPS["ascend350_355e"].absent


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
    may_be_zero = {"vector_cores", *chip.absent}
    numbers = {f.name: getattr(chip, f.name) for f in fields(Chip) if f.type == "int" and f.name not in may_be_zero}
    assert all(value > 0 for value in numbers.values())


def test_three_chips_are_unsafe_by_their_platform_file():
    """910B4-1, 910_9362 and 910_9363 have no NOP count there: 0 NOPs put a kernel at distance 2, within the depth 8."""
    unsafe = {n for n, c in REAL.items() if c.platform_prefetch_num + 2 <= c.platform_prefetch_depth}
    assert unsafe == {"ascend910b4-1", "ascend910_9362", "ascend910_9363"}


def test_names_are_spelled_as_the_vendor_does():
    """The series is upper case, the part behind the underscore as it is; a chip of ours keeps its name."""
    spelled = {
        "ascend310p3": "Ascend310P3", "ascend910b4-1": "Ascend910B4-1", "ascend910_9362": "Ascend910_9362",
        "ascend950pr_950z": "Ascend950PR_950z", "ascend350_355e": "Ascend350_355e", "edu-large": "edu-large",
    }  # fmt: skip
    assert {name: CHIPS[name].soc_name for name in spelled} == spelled


def test_peaks_follow_from_cores_and_clock():
    """20 cubes at 1.8 GHz and 8192 operations make 294.9 TFLOPS; 20 x 32 bytes at 1.8 GHz make 1.152 TB/s."""
    assert ASCEND910B3.peak_flops_per_ns(20) == pytest.approx(294_912)
    assert ASCEND910B3.bandwidth_per_ns(20) == pytest.approx(1152)
    assert CHIPS["ascend910b1"].peak_flops_per_ns(24) == pytest.approx(363_725, rel=1e-5)
    assert ASCEND310P3.peak_flops_per_ns(0) == ASCEND310P3.peak_flops_per_ns(1)


def test_latencies_are_the_modelled_defaults():
    """NOP 0.1 us, event and notify 0.5, update 2, launch 3, AI CPU 5, tiling 10, host round trip 30."""
    assert Latencies() == Latencies(100, 500, 500, 100, 5_000, 10_000, 2_000, 3_000, 1_000, 30_000, 600)
    assert {c.latencies for c in CHIPS.values()} == {Latencies()}


def test_chips_are_values():
    """A variant is made by replacing figures; the original stays."""
    variant = replace(ASCEND910B3, name="ascend910b9", soc_name="Ascend910B9", platform_prefetch_num=0)
    assert ASCEND910B3.platform_prefetch_num == 8
    assert variant.soc_name == "Ascend910B9"
    assert replace(variant, name="mine").soc_name == "mine"


def test_the_scale_chip():
    """`edu-large`: 2^24 tasks, 2^16 streams and events, rings of 2^18 entries, every figure marked as ours."""
    chip = CHIPS["edu-large"]
    assert (chip.persistent_tasks, chip.max_streams, chip.max_events) == (2**24, 2**16, 2**16)
    assert chip.sq_depth == 2**18
    assert {source.split(":")[0] for source in chip.sources.values()} == {"our choice", "modelled"}


def test_the_host_collects_them():
    """They come through the entry point."""
    assert set(CHIPS) <= set(PluginHost().chips)
