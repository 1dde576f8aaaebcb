"""Host programs under policy `ordering=report`: what synchronising orders, and what the host touches too early."""

from __future__ import annotations

import struct

import pytest

from emu_core.device import Device
from emu_plugins.runtime import LaunchConfig, Runtime

ELEMENTS = 8


@pytest.fixture
def program(host):
    """A model by hand: one kernel whose key and block dim a task update patches; made by `program()`."""
    return lambda: _Program(host)


class _Program:
    def __init__(self, host):
        self.runtime = runtime = Runtime(Device("ascend910b3", {"ordering": "report"}, host))
        self.y, workspace, tiling = (runtime.malloc(4096, label=name) for name in ("y", "workspace", "tiling"))
        self.key, self.block_dim = runtime.malloc(8, ts=True, label="key"), runtime.malloc(4, ts=True, label="dim")
        runtime.memcpy_to_device(tiling, struct.pack("<IIiHH", ELEMENTS, 1, 0, 1, 0))
        binary = runtime.register_program("TilingProbe")
        self.model = model = runtime.create_model("by hand")
        work, side, self.caller = (runtime.create_stream(name=name) for name in ("work", "side", "caller"))
        runtime.bind_stream(model, work)
        runtime.bind_stream(model, side)
        patched = runtime.create_event()
        runtime.wait_event(work, patched)
        runtime.reset_event(patched, work)
        args = runtime.arguments([0, 0, self.y, workspace, tiling])
        runtime.launch_kernel(runtime.get_function(binary), 1, work, args, LaunchConfig(block_task_prefetch=1))
        kernel = runtime.last_task_id()
        runtime.end_graph(model, work)
        cells = {
            "tiling_key_addr": self.key,
            "block_dim_addr": self.block_dim,
            "hdl": binary,
            "ffts_plus_task_info": None,
        }
        runtime.model_task_update(work, kernel, side, cells)
        runtime.record_event(patched, side)
        runtime.load_complete(model)

    def cells(self, key, blocks):
        """Write what the update reads."""
        self.runtime.memcpy_to_device(self.key, key.to_bytes(8, "little"))
        self.runtime.memcpy_to_device(self.block_dim, blocks.to_bytes(4, "little"))

    def execute(self):
        """Start the model; nothing runs before a synchronisation."""
        self.runtime.execute_model(self.model, self.caller)

    def ids(self):
        """What was reported."""
        return [(h.id, h.detail["other_stream"], h.stream) for h in self.runtime.hazards()]


def test_a_program_that_synchronises_before_it_reads_and_writes_is_ordered(program):
    """Two executions of the documented program: cells are written and outputs read while nothing runs."""
    made = program()
    for key, blocks in ((2, 4), (1, 2)):
        made.cells(key, blocks)
        made.execute()
        made.runtime.synchronize_stream(made.caller)
        made.runtime.memcpy_to_host(made.y, 4 * ELEMENTS)
    assert made.ids() == []


def test_cells_that_are_written_before_the_execution_is_over_are_reported(program):
    """The host writes the next key after a limited wait, when the update may not have read the first one."""
    made = program()
    made.cells(2, 4)
    made.execute()
    made.runtime.synchronize_stream(made.caller)
    assert made.ids() == []
    made.execute()
    made.runtime.drive(lambda: made.runtime.device.clock.now % 2 == 1, 60_000)
    made.cells(1, 2)
    made.runtime.synchronize_stream(made.caller)
    assert {found[0] for found in made.ids()} == {"hazard.update-inputs"}
    (first, *_) = made.runtime.hazards()
    assert first.remedy.startswith("synchronize stream ")
    assert "the host" in f"{first.what} {first.stream}" or first.stream == -1


def test_an_output_that_is_read_without_synchronising_is_reported(program):
    """The kernel wrote y, and the host looks at it without having waited for the caller."""
    made = program()
    made.cells(2, 4)
    made.execute()
    made.runtime.drive(lambda: False, 200_000)
    made.runtime.memcpy_to_host(made.y, 4 * ELEMENTS)
    assert ("hazard.unordered-access", 0, -1) in made.ids()


@pytest.fixture(params=["ascend310p3", "ascend910b3", "ascend950pr_9599"])
def plain(host, request):
    """A host with plain streams, and kernels that write y or read it: `plain.write(stream)`, `plain.read(stream)`."""
    return _Plain(Runtime(Device(request.param, {"ordering": "report"}, host)))


class _Plain:
    def __init__(self, runtime):
        self.runtime = runtime
        self.first, self.second, self.third = (runtime.create_stream() for _ in range(3))
        self.binary = runtime.register_program("TilingProbe")
        self.y = runtime.malloc(64, label="y")

    def _launch(self, stream, y, x, add):
        runtime = self.runtime
        workspace, tiling = runtime.malloc(4096), runtime.malloc(64)
        runtime.memcpy_to_device(tiling, struct.pack("<IIiHH", ELEMENTS, 1, 0, 1, add))
        args = runtime.arguments([x, 0, y, workspace, tiling])
        runtime.launch_kernel(runtime.get_function(self.binary), 1, stream, args)

    def write(self, stream):
        """A kernel that writes y."""
        self._launch(stream, self.y, 0, 0)

    def read(self, stream):
        """A kernel that reads y and writes elsewhere."""
        self._launch(stream, self.runtime.malloc(64), self.y, 1)

    def ids(self):
        """What is reported when all is done."""
        for stream in (self.first, self.second, self.third):
            self.runtime.synchronize_stream(stream)
        return [h.id for h in self.runtime.hazards()]


def test_a_wait_that_needs_no_entry_orders_all_the_same(plain):
    """The record is done when the wait is submitted, so no entry is written; the order is there."""
    event = plain.runtime.create_event()
    plain.write(plain.first)
    plain.runtime.record_event(event, plain.first)
    plain.runtime.drive(lambda: plain.first.core.queue.pending == 0)
    plain.runtime.wait_event(plain.second, event)
    plain.read(plain.second)
    assert plain.ids() == []


def test_an_event_that_was_asked_for_orders(plain):
    """`query_event` said that the record is done."""
    event = plain.runtime.create_event()
    plain.write(plain.first)
    plain.runtime.record_event(event, plain.first)
    plain.runtime.drive(lambda: plain.runtime.query_event(event))
    assert plain.runtime.query_event(event)
    plain.read(plain.second)
    assert plain.ids() == []


def test_waiting_for_an_event_orders_only_what_comes_before_its_record(plain):
    """A kernel behind the record has run when the host goes on, but nothing says that it had to."""
    event = plain.runtime.create_event()
    plain.runtime.record_event(event, plain.first)
    plain.write(plain.first)
    plain.runtime.synchronize_event(event)
    plain.read(plain.second)
    assert plain.ids() == ["hazard.unordered-access"]


def test_an_id_that_is_given_out_again_begins_anew(plain):
    """Three events, one after the other, with the same id: each wait belongs to its own record."""
    for _ in range(3):
        event = plain.runtime.create_event()
        plain.write(plain.first)
        plain.runtime.record_event(event, plain.first)
        plain.runtime.wait_event(plain.second, event)
        plain.read(plain.second)
        plain.runtime.synchronize_stream(plain.second)
        plain.runtime.destroy_event(event)
    assert plain.ids() == []
