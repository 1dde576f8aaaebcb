"""Streams, launches, memory and time limits of the host API (S29, S44, S57, S61)."""

from __future__ import annotations

import json

import pytest

from emu_core.errors import LimitError
from emu_plugins.runtime import CODES, LIMIT_CODES, LaunchConfig, Runtime, RuntimeApiError
from emu_plugins.runtime.host import base

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
NEVER = 2**64 - 1


def refused(call, *arguments, **named):
    """Code and message class of a refused call."""
    with pytest.raises(RuntimeApiError) as caught:
        call(*arguments, **named)
    return caught.value.code, caught.value.message


def entries(stream):
    """(SQE type, task type of place holders) of a ring."""
    layout = stream.runtime.device.layout("PhSqe")
    found = []
    for slot in range(stream.core.queue.tail):
        entry = layout.parse(stream.core.queue.entry(slot))
        found.append((entry["type"], entry["task_type"] if entry["type"] == 3 else 0))
    return found


@pytest.mark.parametrize(("chip", "nops"), [(B3, 8), ("ascend910b4-1", 8), (P3, 10), (DAVID, 8)])
def test_s29_nops_in_front_of_a_kernel_that_may_be_patched(bound, chip, nops):
    """The runtime inserts its 8 NOPs, on 310P 10, whatever the platform file says; the kernel comes behind them."""
    bench = bound(chip)
    task = bench.launch(config=LaunchConfig(block_task_prefetch=1))
    found = entries(bench.work)
    assert task == nops == bench.runtime.prefetch_nops
    assert found[:-1] == [(3, 103)] * nops
    assert found[-1][0] != 3
    assert bench.launch() == nops + 1


def test_s29_values_and_cpu_kernels(bound):
    """Value 2 is EE1003 with the values that are expected; an AI CPU kernel gets no NOPs."""
    bench = bound(B3)
    with pytest.raises(RuntimeApiError, match=r"block_task_prefetch is 2, expected \[0, 1\]") as caught:
        bench.launch(config=LaunchConfig(block_task_prefetch=2))
    assert (caught.value.code, caught.value.message) == (107000, "EE1003")
    assert bench.runtime.launch_aicpu("library.so", "function", bench.work, bench.args) == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"config": LaunchConfig(schem=2)},
        {"config": LaunchConfig(timeout_us=-1)},
        {"config": LaunchConfig(timeout_us=2**64)},
        {"block_dim": -1},
        {"block_dim": 2**32},
    ],
)
def test_launches_that_are_out_of_range(bound, bad):
    """Each is 107000 with EE1003, and nothing is queued."""
    bench = bound(B3)
    with pytest.raises(RuntimeApiError) as caught:
        bench.launch(**bad)
    assert (caught.value.code, caught.value.message) == (107000, "EE1003")
    assert bench.work.core.queue.tail == 0


def test_null_parameters_of_launches(bound):
    """Function, stream, library and name: 107000 with EE1004."""
    bench = bound(B3)
    runtime, function = bench.runtime, bench.runtime.get_function(bench.program)
    assert refused(runtime.launch_kernel, None, 1, bench.work, bench.args) == (107000, "EE1004")
    assert refused(runtime.launch_kernel, function, 1, None, bench.args) == (107000, "EE1004")
    for library, name, stream in ((None, "f", bench.work), ("l", None, bench.work), ("l", "f", None)):
        assert refused(runtime.launch_aicpu, library, name, stream, bench.args) == (107000, "EE1004")
    assert refused(runtime.launch_nop, None) == (107000, "EE1004")


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "a\n"])
def test_names_of_ai_cpu_functions_are_texts(bound, name):
    """What cannot be a zero-terminated text, or cannot be shown, is 107000 with EE1003."""
    bench = bound(B3)
    assert refused(bench.runtime.launch_aicpu, name, "f", bench.work, bench.args) == (107000, "EE1003")
    assert refused(bench.runtime.launch_aicpu, "l", name, bench.work, bench.args) == (107000, "EE1003")


@pytest.mark.parametrize(
    ("configure", "timeout_us", "credit"),
    [
        (None, None, 254),
        (("set_op_execute_timeout", 0), None, 254),
        (("set_op_execute_timeout_us", 0), None, 255),
        (None, NEVER, 255),
        (("set_op_execute_timeout", 60), None, 14),
        (("set_op_execute_timeout_us", 4_294_968), None, 2),
        (("set_op_execute_timeout", 60), 0, 254),
        (("set_op_execute_timeout", 60), NEVER, 255),
    ],
)
def test_s57_kernel_credits(bound, configure, timeout_us, credit):
    """0 seconds is the largest credit, 0 microseconds and 2^64-1 are never; 60 s are 14 units."""
    bench = bound(B3)
    if configure:
        getattr(bench.runtime, configure[0])(configure[1])
    bench.launch(config=LaunchConfig(timeout_us=timeout_us))
    assert bench.work.core.queue.entry(0)[14] == credit


def test_seconds_and_microseconds_exclude_each_other(api):
    """The second interface after the first one is EE1017; a negative limit EE1003."""
    runtime = api(B3)
    runtime.set_op_execute_timeout(5)
    runtime.set_op_execute_timeout(6)
    assert refused(runtime.set_op_execute_timeout_us, 5) == (107000, "EE1017")
    assert refused(runtime.set_op_execute_timeout, -1) == (107000, "EE1003")


def test_ai_cpu_kernels_keep_their_credit_unless_told(bound):
    """Without a limit the builder's 8 stays; with one, it is counted in the same units."""
    bench = bound(B3)
    bench.runtime.launch_aicpu("l", "f", bench.work, bench.args)
    bench.runtime.launch_aicpu("l", "f", bench.work, bench.args, timeout_us=5_000_000)
    assert [bench.work.core.queue.entry(slot)[14] for slot in (0, 1)] == [8, 2]


def test_s61_a_batch_above_the_core_count_is_warned_about(bound):
    """48 blocks at once on 40 vector cores: the launch succeeds, the warning names both numbers."""
    bench = bound(B3)
    bench.launch(block_dim=48, config=LaunchConfig(schem=1))
    bench.launch(block_dim=40, config=LaunchConfig(schem=1))
    bench.launch(block_dim=48)
    assert bench.runtime.warnings == ["launch_kernel: batch of 48 blocks of Shows, ascend910b3 has 40 cores"]


def test_s44_a_bound_stream_is_full_at_once(bound):
    """The 2014th task of a model stream is 507002 with EE1019; nothing was executed to make room."""
    bench = bound(B3)
    for _ in range(2013):
        bench.runtime.launch_nop(bench.work)
    assert refused(bench.runtime.launch_nop, bench.work) == (507002, "EE1019")
    assert bench.device.clock.now == 0


def test_a_launch_that_does_not_fit_leaves_no_nops(bound, chip_like):
    """Eight NOPs fit, the kernel behind them does not: nothing is queued."""
    bench = bound(chip_like(B3, usable_tasks=8))
    with pytest.raises(RuntimeApiError) as caught:
        bench.launch(config=LaunchConfig(block_task_prefetch=1))
    assert (caught.value.code, bench.work.core.queue.tail) == (507002, 0)


def test_a_plain_stream_is_run_empty_when_it_is_full(api, chip_like):
    """40 tasks go through a ring of 16; their ids go on counting."""
    runtime = api(chip_like(B3, sq_depth=16, usable_tasks=15))
    stream = runtime.create_stream()
    assert [runtime.launch_nop(stream) for _ in range(40)] == list(range(40))
    runtime.synchronize_stream(stream)
    assert stream.core.queue.pending == 0


def test_a_plain_stream_that_is_stuck_stays_full(api, chip_like):
    """A wait that nobody ends: the ring fills, then 507002."""
    runtime = api(chip_like(B3, sq_depth=16, usable_tasks=15))
    stream = runtime.create_stream()
    runtime.wait_notify(runtime.create_notify(), stream)
    for _ in range(14):
        runtime.launch_nop(stream)
    assert refused(runtime.launch_nop, stream) == (507002, "EE1019")


def test_streams_run_out_and_come_back(api, chip_like):
    """The stream after the last one is 207008 with EE1023; a destroyed one leaves id and memory for the next."""
    runtime = api(chip_like(B3, max_streams=3))
    made = [runtime.create_stream() for _ in range(3)]
    used = runtime.device.memory.used
    assert refused(runtime.create_stream) == (207008, "EE1023")
    runtime.launch_nop(made[1])
    runtime.destroy_stream(made[1])
    again = runtime.create_stream()
    assert (again.id, runtime.device.memory.used) == (1, used)
    assert refused(runtime.launch_nop, made[1])[0] == 107017
    runtime.launch_nop(again)
    runtime.synchronize_stream(again)


def test_no_memory_for_a_ring_takes_no_id(api, monkeypatch):
    """207001 with EE1023, and the id is there for the next stream."""
    runtime = api(B3)
    memory = runtime.device.memory
    with monkeypatch.context() as patch:
        patch.setattr(memory, "capacity", memory.used)
        with pytest.raises(LimitError) as caught:
            runtime.create_stream()
    assert (caught.value.code, caught.value.message, caught.value.id) == (207001, "EE1023", "limit.memory")
    assert runtime.create_stream().id == 0


def test_destroying_what_must_not_be(bound):
    """Null is 107000, a bound stream 107005, a destroyed one 107017."""
    bench = bound(B3)
    assert refused(bench.runtime.destroy_stream, None) == (107000, "EE1004")
    assert refused(bench.runtime.destroy_stream, bench.work)[0] == 107005
    bench.runtime.destroy_stream(bench.caller)
    assert refused(bench.runtime.destroy_stream, bench.caller)[0] == 107017


def test_priorities_and_limits_are_checked(api):
    """A priority above 7 and a time limit below -1 are 107000 with EE1003."""
    runtime = api(B3)
    assert refused(runtime.create_stream, priority=8) == (107000, "EE1003")
    assert runtime.create_stream(priority=7).core.priority == 7
    stream = runtime.create_stream()
    assert refused(runtime.synchronize_stream, stream, -2) == (107000, "EE1003")
    assert refused(runtime.synchronize_event, runtime.create_event(), -2) == (107000, "EE1003")


def test_the_last_task_of_the_thread(api):
    """It is that of the last submission on any stream; before any, the call is out of order."""
    runtime = api(B3)
    assert refused(runtime.last_task_id) == (107000, "EE1018")
    one, two = runtime.create_stream(), runtime.create_stream()
    for _ in range(3):
        runtime.launch_nop(one)
    assert runtime.last_task_id() == 2
    runtime.launch_nop(two)
    assert runtime.last_task_id() == 0


def test_synchronising_ends_when_the_stream_is_done(api):
    """Work of other streams may be left; a limit that is too short says so and nothing is lost."""
    runtime = api(B3)
    one, two = runtime.create_stream(), runtime.create_stream()
    for _ in range(20_000 // 100):
        runtime.launch_nop(two)
    runtime.launch_nop(one)
    runtime.synchronize_stream(one)
    assert two.core.queue.pending > 0
    runtime.synchronize_stream(two, 1)
    assert two.core.queue.pending == 0


def test_memory_of_the_host(api):
    """Bytes come back as written; TS memory lies in its own space; bad addresses and sizes are 107000."""
    runtime = api(B3)
    one, two = runtime.malloc(64), runtime.malloc(64, ts=True)
    assert (one >> 32, two >> 32) == (0x12C0, 0x1240)
    runtime.memcpy_to_device(one, bytes(range(64)))
    runtime.memcpy_on_device(two, one, 64)
    assert runtime.memcpy_to_host(two + 8, 4) == bytes([8, 9, 10, 11])
    assert refused(runtime.malloc, 0) == (107000, "EE1003")
    assert refused(runtime.memcpy_to_device, one, bytes(65)) == (107000, "EE1001")
    assert refused(runtime.memcpy_to_host, 0x10, 4) == (107000, "EE1001")
    ring = runtime.create_stream().core.queue.ring.address
    assert refused(runtime.memcpy_to_device, ring, bytes(64)) == (107000, "EE1001")
    runtime.free(one)
    assert refused(runtime.free, one) == (107000, "EE1003")
    assert refused(runtime.memcpy_to_host, one, 4) == (107000, "EE1001")
    assert refused(runtime.arguments, [2**64]) == (107000, "EE1003")
    assert runtime.memcpy_to_host(runtime.arguments([1, 2]), 16) == bytes([1, *[0] * 7, 2, *[0] * 7])


def test_memory_runs_out(api):
    """More than the chip has is 207001 with EE1023."""
    assert refused(api(B3).malloc, 2**40) == (207001, "EE1023")


def test_runtimes_of_one_device_have_their_own_streams(api):
    """Two runtimes share ids and memory of the device; handles of one work with the other, other devices' do not."""
    first = api(B3)
    second = Runtime(first.device)
    assert (first.create_stream().id, second.create_stream().id) == (0, 1)
    assert first.stack() != second.stack()
    second.launch_nop(first.create_stream())
    assert refused(api(B3).launch_nop, first.create_stream())[0] == 107003


def test_an_error_as_json(api):
    """Code and message class stand beside what every error has."""
    with pytest.raises(RuntimeApiError) as caught:
        api(B3).launch_nop(None)
    found = json.loads(json.dumps(caught.value.as_json()))
    assert (found["code"], found["message"], found["error"]) == (107000, "EE1004", "EE1004")
    assert caught.value.text() == "launch_nop: parameter stream is a null pointer; give stream"


def test_the_code_tables():
    """Every code has its row, every limit a code that has one, and every row a source."""
    assert all(code == row.value for code, row in CODES.items())
    assert all(limit.code in CODES for limit in LIMIT_CODES.values())
    assert all(row.source and row.meaning for row in CODES.values())


def test_no_call_hides_another():
    """The parts of `Runtime` share no name, so that none overrides another by accident."""
    seen: dict[str, str] = {}
    for part in Runtime.__mro__[:-1]:
        for name in vars(part):
            if not name.startswith("__"):
                assert seen.setdefault(name, part.__name__) == part.__name__
    assert base.RuntimeCore in Runtime.__mro__
