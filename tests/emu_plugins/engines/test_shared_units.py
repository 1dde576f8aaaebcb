"""Kernels of several streams share cores, AI CPU functions share threads, and credit ends what takes too long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuKernelSpec, CoreType, Cost, KernelSpec
from emu_core.trace import TaskDone
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.engines import credits as budget

LAUNCH_NS, AICPU_NS = 3000, 5000
UNIT_NS = 4_294_967_296
BLOCK_NS = 1000
CUBE_BYTES = 57_600  # 910B3: 1.8 GHz x 32 bytes are 57.6 bytes per nanosecond and core


class _Kernels:
    """A kernel whose blocks take 1000 ns on one core, one whose blocks wait for each other, and an AI CPU function."""

    @staticmethod
    def _cost(launch):
        return Cost(bytes=CUBE_BYTES * launch.block_dim)

    @hookimpl
    def sqemu_kernels(self):
        return [
            KernelSpec("Block", CoreType.AIC, (0,), lambda _: None, self._cost),
            KernelSpec("VectorBlock", CoreType.AIV, (0,), lambda _: None, self._cost),
            KernelSpec("MixBlock", CoreType.MIX, (0,), lambda _: None, self._cost),
            KernelSpec("Together", CoreType.AIC, (0,), lambda _: None, self._cost, sync_all=True),
        ]

    @hookimpl
    def sqemu_aicpu_kernels(self):
        return [AicpuKernelSpec("libmine.so", "Wait", lambda _: None, lambda launch: launch.args)]


@pytest.fixture
def units(queues):
    """A device with 4 cube and 8 vector cores and 2 AI CPU threads, whose streams hold kernels."""

    def make(**policies):
        chip = replace(ASCEND910B3, core_num_aic=4, core_num_aiv=8, ai_cpus=2)
        return _Units(queues(plugins=[_Kernels()], chip=chip, **policies))

    return make


class _Units:
    def __init__(self, bench):
        self.bench = bench
        self.device = bench.device

    def kernel(self, name, blocks, *, schem=0, stream=None, credit=254):
        spec = self.device.host.kernels[name]
        pc = self.bench.room(64)
        values = {
            "magic": int.from_bytes(b"SQEMUKRN", "little"), "kernel_key": spec.key, "core_type": spec.core_type,
        }  # fmt: skip
        self.device.memory.write(pc, self.device.runtime_layout("KernelDescriptor").build(values))
        stream = stream or self.bench.stream()
        slot = self.bench.add(
            stream, "kernel", core_type=spec.core_type, block_dim=blocks, schem=schem, pc=pc, args=0, stack=0
        )
        self.device.patch_sqe(stream.id, slot, {"kernel_credit": credit}, self.device.layout("AicoreKernelSqe"))
        return stream

    def function(self, ns, *, credit=8):
        def text(value):
            at = self.bench.room(64)
            self.device.memory.write(at, value.encode() + b"\0")
            return at

        stream = self.bench.stream()
        self.bench.add(stream, "aicpu", library=text("libmine.so"), function=text("Wait"), args=ns, custom=False)
        layout = self.device.layout("AicpuKernelSqe")
        self.device.patch_sqe(stream.id, 0, {"kernel_credit": credit}, layout)
        return stream

    def run(self, *streams):
        self.bench.run(*streams)
        return {stream: end for stream, _, _, end in self.bench.done()}


def test_blocks_run_in_waves_over_the_cores(units):
    """Ten blocks on four cores take three times 1000 ns, and the trace says so."""
    lab = units()
    assert lab.run(lab.kernel("Block", 10)) == {0: LAUNCH_NS + 3 * BLOCK_NS}
    (done,) = [e for e in lab.device.trace if isinstance(e, TaskDone)]
    assert done.detail == "Block key 0 block dim 10, in 3 waves"


def test_kernels_of_two_streams_compete_for_the_cores(units):
    """Six and four blocks on four cores: the second starts with two blocks when the first leaves two cores."""
    lab = units()
    first, second = lab.kernel("Block", 6), lab.kernel("Block", 4)
    assert lab.run(first, second) == {0: LAUNCH_NS + 2 * BLOCK_NS, 1: LAUNCH_NS + 3 * BLOCK_NS}
    assert [e.detail for e in lab.device.trace if isinstance(e, TaskDone)][1] == (
        "Block key 0 block dim 4, in 2 waves, after 1000 ns without a core"
    )


def test_cube_and_vector_kernels_do_not_disturb_each_other(units):
    """Four cube blocks and eight vector blocks run side by side."""
    lab = units()
    ends = lab.run(lab.kernel("Block", 4), lab.kernel("VectorBlock", 8))
    assert ends == {0: LAUNCH_NS + BLOCK_NS, 1: LAUNCH_NS + BLOCK_NS}


def test_a_mix_kernel_takes_both_kinds_of_cores(units):
    """Two mix blocks hold two cube and four vector cores: eight vector blocks need two waves."""
    lab = units()
    ends = lab.run(lab.kernel("MixBlock", 2), lab.kernel("VectorBlock", 8))
    assert ends == {0: LAUNCH_NS + BLOCK_NS, 1: LAUNCH_NS + 2 * BLOCK_NS}


def test_a_batch_waits_until_all_its_cores_are_idle(units):
    """One busy core of four holds a batch of four back, and a normal kernel passes it."""
    lab = units()
    ends = lab.run(lab.kernel("Block", 1), lab.kernel("Block", 4, schem=1), lab.kernel("Block", 3))
    assert ends == {0: LAUNCH_NS + BLOCK_NS, 2: LAUNCH_NS + BLOCK_NS, 1: LAUNCH_NS + 2 * BLOCK_NS}


def test_s61_a_batch_of_more_blocks_than_cores_never_starts_and_times_out(units):
    """Five blocks on four cores: AI Core timeout after 254 credits, with the reason; other streams go on."""
    lab = units()
    ends = lab.run(lab.kernel("Block", 5, schem=1), lab.kernel("Block", 4))
    assert ends == {1: LAUNCH_NS + BLOCK_NS}
    (fault,) = lab.bench.faults
    assert (fault.id, fault.ts_code, fault.acl_code, fault.error_type) == ("task.timeout", 0x25, 507014, 4)
    assert fault.time == 254 * UNIT_NS
    assert "5 of its 5 blocks have no cube core; 4 of 4 are idle" in fault.what
    assert "1090.92 s" in fault.what


def test_s61_without_a_time_limit_the_batch_is_a_deadlock(units):
    """Credit 255 never ends: the report names the kernel and what it lacks."""
    lab = units()
    stream = lab.kernel("Block", 5, schem=1, credit=255)
    assert lab.run(stream) == {}
    text = lab.device.scheduler.deadlock([stream]).text()
    assert "stream 0 (s) task 0 (kernel) waits for cores since 0 ns; 5 of its 5 blocks have no cube core" in text


def test_s61_policy_error_refuses_the_batch_at_once(units):
    """schem_batch_overflow=error is an SQE error."""
    lab = units(schem_batch_overflow="error")
    lab.run(lab.kernel("Block", 5, schem=1), lab.kernel("Block", 4, schem=1))
    (fault,) = lab.bench.faults
    assert (fault.id, fault.stream, fault.error_type, fault.ts_code) == ("kernel.batch-overflow", 0, 8, 0x106)


def test_s62_blocks_that_wait_for_each_other_lock_up_when_streams_take_turns(units):
    """Two SyncAll kernels of three blocks get two of four cores each; both are named with who holds the cores."""
    lab = units(block_order="turns")
    streams = [lab.kernel("Block", 4), *(lab.kernel("Together", 3, credit=255) for _ in range(2))]
    assert lab.run(*streams) == {0: LAUNCH_NS + BLOCK_NS}
    lines = lab.device.scheduler.deadlock(streams).text().splitlines()
    assert lines[0] == "deadlock at 4000 ns: no task can run and 2 stream(s) wait"
    held = "1 of its 3 blocks have no cube core; 0 of 4 are idle, held by stream 1 2, stream 2 2"
    assert [line.partition("; ")[2] for line in lines[1:3]] == [held, held]
    assert lines[3].endswith(f"lacks cores: {held}; so does stream 2")


def test_s62_more_blocks_than_cores_that_wait_for_each_other_time_out(units):
    """Four of five blocks hold all cores until the credit is used up; then a kernel behind them runs."""
    lab = units()
    ends = lab.run(lab.kernel("Together", 5, credit=1), lab.kernel("Block", 1))
    (fault,) = lab.bench.faults
    assert (fault.id, fault.stream, fault.time) == ("task.timeout", 0, UNIT_NS)
    assert "1 of its 5 blocks have no cube core; 0 of 4 are idle, held by stream 0 4" in fault.what
    assert ends == {1: UNIT_NS + BLOCK_NS}


def test_s62_with_free_cores_a_kernel_that_waits_for_itself_ends(units):
    """Four blocks on four cores are no problem."""
    lab = units()
    assert lab.run(lab.kernel("Together", 4)) == {0: LAUNCH_NS + BLOCK_NS}


def test_two_tiling_tasks_run_side_by_side_and_a_third_waits_for_a_thread(units):
    """Two threads: two functions of 700 ns end together, the third one 700 ns later."""
    lab = units()
    ends = lab.run(*(lab.function(700) for _ in range(3)))
    assert ends == {0: AICPU_NS + 700, 1: AICPU_NS + 700, 2: AICPU_NS + 1400}


def test_an_ai_cpu_function_over_its_credit_is_an_ai_cpu_timeout(units):
    """Eight credits of one microsecond are less than 5 us launch and 4 us of work; ten are enough."""
    lab = units(kernel_credit_us="1")
    lab.run(lab.function(4000, credit=8), lab.function(4000, credit=10))
    (fault,) = lab.bench.faults
    assert (fault.id, fault.stream, fault.time) == ("task.timeout", 0, 8000)
    assert (fault.ts_code, fault.acl_code, fault.error_type) == (0x28, 507017, 4)


@pytest.mark.parametrize(("name", "ts_code", "acl"), [("Block", 0x25, 507014), ("VectorBlock", 0x30, 507034)])
def test_a_kernel_over_its_credit_is_a_timeout_of_its_core(units, name, ts_code, acl):
    """Three waves of 1000 ns behind a launch of 3000 ns do not fit into 5 microseconds."""
    lab = units(kernel_credit_us="5")
    lab.run(lab.kernel(name, 24, credit=1))
    (fault,) = lab.bench.faults
    assert (fault.ts_code, fault.acl_code, fault.time) == (ts_code, acl, 5000)
    assert lab.device.cores.free == {"cube core": 4, "vector core": 8}


@pytest.mark.parametrize("credit", [0, 255])
def test_credits_0_and_255_never_end(units, credit):
    """No limit is in force although the unit is one microsecond."""
    lab = units(kernel_credit_us="1")
    assert lab.run(lab.kernel("Block", 4, credit=credit)) == {0: LAUNCH_NS + BLOCK_NS}


@pytest.mark.parametrize(("chip", "unit"), [(ASCEND910B3, UNIT_NS), (ASCEND310P3, 2_147_483_648)], ids=["A2", "310P"])
def test_the_unit_of_credit_is_the_chips(queues, chip, unit):
    """2^32 ns on a 910B, 2147483.648 us on a 310P."""
    assert budget.unit_ns(queues(chip=chip).device) == unit


def test_a_kernel_of_the_310p_times_out_after_545_seconds(queues):
    """254 units of 2.147 s."""
    lab = _Units(queues(plugins=[_Kernels()], chip=ASCEND310P3))
    lab.run(lab.kernel("Block", 9, schem=1))
    assert lab.bench.faults[0].time == 254 * 2_147_483_648


@pytest.mark.parametrize(
    ("timeout_us", "micro", "credit"),
    [
        (None, False, 254),
        (0, False, 254),
        (0, True, 255),
        ((1 << 64) - 1, False, 255),
        (1, False, 1),
        (4_294_967, False, 1),
        (4_294_968, False, 2),
        (10_000_000_000, False, 254),
    ],
)
def test_s57_credits_that_the_host_writes(timeout_us, micro, credit):
    """0 s is the largest budget, 0 us and 2^64 - 1 never end, else the time in units, rounded up."""
    assert budget.credit_for(timeout_us, UNIT_NS, never_if_zero=micro) == credit


def test_s58_credit_never_of_another_type_is_sent_as_an_invalid_entry(queues):
    """The driver turns it into type 63, and the scheduler answers with an SQE error (bit 3)."""
    bench = queues()
    layout = bench.device.layout("PhSqe")
    bad = budget.as_submitted(layout.build({"type": 3, "task_type": 103, "kernel_credit": 255}))
    assert bad[0] == 63
    for kind in (0, 1, 5, 7):
        good = bytes([kind]) + bytes(13) + b"\xff" + bytes(49)
        assert budget.as_submitted(good) == good
    stream = bench.stream()
    stream.queue.append(bad)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.error_type, fault.ts_code) == ("sqe.unknown-type", 8, 0x106)


@pytest.mark.parametrize(("struct", "sqe_type"), [("EventWaitSqe", 5), ("NotifyWaitSqe", 7)])
def test_a_wait_ends_after_the_seconds_of_its_own_field(queues, struct, sqe_type):
    """Three seconds in the entry hold without any policy, on a stream of no model."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, struct, type=sqe_type, timeout=3, kernel_credit=255)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.ts_code, fault.acl_code, fault.time) == ("wait.timeout", 0x105, 107020, 3_000_000_000)
    assert "waited 3 s" in fault.what


@pytest.mark.parametrize(("field", "policy", "seconds"), [(3, "5", 3), (5, "3", 3), (0, "4", 4)])
def test_in_a_model_the_smaller_of_field_and_policy_ends_a_wait(queues, field, policy, seconds):
    """0 in the field leaves the policy alone."""
    bench = queues(event_wait_timeout_s=policy)
    stream = bench.stream()
    stream.model_id = 0
    bench.raw(stream, "EventWaitSqe", type=5, timeout=field)
    bench.run(stream)
    assert bench.faults[0].time == seconds * 1_000_000_000


def test_taking_a_stream_off_the_device_frees_its_cores(units):
    """A kernel that never ends is halted; the one behind it on another stream runs."""
    lab = units()
    stuck, other = lab.kernel("Together", 5, credit=255), lab.kernel("Block", 4, credit=255)
    assert lab.run(stuck, other) == {}
    lab.device.scheduler.halt(stuck)
    lab.device.scheduler.run_until_idle()
    assert [stream for stream, *_ in lab.bench.done()] == [other.id]
    assert (stuck.state.name, stuck.queue.pending) == ("IDLE", 0)
