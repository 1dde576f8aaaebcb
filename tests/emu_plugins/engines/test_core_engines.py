"""AI Core and AI CPU engines on hand-written entries: what they read, how long they run, what they refuse."""

from __future__ import annotations

import pytest

from emu_core.errors import DeviceFault, PluginError
from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuKernelSpec, CoreType, Cost, KernelSpec
from emu_core.trace import TaskDone

LAUNCH_NS, AICPU_NS = 3000, 5000
# 910B3: 1.8 GHz; 8192 operations and 32 bytes per cycle and core.
FLOPS_PER_NS, BYTES_PER_NS = 1.8 * 8192, 1.8 * 32


class _Lab:
    """Kernels that note their launches, with a given cost, and one AI CPU function."""

    def __init__(self):
        self.launches = []
        self.cost = Cost()

    def _run(self, launch):
        self.launches.append((launch.tiling_key, launch.block_dim, launch.arg(0), launch.chip.name))

    def _cost(self, _launch):
        if isinstance(self.cost, Exception):
            raise self.cost
        return self.cost

    def _aicpu(self, launch):
        self.launches.append(launch.args)
        if launch.args == 13:
            raise DeviceFault("thirteen", ts_code=0, id="mine.thirteen")
        if launch.args == 14:
            raise KeyError("fourteen")
        if launch.args > 4096:
            launch.poke(launch.args, b"\5")

    def _time(self, launch):
        if launch.args == 15:
            raise KeyError("fifteen")
        return 700

    @hookimpl
    def sqemu_kernels(self):
        kinds = ((CoreType.AIC, "Cube"), (CoreType.AIV, "Vector"), (CoreType.MIX, "Mix"))
        made = [KernelSpec(name, core, (7, 9), self._run, self._cost) for core, name in kinds]
        return [*made, KernelSpec("Other", CoreType.AIV, (7,), self._run, self._cost, products=("310P",))]

    @hookimpl
    def sqemu_aicpu_kernels(self):
        return [AicpuKernelSpec("libmine_*.so", "Mine", self._aicpu, self._time)]


@pytest.fixture
def lab():
    """The kernels of these tests."""
    return _Lab()


@pytest.fixture
def bench(queues, lab):
    """A device that knows them."""
    return queues(plugins=[lab])


def _kernel(bench, name, key=7, block_dim=4, **changes):
    """A stream with one kernel entry; its argument word 0 is 0x77."""
    device = bench.device
    spec = device.host.kernels[name]
    pc = bench.room(64, f"kernel {name}")
    layout = device.runtime_layout("KernelDescriptor")
    magic = int.from_bytes(b"SQEMUKRN", "little")
    device.memory.write(
        pc, layout.build({"magic": magic, "kernel_key": spec.key, "core_type": spec.core_type, "tiling_key": key})
    )
    args = bench.room(8, "arguments")
    device.memory.write(args, (0x77).to_bytes(8, "little"))
    stream = bench.stream()
    values = {"core_type": spec.core_type, "block_dim": block_dim, "schem": 0, "pc": pc, "args": args, "stack": 0}
    bench.add(stream, "kernel", **{**values, **changes})
    return stream


def test_a_launch_sees_key_block_dim_and_arguments(bench, lab):
    """The key comes from the descriptor, the rest from the entry and memory."""
    bench.run(_kernel(bench, "Vector", key=9, block_dim=4))
    assert lab.launches == [(9, 4, 0x77, "ascend910b3")]
    assert bench.done() == [(0, 0, "kernel", LAUNCH_NS)]


@pytest.mark.parametrize(
    ("name", "block_dim", "cost", "ns"),
    [
        ("Cube", 1, Cost(flops=14_745_600), 1000),
        ("Cube", 20, Cost(flops=14_745_600), 50),
        ("Cube", 400, Cost(flops=14_745_600), 50),
        ("Vector", 40, Cost(flops=14_745_600), 25),
        ("Vector", 400, Cost(flops=14_745_600), 25),
        ("Mix", 40, Cost(flops=14_745_600), 50),
        ("Cube", 1, Cost(bytes=57_600), 1000),
        ("Cube", 1, Cost(flops=14_745_600, bytes=115_200), 2000),
        ("Cube", 1, Cost(bytes=1), 1),
    ],
)
def test_a_kernel_runs_as_long_as_the_slower_of_arithmetic_and_memory(bench, lab, name, block_dim, cost, ns):
    """Work over the rate of the cores in use, at most 20 cube or 40 vector cores, rounded up to a nanosecond."""
    assert FLOPS_PER_NS * 1000 == 14_745_600
    assert BYTES_PER_NS * 1000 == 57_600
    lab.cost = cost
    bench.run(_kernel(bench, name, block_dim=block_dim))
    assert bench.done() == [(0, 0, "kernel", LAUNCH_NS + ns)]


@pytest.mark.parametrize("cost", [ValueError("no cost"), None, Cost(flops=float("nan"))])
def test_a_cost_that_cannot_be_had_is_the_plugins_error(bench, lab, cost):
    """A broken time model does not look like a fault of the program."""
    lab.cost = cost
    with pytest.raises(PluginError, match="kernel Cube raised") as caught:
        bench.run(_kernel(bench, "Cube"))
    assert caught.value.id == "plugin.kernel-raised"


def test_a_kernel_for_other_products_is_a_fault(bench):
    """The descriptor points at a vector kernel that has no binary for A2."""
    bench.run(_kernel(bench, "Other"))
    assert [(f.id, f.ts_code, f.acl_code) for f in bench.faults] == [("kernel.product", 0x31, 507035)]
    assert "Other has no binary for A2" in bench.faults[0].what


def test_block_dim_0_at_the_launch_becomes_1(bench, lab):
    """The launch path turns 0 into 1, and narrows 32 bits to 16."""
    bench.run(_kernel(bench, "Vector", block_dim=0))
    bench.run(_kernel(bench, "Vector", block_dim=0x1_0005))
    assert [launch[1] for launch in lab.launches] == [1, 5]


@pytest.mark.parametrize(
    ("name", "ts_code", "acl"), [("Cube", 0x26, 507015), ("Mix", 0x26, 507015), ("Vector", 0x31, 507035)]
)
def test_a_kernel_without_arguments_in_memory_is_a_memory_fault(bench, name, ts_code, acl):
    """Its first argument word lies nowhere: AI Core exception, or vector core exception."""
    bench.run(_kernel(bench, name, args=64))
    assert [(f.id, f.ts_code, f.acl_code, f.kind) for f in bench.faults] == [("memory.bounds", ts_code, acl, "kernel")]


@pytest.mark.parametrize(("kind", "word"), [(0, "barrier"), (1, "invalidate"), (2, "prefetch"), (3, "write back")])
def test_cache_maintenance_on_the_ai_core_queue_has_no_effect(bench, kind, word):
    """An entry of type 0 with the cmo bit completes after the time of a NOP."""
    stream = bench.stream()
    bench.raw(stream, "CmoKernelSqe", type=0, cmo=1, cmo_type=kind)
    bench.run(stream)
    assert bench.done() == [(0, 0, "kernel", 100)]
    (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
    assert done.detail == f"cache {word}: no effect"


@pytest.mark.parametrize(
    ("core", "ffts"), [(CoreType.AIC, 0), (CoreType.AIV, 1), (CoreType.MIX, 5)], ids=["cube", "vector", "mix"]
)
def test_the_entry_tells_the_core_type(bench, core, ffts):
    """ffts_type is 0 for cube only, 1 for vector only, 5 for both."""
    stream = _kernel(bench, {0: "Cube", 1: "Vector", 2: "Mix"}[core])
    assert bench.device.layout("AicoreKernelSqe").parse(stream.queue.entry(0))["ffts_type"] == ffts


def _aicpu(bench, library, function, args):
    memory = bench.device.memory

    def text(value):
        at = bench.room(64, "text")
        memory.write(at, value.encode() + b"\0")
        return at

    stream = bench.stream()
    bench.add(stream, "aicpu", library=text(library), function=text(function), args=args, custom=False)
    return stream


def test_an_ai_cpu_function_runs_after_launch_and_its_own_time(bench, lab):
    """5000 ns launch and 700 ns of the function; the library may have a directory."""
    bench.run(_aicpu(bench, "opp/lib/libmine_2.so", "Mine", 12))
    assert lab.launches == [12]
    assert bench.done() == [(0, 0, "aicpu", AICPU_NS + 700)]


def test_what_an_ai_cpu_function_pokes_is_journalled_by_its_label(bench):
    """A protected cell has its name; other memory is called memory."""
    at = bench.room(16 + 4096)
    bench.device.memory.protect(at, 8, "block dim of op")
    bench.run(_aicpu(bench, "libmine_2.so", "Mine", at))
    bench.run(_aicpu(bench, "libmine_2.so", "Mine", at + 8))
    first, second = bench.device.journal
    assert (first.struct, first.after, first.writer.engine) == ("block dim of op", 5, "ai_cpu")
    assert second.struct == "memory"


def test_a_fault_of_an_ai_cpu_function_gets_the_engines_code(bench):
    """Without a code of its own it is an AI CPU exception."""
    bench.run(_aicpu(bench, "libmine_2.so", "Mine", 13))
    assert [(f.id, f.ts_code, f.acl_code) for f in bench.faults] == [("mine.thirteen", 0x2A, 507018)]


@pytest.mark.parametrize("args", [14, 15])
def test_an_exception_of_an_ai_cpu_function_is_the_plugins_error(bench, args):
    """Both when it runs and when it says how long."""
    with pytest.raises(PluginError, match="AI CPU function Mine raised KeyError") as caught:
        bench.run(_aicpu(bench, "libmine_2.so", "Mine", args))
    assert caught.value.id == "plugin.aicpu-raised"


def test_a_library_name_that_is_no_text_is_a_fault(bench):
    """The pointers of the entry are checked like any other access."""
    stream = bench.stream()
    bench.add(stream, "aicpu", library=0, function=0, args=0, custom=True)
    bench.run(stream)
    assert [(f.id, f.ts_code) for f in bench.faults] == [("memory.bounds", 0x2A)]
