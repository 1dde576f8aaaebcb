"""SDMA copies, copies by the task scheduler CPU, value writes through a pointer, commands, host functions."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.errors import DeviceFault, InputError, PluginError
from emu_core.trace import TaskDone

SETUP_NS, NOP_NS, ROUND_TRIP_NS = 1000, 100, 30_000
# 910B3: 20 cores of 57.6 bytes per nanosecond; every byte is read and written.
BYTES_PER_NS = 20 * 57.6 / 2


class _Copies:
    """A stream, and memory with 64 known bytes."""

    def __init__(self, bench):
        self.bench = bench
        self.device = bench.device
        self.stream = bench.stream()
        self.source = bench.room(4096)
        self.target = bench.room(4096)
        self.write(self.source, bytes(range(1, 65)))

    def write(self, address, data):
        self.device.memory.write(address, data)

    def read(self, address, size):
        return self.device.memory.read(address, size)

    def add(self, struct, **fields):
        self.bench.raw(self.stream, struct, **fields)
        self.bench.run(self.stream)

    @property
    def ids(self):
        return [f.id for f in self.bench.faults]


@pytest.fixture
def copies(queues):
    """A `_Copies` of a 910B3."""
    return _Copies(queues())


@pytest.mark.parametrize("opcode", [0x00, 0x20, 0x70])
def test_a_copy_moves_bytes_whatever_their_type(copies, opcode):
    """64 bytes arrive, nothing more, after setup and 64 bytes at half the memory rate, rounded up."""
    copies.add("MemcpyAsyncSqe", type=11, opcode=opcode, length=64, src_addr=copies.source, dst_addr=copies.target)
    assert copies.read(copies.target, 65) == bytes(range(1, 65)) + b"\0"
    assert copies.bench.done() == [(0, 0, "sdma_copy", SETUP_NS + 1)]


def test_a_large_copy_takes_its_time(copies):
    """576 bytes per nanosecond: 1 MiB needs 1820.4 ns."""
    assert BYTES_PER_NS == 576
    source, target = copies.bench.room(1 << 20), copies.bench.room(1 << 20)
    copies.write(source, bytes(1 << 20))
    copies.add("MemcpyAsyncSqe", type=11, length=1 << 20, src_addr=source, dst_addr=target)
    assert copies.bench.done() == [(0, 0, "sdma_copy", SETUP_NS + 1821)]


def test_source_and_target_may_overlap(copies):
    """The target gets what the source held before."""
    copies.add("MemcpyAsyncSqe", type=11, length=60, src_addr=copies.source, dst_addr=copies.source + 4)
    assert copies.read(copies.source, 64) == bytes([1, 2, 3, 4, *range(1, 61)])


def test_offsets_count_only_with_their_flag(copies):
    """Source offset 8, target offset 16."""
    fields = {"type": 11, "length": 4, "src_addr": copies.source, "dst_addr": copies.target, "src_offset_low": 8,
              "dst_offset_low": 16}  # fmt: skip
    copies.add("MemcpyAsyncSqe", **fields, d2d_offset_flag=1)
    assert copies.read(copies.target, 20) == bytes(16) + bytes([9, 10, 11, 12])
    copies.add("MemcpyAsyncSqe", **fields)
    assert copies.read(copies.target, 4) == bytes([1, 2, 3, 4])


def test_the_address_variant_reads_both_addresses_from_memory(copies):
    """With pre-P the entry names the places of the addresses."""
    cells = copies.bench.room(16)
    copies.write(cells, copies.source.to_bytes(8, "little") + copies.target.to_bytes(8, "little"))
    copies.add("MemcpyAsyncSqe", type=11, pre_p=1, length=4, src_addr=cells, dst_addr=cells + 8)
    assert copies.read(copies.target, 4) == bytes([1, 2, 3, 4])


def _descriptor(copies, opcode=0):
    at = copies.bench.room(32)
    head = copies.device.layout("SdmaDescHead").build({"opcode": opcode, "length": 12})
    copies.write(at, head + copies.source.to_bytes(8, "little") + copies.target.to_bytes(8, "little"))
    return at


def test_pointer_mode_takes_everything_from_the_descriptor(copies):
    """Head with opcode and length, then source and target."""
    at = _descriptor(copies)
    copies.add("MemcpyAsyncPtrSqe", type=11, ptr_mode=1, va=1, sdma_sqe_base_addr=at)
    assert copies.read(copies.target, 13) == bytes(range(1, 13)) + b"\0"


def _reduced(copies, opcode, dtype, target, source):
    """What `target` holds after the reduction of `source` into it."""
    first, second = np.array(target, dtype), np.array(source, dtype)
    copies.write(copies.target, first.tobytes())
    copies.write(copies.source, second.tobytes())
    copies.add(
        "MemcpyAsyncSqe", type=11, opcode=opcode, length=first.nbytes, src_addr=copies.source, dst_addr=copies.target
    )
    return np.frombuffer(copies.read(copies.target, first.nbytes), dtype).tolist()


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(0, "i1"), (1, "<i2"), (2, "<i4"), (3, "u1"), (4, "<u2"), (5, "<u4"), (6, "<f2"), (7, "<f4")],
)
def test_reductions_of_every_type(copies, kind, dtype):
    """3, 5, 7 with 4, 5, 6: sum, larger, smaller, equal."""
    for operation, expected in ((1, [7, 10, 13]), (2, [4, 5, 7]), (3, [3, 5, 6]), (4, [0, 1, 0])):
        assert _reduced(copies, kind << 4 | operation, dtype, [3, 5, 7], [4, 5, 6]) == expected
    assert copies.bench.faults == []


def test_integer_sums_wrap_and_signs_count(copies):
    """int8 127 + 1 is -128, uint16 65535 + 2 is 1; -1 is less than 1 as int32 and more as uint32."""
    assert _reduced(copies, 0x01, "i1", [127], [1]) == [-128]
    assert _reduced(copies, 0x41, "<u2", [65535], [2]) == [1]
    assert _reduced(copies, 0x22, "<i4", [-1], [1]) == [1]
    assert _reduced(copies, 0x52, "<u4", [0xFFFFFFFF], [1]) == [0xFFFFFFFF]


def test_float_reductions_round_once_and_keep_a_nan(copies):
    """float16 2048 + 1 is a tie that goes to 2048, 65504 + 65504 is infinite; max(NaN, 1) is NaN."""
    assert _reduced(copies, 0x61, "<f2", [2048, 65504], [1, 65504]) == [2048, float("inf")]
    assert np.isnan(_reduced(copies, 0x72, "<f4", [float("nan")], [1])).all()


def test_bfloat16_is_reduced_in_float32_and_rounded_to_nearest_even(copies):
    """1 + 2^-8 is a tie that stays 1, 1 + 3 x 2^-8 a tie that becomes 1 + 2^-6; a NaN stays one."""
    one, small, three, nan = 0x3F80, 0x3B80, 0x3C40, 0x7FC0
    assert _reduced(copies, 0x81, "<u2", [one, one, nan], [small, three, one]) == [one, 0x3F82, nan]
    assert _reduced(copies, 0x83, "<u2", [one, 0xBF80], [small, one]) == [small, 0xBF80]
    assert _reduced(copies, 0x84, "<u2", [one, one], [one, small]) == [one, 0]


@pytest.mark.parametrize(("opcode", "element"), [(0x05, "44"), (0x15, "4433"), (0x25, "44332211"), (0x75, "44332211")])
def test_a_memset_fills_its_source_address_with_its_target_address(copies, opcode, element):
    """Sixteen bytes of the low bits of the value, as wide as the type."""
    copies.add("MemcpyAsyncSqe", type=11, opcode=opcode, length=16, src_addr=copies.target, dst_addr=0x9911223344)
    assert copies.read(copies.target, 17).hex() == element * (32 // len(element)) + "00"


@pytest.mark.parametrize(("opcode", "name"), [(6, "prefetch"), (7, "write back"), (8, "invalidate"), (9, "flush")])
def test_cache_operations_complete_without_an_effect(copies, opcode, name):
    """Plain and in pointer mode; both are traced by name."""
    copies.add("MemcpyAsyncSqe", type=11, opcode=opcode, length=4, src_addr=copies.source, dst_addr=copies.target)
    copies.add("MemcpyAsyncPtrSqe", type=11, ptr_mode=1, va=1, sdma_sqe_base_addr=_descriptor(copies, opcode))
    details = [e.detail for e in copies.device.trace if isinstance(e, TaskDone)]
    assert [detail.startswith(f"cache {name} of ") for detail in details] == [True, True]
    assert copies.read(copies.target, 4) == bytes(4)


@pytest.mark.parametrize(
    ("opcode", "length", "id_", "words"),
    [
        (0x0B, 4, "sqe.unsupported", "operation 11 is undefined"),
        (0x91, 4, "sqe.unsupported", "data type 9 is undefined"),
        (0xF5, 4, "sqe.unsupported", "data type 15 is undefined"),
        (0x71, 6, "sqe.sdma", "no whole number of elements of 4 bytes"),
    ],
)
def test_opcodes_that_are_not_defined_are_sqe_errors(copies, opcode, length, id_, words):
    """Named in the refusal."""
    copies.add("MemcpyAsyncSqe", type=11, opcode=opcode, length=length, src_addr=copies.source, dst_addr=copies.target)
    (fault,) = copies.bench.faults
    assert (fault.id, fault.error_type, words in fault.what) == (id_, 8, True)


def test_reductions_and_fills_take_the_time_of_what_they_move(copies):
    """576 x 2 bytes per nanosecond: 1 MiB three times is 2730.7 ns, once 910.2 ns; an empty one the setup."""
    source, target = copies.bench.room(1 << 20), copies.bench.room(1 << 20)
    for room in (source, target):
        copies.write(room, bytes(1 << 20))
    for opcode, size in ((0x71, 1 << 20), (0x05, 1 << 20), (0x71, 0), (0x05, 0)):
        copies.add("MemcpyAsyncSqe", type=11, opcode=opcode, length=size, src_addr=source, dst_addr=target)
    ends = [end for *_, end in copies.bench.done()]
    assert np.diff([0, *ends]).tolist() == [SETUP_NS + 2731, SETUP_NS + 911, SETUP_NS, SETUP_NS]


def test_both_ends_of_a_copy_are_checked(copies):
    """Past an end, into a ring, and an empty copy that touches nothing."""
    copies.add("MemcpyAsyncSqe", type=11, length=4097, src_addr=copies.source, dst_addr=copies.target)
    ring = copies.stream.queue.address(100)
    copies.add("MemcpyAsyncSqe", type=11, length=8, src_addr=copies.source, dst_addr=ring)
    copies.add("MemcpyAsyncSqe", type=11, length=0, src_addr=0, dst_addr=0)
    assert copies.ids == ["memory.bounds", "memory.protected"]


def test_a_copy_of_bytes_that_nobody_wrote_is_a_hazard(copies):
    """Bytes 64 to 67 of the source are unwritten."""
    copies.add("MemcpyAsyncSqe", type=11, length=68, src_addr=copies.source, dst_addr=copies.target)
    assert [h.id for h in copies.device.hazards] == ["hazard.uninitialised-read"]


def test_the_task_scheduler_cpu_copies_where_there_is_no_sdma(copies):
    """Place holder 90, looked at with pre-P only."""
    fields = {"type": 3, "task_type": 90, "src": copies.source, "dest": copies.target, "size": 3}
    copies.add("PhMemcpyAsyncWithoutSdmaSqe", **fields)
    assert copies.read(copies.target, 3) == bytes(3)
    copies.add("PhMemcpyAsyncWithoutSdmaSqe", **fields, pre_p=1)
    assert copies.read(copies.target, 3) == bytes([1, 2, 3])


@pytest.mark.parametrize("awsize", [0, 2, 5])
def test_a_value_write_through_a_pointer(copies, awsize):
    """Address, size and data lie in the descriptor."""
    at = copies.bench.room(64)
    words = [int.from_bytes(bytes(range(4 * i + 1, 4 * i + 5)), "little") for i in range(8)]
    values = {"write_addr": copies.target, "awsize": awsize, "va": 1, "write_value_part": words}
    copies.write(at, copies.device.layout("WriteValuePtrDst").build(values))
    copies.add("WriteValuePtrSqe", type=8, ptr_mode=1, va=1, write_addr=at)
    size = 1 << awsize
    assert copies.read(copies.target, size + 1) == bytes(range(1, size + 1)) + b"\0"


@pytest.mark.parametrize(("values", "ids"), [({"va": 0}, []), ({"va": 1, "sub_type": 2}, []),
                                             ({"va": 1, "sub_type": 1}, ["sqe.unsupported"])])  # fmt: skip
def test_a_descriptor_of_another_use_writes_nothing(copies, values, ids):
    """Physical addresses and doorbells have no effect; an event reset has no descriptor."""
    at = copies.bench.room(64)
    copies.write(at, copies.device.layout("WriteValuePtrDst").build({**values, "write_addr": copies.target}))
    copies.add("WriteValuePtrSqe", type=8, ptr_mode=1, va=1, write_addr=at)
    assert copies.ids == ids


# ---- commands ----------------------------------------------------------------------------------------------------


def test_a_notify_reset_takes_a_record_back(queues):
    """Record, reset, wait: the wait does not pass; without pre-P the reset would be skipped."""
    for pre_p in (1, 0):
        bench = queues()
        stream = bench.stream()
        bench.add(stream, "notify_record", 5)
        bench.raw(stream, "PhCommonCmdSqe", type=3, task_type=104, pre_p=pre_p, cmd_type=1, notify_id=5)
        bench.add(stream, "notify_wait", 5)
        bench.run(stream)
        assert (len(bench.done()) == 3) is (pre_p == 0)


def test_a_stream_clear_empties_a_queue_that_waits(queues):
    """The waiting stream is idle and empty, and works again afterwards."""
    bench = queues()
    waits, clears = bench.stream(), bench.stream()
    bench.add(waits, "event_wait", 1)
    bench.add(waits, "nop")
    bench.raw(clears, "PhCommonCmdSqe", type=3, task_type=104, pre_p=1, cmd_type=0, target_stream_id=waits.id)
    bench.run(waits, clears)
    assert (waits.state.name, waits.queue.pending, waits.waiting) == ("IDLE", 0, None)
    bench.add(waits, "nop")
    bench.run(waits)
    assert bench.done()[-1][:3] == (0, 2, "nop")


@pytest.mark.parametrize("target", [0, 7])
def test_a_stream_clear_of_itself_or_of_nothing_is_a_fault(queues, target):
    """Illegal parameter."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "PhCommonCmdSqe", type=3, task_type=104, pre_p=1, cmd_type=0, target_stream_id=target)
    bench.run(stream)
    assert [(f.id, f.ts_code) for f in bench.faults] == [("stream.clear", 0x4)]


def test_an_unknown_common_command_passes(queues):
    """Command 9 is traced with the task type's name."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "PhCommonCmdSqe", type=3, task_type=104, pre_p=1, cmd_type=9)
    bench.run(stream)
    (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
    assert done.detail == "task type 104 (COMMON_CMD)"


# ---- host functions ----------------------------------------------------------------------------------------------


def _callback(bench, stream, *, block, address=0x5000, data=77):
    bench.raw(
        stream, "HostfuncCallbackSqe", type=1, kernel_type=127, topic_id=26, is_block=block, hostfunc_addr=address,
        fndata=data, wr_cqe=1,
    )  # fmt: skip


def test_a_blocking_host_function_holds_its_stream_for_a_round_trip(queues):
    """It is called with the user pointer, then the next entry runs."""
    bench = queues()
    calls = []
    bench.device.host_functions[0x5000] = lambda data: calls.append((bench.device.clock.now, data))
    stream = bench.stream()
    _callback(bench, stream, block=1)
    bench.add(stream, "nop")
    bench.run(stream)
    assert calls == [(ROUND_TRIP_NS, 77)]
    assert bench.done() == [(0, 0, "host_callback", ROUND_TRIP_NS), (0, 1, "nop", ROUND_TRIP_NS + NOP_NS)]
    assert bench.device.cq.written == 1


def test_a_host_function_that_does_not_block_runs_beside_its_stream(queues):
    """The stream goes on at once, the call comes a round trip later."""
    bench = queues()
    calls = []
    bench.device.host_functions[0x5000] = lambda data: calls.append((bench.device.clock.now, data))
    stream = bench.stream()
    _callback(bench, stream, block=0)
    bench.add(stream, "nop")
    bench.run(stream)
    assert calls == [(ROUND_TRIP_NS, 77)]
    assert bench.done()[-1] == (0, 1, "nop", 2 * NOP_NS)


def test_a_host_function_may_fail_its_task(queues):
    """A DeviceFault becomes the fault of a blocking entry, an error beside it; an unknown address is a fault."""
    bench = queues()

    def refuse(_data):
        raise DeviceFault("no", ts_code=0, id="mine.no")

    bench.device.host_functions[0x5000] = refuse
    first, second = bench.stream(), bench.stream()
    _callback(bench, first, block=1)
    _callback(bench, second, block=1, address=0x6000)
    bench.run(first, second)
    assert [(f.id, f.ts_code) for f in bench.faults] == [("callback.unknown", 0x2A), ("mine.no", 0x2A)]
    _callback(bench, bench.stream(), block=0)
    with pytest.raises(PluginError, match="raised DeviceFault"):
        bench.run(bench.device.streams[2])


@pytest.mark.parametrize("block", [0, 1])
def test_an_exception_of_a_host_function_is_its_authors_error(queues, block):
    """Errors of this product pass as they are."""
    for error, kind, id_ in (
        (KeyError("x"), PluginError, "plugin.host-function-raised"),
        (InputError("y", id="input.array"), InputError, "input.array"),
    ):
        bench = queues()

        def fail(_data, error=error):
            raise error

        bench.device.host_functions[0x5000] = fail
        stream = bench.stream()
        _callback(bench, stream, block=block)
        with pytest.raises(kind) as caught:
            bench.run(stream)
        assert caught.value.id == id_
