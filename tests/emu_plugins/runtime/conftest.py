"""Graphs, a laboratory that compiles, loads and runs them, and an operator whose tiling the input commands."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import DeviceFault
from emu_core.graph import CompileOptions
from emu_core.hookspecs import hookimpl
from emu_core.kernels import CoreType, Cost, KernelSpec
from emu_core.operators import InputSpec, OperatorSpec, OutputSpec, Placement, TensorInfo
from emu_core.plugins import PluginHost
from emu_core.policies import Scope
from emu_core.tiling import TilingError
from emu_plugins.runtime import Runtime

UNKNOWN_KEY, FAIL, TOO_MUCH, CRASH, SCHEDULE = 99, -1, -2, -3, -4
FINE, PAST_END, READS_UNWRITTEN, SILENT, RAISES = range(5)


def _knob_tiling(context):
    """Tiling key and block dim are what the value n says: n = 1000 * block dim + key."""
    raw = context.input_data(1)
    n = 1000 if raw is None else int.from_bytes(raw[:4], "little", signed=True)
    if n == FAIL:
        raise TilingError("n says so")
    if n == CRASH:
        raise ZeroDivisionError("tiling of Knob")
    if n == SCHEDULE:
        context.set_schedule_mode(1)
        n = 2000
    context.set_tiling_key(n % 1000 if n >= 0 else 0)
    context.set_block_dim(n // 1000 if n >= 0 else 1)
    context.set_workspaces((64 * max(n // 1000, 1),))
    context.write_tiling_data(bytes(20_000) if n == TOO_MUCH else struct.pack("<i", n))


def _knob_run(launch):
    """Y = [key, block dim, n of the tiling data, 7]; some keys misbehave."""
    memory = launch.memory
    y, workspace, tiling = launch.arg(2), launch.arg(3), launch.arg(4)
    if launch.tiling_key == READS_UNWRITTEN:
        memory.read(workspace + 8, 16)
    if launch.tiling_key == RAISES:
        raise ValueError("kernel of Knob")
    count = 5 if launch.tiling_key == PAST_END else 4
    n = struct.unpack("<i", memory.read(tiling, 4))[0]
    if launch.tiling_key != SILENT:
        with memory.out_array(y, "<f4", (count,)) as out:
            out[:4] = [launch.tiling_key, launch.block_dim, n, 7]


def _knob_infer(_inputs, _attrs):
    return (TensorInfo("float32", (4,)),)


def _shows_run(launch):
    """Y = [key, block dim]."""
    with launch.memory.out_array(launch.arg(2), "<f4", (2,)) as y:
        y[:] = [launch.tiling_key, launch.block_dim]


def _twice_tiling(context):
    context.set_tiling_key(0)
    context.set_block_dim(1)
    context.write_tiling_data(bytes(8))


def _twice_run(launch):
    x = launch.memory.array(launch.arg(0), "<i4", (1,))
    with launch.memory.out_array(launch.arg(1), "<i4", (1,)) as y:
        y[...] = 2 * x


def _odd_run(_launch):
    raise DeviceFault("the kernel refuses", ts_code=0x27, error_type=2, id="odd.refused", remedy="do not use it")


BOTH = Placement.HOST | Placement.AICPU
KNOB = OperatorSpec(
    "Knob", (InputSpec("x"), InputSpec("n", ("int32",))), (OutputSpec("y"),), _knob_infer, _knob_tiling, "Knob",
    depends=(1,), placements=BOTH,
)  # fmt: skip
OPERATORS = (
    KNOB,
    replace(KNOB, type="Knob16", tiling_capacity=16),
    replace(KNOB, type="KnobHost", placements=Placement.HOST),
    replace(KNOB, type="Refuses", kernel="Refuses"),
    OperatorSpec(
        "Twice", (InputSpec("x", ("int32",)),), (OutputSpec("y"),), lambda i, _: (i[0],), _twice_tiling, "Twice"
    ),
)
KERNELS = (
    KernelSpec("Knob", CoreType.AIV, (0, 1, 2, 3, 4), _knob_run, lambda _: Cost()),
    KernelSpec("Refuses", CoreType.AIC, (0, 1, 2, 3, 4), _odd_run, lambda _: Cost()),
    KernelSpec("Twice", CoreType.AIV, (0,), _twice_run, lambda _: Cost()),
    KernelSpec("Shows", CoreType.AIV, (0, 1, 2, 3, 4), _shows_run, lambda _: Cost()),
    KernelSpec("Mixed", CoreType.MIX, (0,), lambda _: None, lambda _: Cost()),
)


class LabPlugin:
    """The operators above."""

    @hookimpl
    def sqemu_operators(self):
        """All of them."""
        return OPERATORS

    @hookimpl
    def sqemu_kernels(self):
        """Their kernels."""
        return KERNELS


@pytest.fixture(scope="session")
def host():
    """The installed plugins and the laboratory's operators."""
    return PluginHost([LabPlugin()])


def _probe_graph(size=40, *, sink=True, operator="TilingProbe", nodes=1):
    """`nodes` operators that all read x and n; their outputs are y0, y1 and so on."""
    names = [f"y{i}" for i in range(nodes)]
    return {
        "format": "sqemu-graph", "version": 1, "name": "p",
        "options": {"ge.tiling_schedule_optimize": str(int(sink))},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [size]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [
            {"name": f"op{i}", "type": operator, "inputs": ["x", "n"], "outputs": [y]} for i, y in enumerate(names)
        ],
        "outputs": names,
    }  # fmt: skip


@dataclass
class Bench:
    """A loaded model with its device and blob."""

    device: Device
    model: Any
    blob: Any
    inputs: dict[str, np.ndarray] = field(default_factory=dict)

    def run(self, n=None):
        """One execution with the value n."""
        given = dict(self.inputs)
        if n is not None:
            given["n"] = np.array([n], np.int32)
        return self.model.execute(given)

    def kernel_sqe(self, raw=None, stream=0):
        """The first AI Core entry of a ring, decoded, and its slot."""
        ring = self.model.rings()[stream] if raw is None else raw
        struct = self.device.layout("AicoreKernelSqe")
        for slot in range(len(ring) // 64):
            sqe = ring[64 * slot : 64 * slot + 64]
            if sqe[0] & 0x3F == 0:
                return slot, struct.parse(sqe)
        raise AssertionError("no kernel")

    def types(self, stream):
        """(SQE type, task type of place holders) of a ring's entries."""
        ring = self.model.rings()[stream]
        entries = [ring[at : at + 64] for at in range(0, len(ring), 64)]
        return [(e[0] & 0x3F, int.from_bytes(e[2:4], "little") if e[0] & 0x3F == 3 else 0) for e in entries]


def _ids(found):
    return [x.id for x in found]


@pytest.fixture
def ids():
    """Ids of faults or hazards."""
    return _ids


@pytest.fixture
def probe_graph():
    """Makes a graph of probes."""
    return _probe_graph


@pytest.fixture
def lab(host):
    """Compiles, loads, and gives a `Bench`; policies go where their scope says; `edit` changes the blob."""
    scopes = {spec.name: spec.scope for spec in host.policy_specs}

    def make(chip="ascend310p3", *, graph=None, edit=None, inputs=None, options=None, **policies):
        named = {name.replace("__", "."): str(value) for name, value in policies.items()}
        at_compile = {n: v for n, v in named.items() if scopes[n] is Scope.COMPILE}
        graph = _probe_graph() if graph is None else graph
        compiled = compile_with_report(graph, chip, CompileOptions(policies=at_compile, options=options or {}), host)
        blob = compiled.blob if edit is None else edit(compiled.blob)
        device = Device(chip, {n: v for n, v in named.items() if n not in at_compile}, host, record_rings=True)
        given = inputs
        if given is None:
            given = {i["name"]: np.zeros(i["shape"], i["dtype"]) for i in graph["inputs"]}
        return Bench(device, device.load(blob), blob, given)

    return make


@pytest.fixture
def chip_like(host):
    """A chip with some numbers changed."""

    def make(name, **changes):
        return replace(host.chip(name), **changes)

    return make


@pytest.fixture
def fill():
    """What TilingProbe writes for a key and a block dim: slices of ceil(N / dim) elements of 100 key + block."""

    def expected(key, dim, size=40):
        width = -(-size // dim)
        return np.repeat(100 * key + np.arange(dim), width)[:size].astype(np.float32)

    return expected


@dataclass
class Bound:
    """A runtime with a model being built: two bound streams, a calling stream, a program, cells of an update."""

    runtime: Runtime
    model: Any
    work: Any
    side: Any
    caller: Any
    program: Any
    para: dict[str, Any]
    args: int

    @property
    def device(self):
        """The device."""
        return self.runtime.device

    def launch(self, *, key=0, block_dim=1, config=None):
        """A kernel on the work stream; returns its task id."""
        function = self.runtime.get_function(self.program, key)
        return self.runtime.launch_kernel(function, block_dim, self.work, self.args, *([config] if config else []))

    def set_cells(self, key, block_dim):
        """What the next update reads."""
        self.runtime.memcpy_to_device(self.para["tiling_key_addr"], key.to_bytes(8, "little"))
        self.runtime.memcpy_to_device(self.para["block_dim_addr"], block_dim.to_bytes(8, "little"))

    def update_entry(self, slot=0, stream=None):
        """The entry in a slot of a stream, the side stream by default, decoded as an update."""
        queue = (stream or self.side).core.queue
        return self.device.layout("PhModelTaskUpdateSqe").parse(queue.entry(slot))


@pytest.fixture
def api(host):
    """Makes a runtime on a chip; `firmware` and `device_id` as `Runtime`, policies by name."""

    def make(chip="ascend910b3", *, firmware=None, **policies):
        return Runtime(Device(chip, {k: str(v) for k, v in policies.items()}, host), firmware=firmware)

    return make


@pytest.fixture
def bound(api):
    """Makes a `Bound`; the kernel Shows writes its key (0 to 4) and block dim to y."""

    def make(chip="ascend910b3", *, kernel="Shows", bind=True, keys=None, **options):
        runtime = api(chip, **options)
        work, side, caller = (runtime.create_stream(name=name) for name in ("work", "side", "caller"))
        model = runtime.create_model("m")
        if bind:
            runtime.bind_stream(model, work)
            runtime.bind_stream(model, side)
        program = runtime.register_program(kernel, keys)
        cells = {"tiling_key_addr": runtime.malloc(8, ts=True), "block_dim_addr": runtime.malloc(8, ts=True)}
        y, workspace, tiling = runtime.malloc(16), runtime.malloc(64), runtime.malloc(64)
        runtime.memcpy_to_device(tiling, bytes(64))
        args = runtime.arguments([0, 0, y, workspace, tiling])
        para = {"hdl": program, "ffts_plus_task_info": None, **cells}
        return Bound(runtime, model, work, side, caller, program, para, args)

    return make
