"""MixProbe: what its kernel writes for each mix, and what its tiling refuses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from emu_core import CompileOptions, Device, DeviceFault, PluginHost, TilingError, compile_with_report
from emu_plugins.kernels.mix_probe import KERNEL, MIXES, OPERATOR, mix_tiling, run_mix, slices


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


def test_slices_of_blocks_with_one_and_two_secondary_cores():
    """10 elements in 3 blocks of 4, 4, 2; with two vector cores the second takes half of each, rounded down."""
    assert list(slices(10, 2, 3, 1)) == [(0, 4, 200.0), (4, 8, 201.0), (8, 10, 202.0)]
    assert list(slices(7, 0, 2, 2)) == [(0, 2, 0.0), (2, 4, 0.5), (4, 6, 1.0), (6, 7, 1.5)]


def test_blocks_without_elements_have_no_parts():
    """5 elements on 4 blocks of 2: the last block is empty, the third has one element and no second half."""
    assert list(slices(5, 1, 4, 2)) == [
        (0, 1, 100.0), (1, 2, 100.5), (2, 3, 101.0), (3, 4, 101.5), (4, 5, 102.0),
    ]  # fmt: skip


def test_the_kernel_says_how_each_key_uses_the_cores():
    """Keys 0 to 4 have the mix types 3, 3, 2, 4, 1 and the secondary cores 2, 1, 0, 1, 0."""
    found = [KERNEL.mix_at(key) for key in KERNEL.tiling_keys]
    assert [(int(m.type), m.secondary) for m in found] == [(3, 2), (3, 1), (2, 0), (4, 1), (1, 0)]
    assert dict(MIXES) == dict(enumerate(found))


def test_tiling_needs_a_platform():
    """No platform information, no block dim."""
    with pytest.raises(TilingError, match="no platform information"):
        mix_tiling(SimpleNamespace(platform=None))


@pytest.mark.parametrize(("key", "block_dim", "elements"), [(5, 1, 4), (0, 0, 4), (0, 1, 1 << 31)])
def test_a_launch_that_cannot_run_is_a_fault(key, block_dim, elements):
    """An unknown key, no blocks, or more elements than memory."""
    data = np.array([elements, 1, 0, 0], "<u4").tobytes()
    memory = SimpleNamespace(read=lambda _at, size: data[:size], u64=lambda _at: 0)
    launch = SimpleNamespace(
        memory=memory, arg=lambda _i: 0, tiling_key=key, block_dim=block_dim, ratio=0,
        chip=SimpleNamespace(memory_bytes=1 << 20),
    )  # fmt: skip
    with pytest.raises(DeviceFault) as caught:
        run_mix(launch)
    assert caught.value.id == "probe.launch"


GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "mix", "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [90]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "mix0", "type": "MixProbe", "inputs": ["x", "n"], "outputs": ["y"], "attrs": {"add_x": 1}}],
    "outputs": ["y"],
}  # fmt: skip


@pytest.mark.parametrize("chip", ["ascend910b3", "ascend910_9391", "ascend310p3", "ascend950pr_9599"])
def test_every_product_runs_it_and_agrees_with_the_reference(host, chip):
    """FFTS+ on A2 and A3, plain entries on 310P and 950: five keys, y = reference + x."""
    blob = compile_with_report(GRAPH, chip, CompileOptions(), host).blob
    device = Device(chip, {}, host)
    model = device.load(blob)
    x = np.arange(90, dtype=np.float32)
    for n in (5, 11, 12, 13, 9):
        result = model.execute({"x": x, "n": np.array([n], np.int32)})
        assert result.ok
        expected = OPERATOR.reference({"x": x, "n": np.array([n])}, {"add_x": 1}, device.chip)["y"]
        np.testing.assert_array_equal(result.outputs["y"], expected)
        assert result.outputs["y"][0] == 100 * (n % 5)
