"""What a device hands out, the writes it journals, and how reports read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.device import Device, _as_int
from emu_core.engines import Task
from emu_core.errors import DeviceFault, EmulatorBug, InputError, LimitError, OptionError
from emu_core.journal import HOST, Writer
from emu_core.kernels import CoreType
from emu_core.reports import Blocked, Deadlock, Fault, Hazard
from emu_core.trace import CellWritten, HazardFound, Patched, Trace
from emu_plugins.runtime.sqes import Place
from formats import FormatError

WRITER = Writer(2, 9, "task_update")


def _kernel(queues, stream, **changes):
    values = {
        "core_type": CoreType.AIV,
        "block_dim": 0xFFFFFFFF,
        "schem": 0,
        "pc": 0x12C0_4000_0000,
        "args": 16,
        "stack": 0,
    }
    return queues.add(stream, "kernel", **{**values, **changes})


@pytest.mark.parametrize(
    ("make", "count", "code"),
    [
        (lambda d: d.create_stream("s", bound=True), 4, "207008"),
        (Device.create_event, 3, "207007"),
        (Device.create_notify, 2, "207009"),
    ],
)
def test_ids_run_out_with_the_vendors_code(queues, make, count, code):
    """The chip has 4 streams, 3 events and 2 notifies."""
    device = queues().device
    for _ in range(count):
        make(device)
    with pytest.raises(LimitError, match=f"has {count} ") as caught:
        make(device)
    assert caught.value.id == code
    assert caught.value.remedy


def test_model_ids_end_at_2048(queues):
    """The 2049th model gets 207010."""
    device = queues().device
    for _ in range(2048):
        device.take_id("model", 2048, "207010")
    with pytest.raises(LimitError, match="2048 model ids") as caught:
        device.add_model(lambda _id: None)
    assert caught.value.id == "207010"


@pytest.mark.parametrize(("value", "depth"), [("seed", 5), ("platform", 10), ("3", 3), ("0", 0)])
def test_prefetch_depth_follows_its_policy(queues, value, depth):
    """310P: 5 by the seed, 10 by the platform file, or a number."""
    bench = queues(prefetch_depth=value)
    assert bench.device.prefetch_depth == depth
    assert bench.stream().window.depth == depth


def test_a_device_is_made_by_name_or_from_a_chip(host, chip):
    """Unknown chips and policies are told apart."""
    assert Device("ASCEND310P3", None, host).chip.name == "ascend310p3"
    assert Device(chip, None, host).chip is chip
    with pytest.raises(InputError):
        Device("ascend1", None, host)
    with pytest.raises(OptionError):
        Device(chip, {"nothing": "1"}, host)


def test_a_patch_journals_and_traces_each_field(queues):
    """Two fields of one entry give two records with place, bits, both values and the update's key and row."""
    bench = queues()
    stream = bench.stream()
    slot = _kernel(bench, stream)
    struct = bench.device.layout("AicoreKernelSqe")
    bench.device.clock.advance(500)
    bench.device.patch_sqe(
        stream.id, slot, {"block_dim": 12, "pc_addr_low": 0x80}, struct, WRITER, tiling_key=3, table_row=1
    )
    found = list(bench.device.journal)
    assert [(e.field, e.before, e.after, e.bit_offset, e.bit_width) for e in found] == [
        ("block_dim", 0xFFFF, 12, 16, 16),
        ("pc_addr_low", 0x4000_0000, 0x80, 256, 32),
    ]
    entry = found[0]
    assert (entry.time, entry.writer, entry.target, entry.stream, entry.slot, entry.task) == (
        500,
        WRITER,
        "sqe",
        0,
        0,
        0,
    )
    assert (entry.address, entry.tiling_key, entry.table_row) == (stream.queue.address(0), 3, 1)
    assert struct.parse(stream.queue.entry(slot))["block_dim"] == 12
    patched = bench.events(Patched)
    assert [(e.field, e.after, e.writer_task, e.tiling_key) for e in patched] == [
        ("block_dim", 12, 9, 3),
        ("pc_addr_low", 0x80, 9, 3),
    ]


def test_replacing_an_entry_journals_only_what_differs(queues):
    """The type changes from 0 to 3, block dim becomes the task type; unchanged fields are not mentioned."""
    bench = queues()
    stream = bench.stream()
    slot = _kernel(bench, stream, block_dim=4, pc=0, args=0)
    nop = bench.build.nop(Place(stream.id, 0))
    bench.device.replace_sqe(stream.id, slot, nop)
    assert stream.queue.entry(slot) == nop
    assert {e.field: (e.before, e.after) for e in bench.device.journal} == {
        "type": (0, 3),
        "block_dim": (4, 103),
        "ffts_type": (1, 0),
        "wrr_ratio": (1, 0),
        "ns": (1, 0),
    }
    assert {e.writer for e in bench.device.journal} == {HOST}
    assert len(bench.events(Patched)) == 5


@pytest.mark.parametrize("size", [0, 63, 65, 128])
def test_an_entry_is_replaced_by_exactly_64_bytes(queues, size):
    """Anything else is refused before a byte changes, so a neighbour is never overwritten."""
    bench = queues()
    stream = bench.stream()
    slot = bench.add(stream, "nop")
    before = stream.queue.contents()
    with pytest.raises(FormatError):
        bench.device.replace_sqe(stream.id, slot, bytes(size))
    assert stream.queue.contents() == before
    assert len(bench.device.journal) == 0


def test_writes_of_whole_arrays_are_journalled_as_one_number(queues):
    """A payload of twelve words is a value of 384 bits, the first word lowest."""
    bench = queues()
    stream = bench.stream()
    slot = bench.add(stream, "nop")
    raw = bytearray(stream.queue.entry(slot))
    raw[20] = 5
    bench.device.replace_sqe(stream.id, slot, bytes(raw))
    (entry,) = bench.device.journal
    assert (entry.field, entry.bit_width, entry.before, entry.after) == ("payload", 384, 0, 5 << 32)


def test_a_field_value_that_is_no_number_is_our_bug():
    """Layouts give integers or lists of them."""
    with pytest.raises(EmulatorBug):
        _as_int("text", 8)


def test_cells_are_journalled_with_old_and_new_value(queues):
    """A tiling key of 64 bits, little endian."""
    bench = queues()
    memory = bench.device.memory
    at = memory.allocate(128, label="cell").address
    memory.protect(at, 8, "tiling key of op")
    bench.device.write_cell(at, (0x123).to_bytes(8, "little"), "tiling key of op", WRITER)
    bench.device.write_cell(at, (7).to_bytes(8, "little"), "tiling key of op", WRITER)
    first, second = bench.device.journal
    assert (first.target, first.before, first.after, first.bit_width, first.address) == ("cell", 0, 0x123, 64, at)
    assert (second.before, second.after) == (0x123, 7)
    assert [(e.before, e.after, e.what) for e in bench.events(CellWritten)] == [
        (0, 0x123, "tiling key of op"),
        (0x123, 7, "tiling key of op"),
    ]


def test_a_quiet_trace_keeps_nothing_but_the_journal_stays(host, chip):
    """Switching events off changes what is recorded, not what happens."""
    device = Device(chip, None, host, trace=Trace(()))
    stream = device.create_stream("s", bound=False)
    slot = stream.queue.append(bytes(64))
    at = device.memory.allocate(8, label="cell").address
    device.write_cell(at, b"\1", "cell", HOST)
    device.patch_sqe(stream.id, slot, {"block_dim": 1}, device.layout("AicoreKernelSqe"))
    device.replace_sqe(stream.id, slot, bytes(64))
    task = Task(device, stream, 0, 0, bytes(64), 1)
    device.hazard(task, "x.y", "odd", "look")
    assert list(device.trace) == []
    assert len(device.journal) == 3
    assert len(device.hazards) == 1


def test_hazards_are_kept_and_traced(queues):
    """The numbers behind the sentence are there for programs."""
    bench = queues()
    stream = bench.stream()
    task = Task(bench.device, stream, 3, 4, bytes(64), 1)
    bench.device.hazard(task, "x.y", "odd", "look", depth=8)
    (hazard,) = bench.device.hazards
    assert (hazard.stream, hazard.slot, hazard.task, hazard.run, dict(hazard.detail)) == (0, 3, 4, 1, {"depth": 8})
    assert bench.events(HazardFound)[0].id == "x.y"
    assert hazard.text() == "hazard x.y: stream 0 task 4 (kernel): odd at 0 ns; look"


FAULT = Fault("kernel.x", "boom", 0x26, 507015, 1, 900, 1, 0, 7, 7, "kernel", "ai_core")


def test_a_fault_reads_cause_first_then_consequences():
    """Codes with names, then what stopped, then what to do."""
    full = replace(FAULT, remedy="look", consequences=("stream 1 waits",))
    assert full.text().splitlines() == [
        "fault kernel.x: stream 0 task 7 (kernel): boom [TS 0x26 AI Core exception, ACL 507015] at 900 ns",
        "  then: stream 1 waits",
        "  do: look",
    ]
    assert FAULT.text().splitlines() == full.text().splitlines()[:1]


def test_a_deadlock_lists_every_blocked_stream():
    """Who waits, for what, since when, and who should set it."""
    blocked = Blocked(0, "main", 1, 1, "event_wait", "event 0", 15000, "no entry of any stream sets it")
    report = Deadlock(20000, 1, (blocked,))
    assert report.text().splitlines() == [
        "deadlock at 20000 ns: no task can run and 1 stream(s) wait",
        "  stream 0 (main) task 1 (event_wait) waits for event 0 since 15000 ns; no entry of any stream sets it",
    ]
    assert Hazard("a", "b", "c", 0, 1, 0, 0, 0).detail == {}


def test_unwritten_reads_follow_the_policy(queues):
    """A plain write has no reads, so the task memory is asked directly: hazard once per address, fault, or nothing."""
    for policy, hazards in (("hazard", 1), ("ignore", 0)):
        bench = queues(uninitialised_read=policy)
        at = bench.device.memory.allocate(8, label="t").address
        task = bench.device.scheduler.task(bench.stream(), 0, bytes(64))
        task.memory.read(at, 8)
        task.memory.read(at, 8)
        assert len(bench.device.hazards) == hazards
    bench = queues(uninitialised_read="fault")
    at = bench.device.memory.allocate(8, label="t").address
    with pytest.raises(DeviceFault) as caught:
        bench.device.scheduler.task(bench.stream(), 0, bytes(64)).memory.read(at, 8)
    assert caught.value.id == "hazard.uninitialised-read"


@pytest.mark.parametrize(
    "change",
    [
        lambda device: device.patch_sqe(7, 0, {"block_dim": 1}, device.layout("AicoreKernelSqe")),
        lambda device: device.replace_sqe(7, 0, bytes(64)),
    ],
)
def test_a_change_of_an_entry_of_no_stream_is_refused(change):
    """A stream id that the device does not have is an error that lists those it has."""
    device = Device("ascend310p3")
    device.create_stream("only", bound=False)
    with pytest.raises(InputError, match="no stream 7") as caught:
        change(device)
    assert (caught.value.id, caught.value.remedy) == ("stream.unknown", "its streams are 0")
