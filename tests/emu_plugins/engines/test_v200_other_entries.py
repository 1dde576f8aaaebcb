"""AI CPU functions, place holders, value writes, copies, callbacks and conditions of a 950, entry by entry."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuKernelSpec
from emu_core.trace import TaskDone
from emu_plugins.engines.condition_programs import function_call, memory_wait
from formats import BUILTIN
from formats.cond_isa import assemble

CHIP = "ascend950pr_950z"
NOP_NS, WRITE_NS, AICPU_NS, ROUND_TRIP_NS = 100, 100, 5000, 30_000


class _Functions:
    """Plugin: one AI CPU function, which notes the address of its arguments."""

    def __init__(self):
        self.calls = []

    @hookimpl
    def sqemu_aicpu_kernels(self):
        """It takes 700 ns."""
        return [AicpuKernelSpec("libmine.so", "Mine", lambda launch: self.calls.append(launch.args), lambda _: 700)]


@pytest.fixture
def bench(queues):
    """A 950."""
    return queues(chip=CHIP)


def _text(bench, text):
    at = bench.room(len(text) + 1, f"text {text}")
    bench.device.memory.write(at, text.encode() + b"\0")
    return at


def _filled(bench, data):
    at = bench.room(len(data))
    bench.device.memory.write(at, data)
    return at


def test_an_ai_cpu_function_is_called_by_an_entry_of_type_5(queues):
    """Found by library and function; the launch and its own time add up."""
    plugin = _Functions()
    bench = queues(plugins=[plugin], chip=CHIP)
    stream = bench.stream()
    names = {"library": _text(bench, "libmine.so"), "function": _text(bench, "Mine")}
    slot = bench.add(stream, "aicpu", args=0x1234, custom=True, **names)
    bench.run(stream)
    assert stream.queue.entry(slot)[0] & 0x3F == 5
    assert plugin.calls == [0x1234]
    assert bench.done() == [(0, 0, "aicpu", AICPU_NS + 700)]


def test_an_ai_cpu_entry_stores_7_for_a_budget_of_8_units(queues):
    """The function takes 5700 ns; 8 units of a microsecond are enough, and credit 3 gives 4."""
    plugin = _Functions()
    bench = queues(plugins=[plugin], chip=CHIP, kernel_credit_us="1")
    names = {"library": _text(bench, "libmine.so"), "function": _text(bench, "Mine"), "args": 0, "custom": True}
    good, late = bench.stream(), bench.stream()
    bench.add(good, "aicpu", **names)
    bench.device.patch_sqe(
        late.id, bench.add(late, "aicpu", **names), {"kernel_credit": 3}, bench.device.layout("AicpuKernelSqe")
    )
    bench.run(good, late)
    assert good.queue.entry(0)[14] == 7
    assert [(f.stream, f.id, f.ts_code, f.time) for f in bench.faults] == [(late.id, "task.timeout", 0x28, 4000)]


def test_place_holders_pass_and_are_traced_by_the_task_type_of_word_3(bench):
    """NOP, a task type without an engine, and 104, which v200 does not have; all with pre-P set."""
    stream = bench.stream()
    for task_type in (103, 57, 104):
        bench.raw(stream, "PhSqe", type=3, task_type=task_type, pre_p=1)
    bench.run(stream)
    found = [(e.kind, e.detail.partition(":")[0]) for e in bench.device.trace if isinstance(e, TaskDone)]
    assert found == [
        ("nop", ""), ("place_holder", "task type 57 (TASK_SQE_UPDATE)"), ("place_holder", "task type 104 (COMMON_CMD)"),
    ]  # fmt: skip
    assert bench.done()[-1][3] == 3 * NOP_NS


def test_the_scheduler_cpu_copies_by_place_holder_90(bench):
    """64 bytes from one address to another."""
    stream, source, target = bench.stream(), _filled(bench, bytes(range(64))), bench.room(64)
    bench.raw(stream, "PhMemcpyAsyncWithoutSdmaSqe", type=3, task_type=90, pre_p=1, src=source, dest=target, size=64)
    bench.run(stream)
    assert bench.device.memory.read(target, 64) == bytes(range(64))


def test_a_host_callback_is_place_holder_72(bench):
    """A blocking one takes a host round trip and gets the user pointer."""
    calls, stream = [], bench.stream()
    bench.device.host_functions[0x77000] = calls.append
    bench.raw(
        stream, "PhHostfuncCallbackSqe", type=3, task_type=72, pre_p=1, is_block=1, hostfunc_addr=0x77000, fndata=5
    )
    bench.run(stream)
    assert calls == [5]
    assert bench.done() == [(0, 0, "host_callback", ROUND_TRIP_NS)]


def test_a_value_write_stores_its_bytes(bench):
    """Eight bytes of the data words, at a virtual address."""
    stream, at = bench.stream(), bench.room(64)
    data = [0x04030201, 0x08070605, *[0] * 6]
    bench.raw(stream, "WriteValueSqe", type=8, va=1, awsize=3, write_addr=at, write_value_part=data)
    bench.run(stream)
    assert bench.device.memory.read(at, 9) == bytes(range(1, 9)) + b"\0"
    assert bench.done() == [(0, 0, "write_value", WRITE_NS)]


def test_a_value_write_through_a_pointer_reads_its_descriptor(bench):
    """Pointer mode is bit 12 of the header; the descriptor has address, size and data of a value write."""
    stream, at = bench.stream(), bench.room(64)
    descriptor = BUILTIN.get("v100", "WriteValuePtrDst").build(
        {"write_addr": at, "awsize": 2, "va": 1, "write_value_part": [0xAABBCCDD, *[0] * 7]}
    )
    where = _filled(bench, descriptor)
    bench.raw(stream, "WriteValuePtrSqe", type=8, ptr_mode=1, va=1, write_value_new_sqe_addr=where)
    bench.run(stream)
    assert bench.device.memory.read(at, 4) == bytes.fromhex("ddccbbaa")


def test_events_are_not_reset_by_value_writes_on_v200(bench):
    """Sub type 1 has no event id there; it is refused."""
    stream = bench.stream()
    bench.raw(stream, "WriteValueSqe", type=8, sub_type=1, va=1, write_addr=bench.room(64))
    bench.run(stream)
    assert [(f.id, f.error_type) for f in bench.faults] == [("sqe.unsupported", 8)]


def test_a_linear_copy_may_have_offsets(bench):
    """16 bytes from source + 8 to target + 4, only with the flag."""
    stream, source, target = bench.stream(), _filled(bench, bytes(range(64))), bench.room(64)
    both = {"type": 11, "src_addr": source, "dst_addr": target, "src_offset": 8, "dst_offset": 4, "length_move": 16}
    bench.raw(stream, "MemcpyLinearSqe", d2d_offset_flag=1, **both)
    bench.run(stream)
    assert bench.device.memory.read(target, 20) == bytes(4) + bytes(range(8, 24))
    bench.raw(stream, "MemcpyLinearSqe", **both)
    bench.run(stream)
    assert bench.device.memory.read(target, 16) == bytes(range(16))


def test_a_copy_through_a_pointer_reads_source_target_and_length_there(bench):
    """The descriptor has 64 bytes: opcode in word 4, then the two addresses and the length."""
    stream, source, target = bench.stream(), _filled(bench, bytes(range(64))), bench.room(64)
    rest = BUILTIN.get("v200", "MemcpyAddrInfo").build({"src": source, "dst": target, "len": 32})
    bench.raw(stream, "MemcpyPtrSqe", type=11, ptr_mode=1, va=1, sdma_sqe_base_addr=_filled(bench, rest))
    bench.run(stream)
    assert bench.device.memory.read(target, 33) == bytes(range(32)) + b"\0"


def test_a_memset_has_its_target_in_the_source_field(bench):
    """Opcode 5 of bytes (data type 3): eight bytes of 0x5A."""
    stream, at = bench.stream(), bench.room(64)
    bench.raw(stream, "MemcpyLinearSqe", type=11, opcode=0x35, src_addr=at, dst_addr=0x5A, length_move=8)
    bench.run(stream)
    assert bench.device.memory.read(at, 9) == b"\x5a" * 8 + b"\0"


def _strided(bench, **fields):
    """A strided entry from 64 known bytes to 128 empty ones; returns the target."""
    source, target = _filled(bench, bytes(range(64))), bench.room(128)
    stream = bench.stream()
    places = {"src_addr": source, "dst_addr": target}
    bench.raw(stream, "MemcpyStrideSqe", type=11, stride=1, **{**places, **fields})
    bench.run(stream)
    return target


def test_a_strided_copy_gathers_and_scatters_its_runs(bench):
    """Three runs of four bytes, 16 apart at the source and 8 at the target; bytes between stay."""
    target = _strided(bench, length_move=4, stride_num=3, src_stride_length=16, dst_stride_length=8)
    expected = b"".join(bytes(range(16 * i, 16 * i + 4)) + bytes(4) for i in range(3))
    assert bench.device.memory.read(target, 24) == expected
    assert bench.faults == []


def test_a_strided_memset_keeps_its_value(bench):
    """Two runs of two bytes, 4 apart, of the value that stands where a copy has its target."""
    stream, at = bench.stream(), bench.room(64)
    places = {"src_addr": at, "dst_addr": 0x5A, "src_stride_length": 4, "dst_stride_length": 7}
    bench.raw(stream, "MemcpyStrideSqe", type=11, stride=1, opcode=0x35, length_move=2, stride_num=2, **places)
    bench.run(stream)
    assert bench.device.memory.read(at, 8) == b"\x5a\x5a\0\0\x5a\x5a\0\0"


@pytest.mark.parametrize("fields", [{"stride_num": 0, "length_move": 4}, {"stride_num": 9, "length_move": 0}])
def test_a_strided_copy_of_nothing_touches_nothing(bench, fields):
    """No runs, or empty ones."""
    target = _strided(bench, **fields, src_stride_length=1 << 31)
    assert bench.device.memory.read(target, 128) == bytes(128)
    assert bench.faults == []


@pytest.mark.parametrize(
    ("fields", "id_"),
    [
        ({"stride_num": 65_537, "length_move": 1}, "sqe.sdma"),
        ({"stride_num": 0xFFFFFFFF, "length_move": 0xFFFFFFFF}, "sqe.sdma"),
        ({"stride_num": 100, "length_move": 4, "dst_stride_length": 4096}, "memory.bounds"),
    ],
)
def test_a_strided_copy_of_too_much_is_a_fault(bench, fields, id_):
    """More runs than are done here, and runs past the end of the target."""
    _strided(bench, **fields)
    assert [f.id for f in bench.faults] == [id_]


@pytest.mark.parametrize(("opcode", "ids"), [(0x00, ["sqe.unsupported"]), (0x06, []), (0x09, [])])
def test_entries_of_two_dimensions_have_no_target_so_only_cache_operations_are_known(bench, opcode, ids):
    """A copy is refused by its addressing mode, prefetch and flush complete."""
    stream = bench.stream()
    bench.raw(stream, "MemcpyTwoDimSqe", type=11, stride=2, opcode=opcode, length_inner=8)
    bench.run(stream)
    assert [f.id for f in bench.faults] == ids
    assert all("addressing mode 2" in f.what for f in bench.faults)


def test_a_memory_wait_runs_its_program_until_a_value_write(bench):
    """The program spins on a word; a value write of another stream wakes it."""
    device, waits, setter = bench.device, bench.stream(), bench.stream()
    at = _filled(bench, bytes(8))
    program = assemble(memory_wait(at, 7, 1), "v200")
    where = device.memory.allocate(len(program), label="program", align=256).address
    device.memory.write(where, program)
    header = {"task_id": waits.queue.next_task_id()}
    waits.queue.append(function_call(device.layout("FunctionCallSqe"), header, 9, where, len(program) // 4))
    data = [7, *[0] * 7]
    for _ in range(20):
        bench.add(setter, "nop")
    bench.raw(setter, "WriteValueSqe", type=8, va=1, awsize=3, write_addr=at, write_value_part=data)
    bench.run(waits, setter)
    assert bench.faults == []
    assert [(s, k) for s, _, k, _ in bench.done() if k != "nop"] == [(setter.id, "write_value"), (0, "memory_wait")]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 63), st.binary(min_size=63, max_size=63), st.none() | st.integers(0, 127))
def test_any_64_bytes_end_as_a_task_a_wait_or_a_fault(host, sqe_type, rest, small):
    """No entry, however wrong, stops the machine with anything but a fault of its own."""
    entry = bytearray(bytes([sqe_type]) + rest)
    if small is not None:
        entry[12], entry[13], entry[15] = small, 0, entry[15] & 0x1F
    device = Device(CHIP, {}, host)
    stream = device.create_stream("s", bound=False)
    stream.queue.append(bytes(entry))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    ended = [e for e in device.trace if isinstance(e, TaskDone)]
    assert ended or device.scheduler.faults or device.scheduler.blocked([stream])
