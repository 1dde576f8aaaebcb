"""What a chip refuses to load, and how real chips behave where their platform files differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.errors import InputError, LimitError, PluginError, Refusal
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_plugins.runtime import Runtime
from formats.blob import BlobEvent, BlobStream, BlobTask, TaskType

GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "probe",
    "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "probe0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}  # fmt: skip
INPUTS = {"x": np.zeros(40, "f4"), "n": np.array([3], "i4")}


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture(scope="module")
def without_engines():
    """The installed plugins without those that execute entries."""
    return PluginHost(without=["engines"])


@pytest.fixture
def program(host):
    """The probe compiled for a chip."""

    def make(chip, **policies):
        given = {name: str(value) for name, value in policies.items()}
        return compile_graph(GRAPH, chip, CompileOptions(offline=False, policies=given), host)

    return make


@pytest.mark.parametrize("family", ["v201", "arch9201"])
def test_families_like_v200_are_not_taken_for_it(program, host, family):
    """A program for such a chip compiles; loading it, and a runtime on it, say that nobody executes its entries."""
    chip = replace(host.chip("ascend950pr_9599"), name="like-950", family=family)
    blob, device = program(chip), Device(chip, {}, host)
    for use in (device.load, lambda _: Runtime(device)):
        with pytest.raises(InputError, match=family) as caught:
            use(blob)
        assert (caught.value.id, caught.value.refusal) == ("chip.no-engines", Refusal.UNSUPPORTED_HERE)


@pytest.mark.parametrize(("family", "lacks"), [("arch5162", "CqeError"), ("other", "SqeHeader, CqeError, CommonSqe")])
def test_families_without_completions_make_no_device(program, host, family, lacks):
    """Their programs compile; a device says which layouts are missing."""
    chip = replace(host.chip("ascend950pr_9599"), name="like-950", family=family)
    assert program(chip).chip == "like-950"
    with pytest.raises(PluginError, match=f"has no layout {lacks};") as caught:
        Device(chip, {}, host)
    assert caught.value.id == "chip.no-layouts"


UNSAFE = ["ascend910b4-1", "ascend910_9362", "ascend910_9363"]


@pytest.mark.parametrize("chip", UNSAFE)
def test_no_prefetch_key_means_no_nops(program, host, chip):
    """S23: `nop_count=platform` gives zero NOPs on these chips, and the kernel runs as it was when it was fetched."""
    blob = program(chip, nop_count="platform", block_dim_placeholder="compiled")
    assert [t.type for t in blob.tasks].count(TaskType.NOP) == 0
    result = Device(chip, {}, host).load(blob).execute(INPUTS)
    assert "hazard.stale-prefetch" in [h.id for h in result.hazards]
    assert not result.faults


@pytest.mark.parametrize("chip", UNSAFE)
def test_with_the_placeholder_it_is_a_fault(program, host, chip):
    """S23: the fetched kernel still has the placeholder block dim."""
    result = Device(chip, {}, host).load(program(chip, nop_count="platform")).execute(INPUTS)
    assert result.faults[0].id == "kernel.placeholder-block-dim"


@pytest.mark.parametrize("chip", UNSAFE)
def test_with_the_seeds_count_they_are_fresh(program, host, chip):
    """8 NOPs put the kernel at distance 10, beyond the depth 8."""
    blob = program(chip)
    assert [t.type for t in blob.tasks].count(TaskType.NOP) == 8
    result = Device(chip, {}, host).load(blob).execute(INPUTS)
    assert not list(result.hazards)
    assert not list(result.faults)


@pytest.mark.parametrize("chip", ["ascend910b2c", "ascend910_9391", "ascend310p1", "ascend310p7"])
def test_other_v100_chips_run(program, host, chip):
    """Each of them compiles, loads and runs the probe without a hazard."""
    result = Device(chip, {}, host).load(program(chip)).execute(INPUTS)
    assert not list(result.hazards)
    assert not list(result.faults)


@pytest.mark.parametrize("chip", ["ascend950pr_9599", "ascend310p3"])
def test_without_engines_nothing_is_loaded(program, without_engines, chip):
    """The refusal names the family whose engines are missing; compiling works."""
    blob = program(chip)
    family = {"ascend950pr_9599": "v200", "ascend310p3": "v100"}[chip]
    with pytest.raises(InputError, match=f"engines for {family} entries") as caught:
        Device(chip, {}, without_engines).load(blob)
    assert (caught.value.id, caught.value.refusal) == ("chip.no-engines", Refusal.UNSUPPORTED_HERE)


def _padded(blob, count):
    """`blob` with so many NOPs more on its main stream."""
    return replace(blob, tasks=(*[BlobTask(TaskType.NOP, 0, node="filler")] * count, *blob.tasks))


def test_the_scale_chip_runs_what_a_real_chip_refuses(program, host):
    """5000 NOPs in one stream: too much for a 910B3, which says who used them; `edu-large` runs them."""
    with pytest.raises(LimitError, match=r"holds 2013 tasks, the program takes 5012: filler 5000, probe0 11") as caught:
        Device("ascend910b3", {}, host).load(_padded(program("ascend910b3"), 5000))
    assert caught.value.id == "EE1019"
    result = Device("edu-large", {}, host).load(_padded(program("edu-large"), 5000)).execute(INPUTS)
    assert not list(result.faults)


def test_streams_of_the_scale_chip(program, host):
    """2000 streams: 1984 are the limit of a 910B3."""
    wide = [BlobStream(10 + i, f"s{i}", head=False) for i in range(2000)]
    blob = program("ascend910b3")
    with pytest.raises(LimitError) as caught:
        Device("ascend910b3", {}, host).load(replace(blob, streams=(*blob.streams, *wide)))
    assert caught.value.id == "207008"
    assert "has 1984 streams, the program takes 2003: main_0, tiling_stream_0, s0, s1 and 1999 more" in str(
        caught.value
    )
    blob = program("edu-large")
    Device("edu-large", {}, host).load(replace(blob, streams=(*blob.streams, *wide)))


@pytest.mark.parametrize(
    ("changes", "id_", "text"),
    [
        ({"max_streams": 2}, "207008", "has 2 streams, the program takes 3: main_0, tiling_stream_0, caller"),
        ({"max_events": 0}, "207007", "has 0 events, the program takes 1: probe0"),
        ({"max_notifies": 0}, "207009", "has 0 notifies, the program takes 1: end of graph"),
        ({"persistent_tasks": 14}, "limit.persistent-tasks", "takes 15: main_0 12, tiling_stream_0 3"),
        ({"usable_tasks": 11}, "EE1019", "stream 0 is full: a model-bound ring holds 11 tasks, the program takes 12"),
        ({"memory_bytes": 397_000}, "limit.memory", "397636: submission rings 393216, workspaces of probe0 4096,"),
    ],
)
def test_each_limit_says_who_used_it_up(program, host, changes, id_, text):
    """Ids are the vendor's codes where there are any, and the largest users stand in the message."""
    chip = replace(host.chip("ascend910b3"), **changes)
    with pytest.raises(LimitError) as caught:
        Device(chip, {}, host).load(program("ascend910b3"))
    assert caught.value.id == id_
    assert text in str(caught.value)


def test_events_name_their_operators(program, host):
    """Events beyond the limit are counted by the operator that records them."""
    blob = program("ascend910b3")
    chip = replace(host.chip("ascend910b3"), max_events=2)
    with pytest.raises(LimitError, match="takes 3: no operator 2, probe0 1"):
        Device(chip, {}, host).load(replace(blob, events=(*blob.events, BlobEvent(8, "a"), BlobEvent(9, "b"))))
