"""Programs of every engine, each as a device with a session, at its start."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from emu_core import CompileOptions, Device, DeviceFault, PluginHost, compile_graph
from emu_core.snapshot.session import Executions, Idle
from emu_plugins.engines import condition_programs
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.sqes import Place
from emu_plugins.runtime.sqes_v200 import RecordMode, WaitMode
from formats.cond_isa import assemble
from tools.demo.scene import demo_graph, demo_inputs

EDU = Path(__file__).parents[2] / "thirdparty" / "edu"


def _graph(name, kind, size, **attrs):
    return {
        "format": "sqemu-graph", "version": 1, "name": name, "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [size]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [{"name": "a", "type": kind, "inputs": ["x", "n"], "outputs": ["y"], "attrs": attrs}],
        "outputs": ["y"],
    }  # fmt: skip


def _fused():
    attrs = {"_super_kernel_scope": "sk", "super_kernel_reuse_binary": True}
    graph = _graph("fused", "TilingProbe", 40, **attrs)
    graph["nodes"].append({**graph["nodes"][0], "name": "b", "outputs": ["z"]})
    return {**graph, "outputs": ["y", "z"]}


def _numbers(size, *values):
    return [{"x": np.arange(size, dtype=np.float32), "n": np.array([n], np.int32)} for n in values]


def _model(host, chip, graph, inputs, **policies):
    blob = compile_graph(graph, chip, plugins=host)
    device = Device(chip, policies, host)
    return device, Executions(device.load(blob), inputs)


class Entries:
    """A device whose queues are written entry by entry."""

    def __init__(self, host, chip="ascend910b3", **policies):
        self.device = Device(chip, policies, host)
        self.build = builder_for(host.registry, self.device.chip.family)

    def stream(self):
        """A new plain stream."""
        return self.device.create_stream("s", bound=False)

    def add(self, stream, kind, *args, **values):
        """Append the entry that the builder makes."""
        stream.queue.append(getattr(self.build, kind)(Place(stream.id, stream.queue.next_task_id()), *args, **values))

    def header(self, stream):
        """Who the next entry is."""
        return {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}

    def callback(self, stream, data, *, block):
        """Append a call of the host function at 0x5000."""
        layout = self.device.layout("HostfuncCallbackSqe")
        values = {"type": 1, "kernel_type": 127, "topic_id": 26, "is_block": block, "hostfunc_addr": 0x5000}
        stream.queue.append(layout.build({**self.header(stream), **values, "fndata": data, "wr_cqe": 1}))

    def ring(self):
        """Publish everything; gives device and session."""
        for stream in self.device.streams.values():
            self.device.scheduler.ring_doorbell(stream)
        return self.device, Idle()


def _demo(host):
    return _model(host, "ascend310p3", demo_graph(sink=True), [demo_inputs(0), demo_inputs(1)])


def _demo_on_host(host):
    return _model(host, "ascend310p3", demo_graph(sink=False), [demo_inputs(0), demo_inputs(1)])


def _stale(host):
    return _model(host, "ascend310p3", demo_graph(sink=True), [demo_inputs(0), demo_inputs(1)], nop_model="both")


def _faulty(host):
    """Without NOPs the update comes too late: a fault, by policy."""
    options = CompileOptions(policies={"nop_count": "0"})
    blob = compile_graph(_graph("p", "TilingProbe", 40), "ascend310p3", options, host)
    device = Device("ascend310p3", {"stale_prefetch": "fault"}, host)
    return device, Executions(device.load(blob), _numbers(40, 3, 5))


def _mix(host):
    return _model(host, "ascend910b3", _graph("m", "MixProbe", 90), _numbers(90, 5, 11, 12), context_preload="with_sqe")


def _mix_v200(host):
    return _model(host, "ascend950pr_9599", _graph("m", "MixProbe", 90), _numbers(90, 5, 11))


def _super_kernel(host):
    return _model(host, "ascend910b3", _fused(), _numbers(40, 4, 2))


def _flags(host):
    """Two streams that hand an event and a notify to and fro, with NOPs in between, so that they run ahead."""
    made = Entries(host)
    one, two = made.stream(), made.stream()
    for _ in range(12):
        for _ in range(9):
            made.add(one, "nop")
            made.add(two, "nop")
        made.add(one, "event_record", 0)
        made.add(two, "event_wait", 0)
        made.add(two, "notify_record", 1)
        made.add(one, "notify_wait", 1)
    return made.ring()


def _counted(host):
    made = Entries(host, "ascend950pr_950z")
    one, two = made.stream(), made.stream()
    for value in (1, 2, 3):
        made.add(one, "nop")
        made.add(one, "count_notify_record", 3, mode=RecordMode.ADD, value=1)
        made.add(two, "count_notify_wait", 3, mode=WaitMode.GREATER_EQUAL, value=value, timeout=10)
    made.add(two, "count_notify_reset", 3)
    return made.ring()


def _conditions(host):
    """A stream whose program waits until another stream has written a word."""
    made = Entries(host)
    one, two = made.stream(), made.stream()
    word = made.device.memory.allocate(8, label="word").address
    made.device.memory.write(word, bytes(8))
    code = assemble(condition_programs.memory_wait(word, 3, 1))
    at = made.device.memory.allocate(len(code), label="program", align=256).address
    made.device.memory.write(at, code)
    layout = made.device.layout("FunctionCallSqe")
    one.queue.append(condition_programs.function_call(layout, made.header(one), 9, at, len(code) // 4))
    made.add(one, "nop")
    for value in (1, 2, 3):
        made.add(two, "nop")
        written = made.device.layout("WriteValueSqe")
        two.queue.append(
            written.build(
                {**made.header(two), "type": 8, "va": 1, "awsize": 3, "write_addr": word, "write_value_part0": value}
            )
        )
    return made.ring()


def _callbacks(host):
    made = Entries(host)
    one = made.stream()

    def called(data):
        if data == 3:
            raise DeviceFault("not three", ts_code=0x2A, id="mine.three")

    made.device.host_functions[0x5000] = called
    for data in (1, 2, 3, 4):
        made.callback(one, data, block=data % 2)
        made.add(one, "nop")
    return made.ring()


def _edu(_host):
    src = str(EDU / "src")
    if src not in sys.path:
        sys.path.insert(0, src)
    import json

    import sqemu_edu

    host = PluginHost([sqemu_edu])
    graph = json.loads((EDU / "stripe.json").read_text(encoding="utf-8"))
    inputs = [{"x": np.arange(10, dtype="f4"), "n": np.array([n], "i4")} for n in (3, 4)]
    return _model(host, "edu-one", graph, inputs)


PROGRAMS = {
    "demo": _demo, "demo-on-host": _demo_on_host, "late-events": _stale, "faulty": _faulty, "mix": _mix,
    "mix-v200": _mix_v200, "super-kernel": _super_kernel, "flags": _flags, "counted": _counted,
    "conditions": _conditions, "callbacks": _callbacks, "edu": _edu,
}  # fmt: skip


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture(scope="session")
def program(host):
    """Makes a program by name: device and session."""
    return lambda name: PROGRAMS[name](host)


@pytest.fixture
def entries(host):
    """Makes `Entries`."""
    return lambda chip="ascend910b3", **policies: Entries(host, chip, **policies)


@pytest.fixture
def entries_of():
    """Makes `Entries` of a plugin host."""
    return Entries
