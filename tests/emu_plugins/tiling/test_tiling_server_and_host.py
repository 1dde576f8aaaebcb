"""The AI CPU tiling server on device memory, and the same function run on the host."""

from __future__ import annotations

import struct
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest

from emu_core.device import Device
from emu_core.errors import DeviceFault, OptionError, PluginError
from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuLaunch
from emu_core.memory import Space, TaskMemory
from emu_core.operators import InputSpec, OperatorSpec, OutputSpec, Placement, TensorInfo
from emu_core.plugins import PluginHost
from emu_core.tiling import TilingError
from emu_plugins.tiling.build import build_sink_buffer, platform_block
from emu_plugins.tiling.host import HostMemory, tile_on_host
from emu_plugins.tiling.request import TilingRequest, TilingResult
from emu_plugins.tiling.server import LIBRARIES, serve, specs

P3 = "ascend310p3"


def _tiling(context):
    mode = context.op_name
    if mode == "fails":
        raise TilingError("cannot")
    if mode == "options":
        raise OptionError("no", id="x.y")
    if mode == "crashes":
        raise IndexError("oops")
    if mode == "nothing":
        return
    data = context.input_data(1)
    context.set_tiling_key(3)
    context.set_block_dim(context.platform.core_num_aiv)
    context.set_workspaces((10, 20))
    context.set_schedule_mode(1)
    context.write_tiling_data(b"none" if data is None else data)


SPEC = OperatorSpec(
    "Mine", (InputSpec("x"), InputSpec("n"), InputSpec("m", optional=True)), (OutputSpec("y"),), lambda *_: (), _tiling,
    "Mine", depends=(1, 2), placements=Placement.HOST | Placement.AICPU,
)  # fmt: skip


class _Plugin:
    @hookimpl
    def sqemu_operators(self):
        return (SPEC, replace(SPEC, type="HostOnly", placements=Placement.HOST))


@pytest.fixture(scope="module")
def plugins():
    """The installed plugins and the operators above."""
    return PluginHost([_Plugin()])


def _request(name="op", op_type="Mine", **changes):
    inputs = (TensorInfo("float16", (4,)), TensorInfo("int32", (1,)), None)
    return TilingRequest(op_type, name, inputs, (TensorInfo("float16", (4,)),), **changes)


class _Call:
    """A sink buffer and an argument block on a device, and one call of the server."""

    def __init__(self, plugins, name="op", op_type="Mine"):
        self.plugins = plugins
        self.device = Device(P3, None, plugins)
        memory = self.device.memory
        block = memory.allocate(30_000, label="sink buffer", space=Space.TS, align=128)
        self.platform = memory.allocate(96, label="platform")
        built = build_sink_buffer(_request(name, op_type), block.address, platform=self.platform.address, depended={})
        memory.write(block.address, built.image)
        memory.write(self.platform.address, platform_block(self.device.chip))
        self.addresses = built.addresses
        self.args = memory.allocate(40, label="arguments").address
        self.words = [self.addresses.tiling_context, self.addresses.op_type, 0, 0, 0]
        self.block = block

    def __call__(self, args=None):
        memory = self.device.memory
        memory.write(self.args, struct.pack("<5Q", *self.words))
        view = TaskMemory(memory, lambda *_: None)
        launch = AicpuLaunch(
            view, self.args if args is None else args, memory.poke, self.device.chip, self.device.policies
        )
        serve(launch, self.plugins)

    def bytes(self):
        return self.device.memory.read(self.block.address, self.block.size)


def test_a_good_call_fills_the_outputs(plugins):
    """Key 3, the 8 cores of a 310P3, and the tiling data."""
    call = _Call(plugins)
    call()
    memory = call.device.memory
    assert memory.read(call.addresses.tiling_key, 8) == struct.pack("<Q", 3)
    assert memory.read(call.addresses.block_dim, 4) == struct.pack("<I", 8)
    assert memory.read(call.addresses.tiling_data, 4) == b"none"


def test_s38_a_notify_address_gets_a_64_bit_one_after_the_tiling(plugins):
    """S38: 1 is stored there when the function has succeeded; without an address nothing is."""
    call = _Call(plugins)
    word = call.device.memory.allocate(16, label="event word").address
    call.words[2] = word
    call()
    assert call.device.memory.read(word, 16) == struct.pack("<QQ", 1, 0)


def test_s38_no_notify_after_a_failure(plugins):
    """A function that fails notifies nobody."""
    call = _Call(plugins, "fails")
    call.words[2] = call.device.memory.allocate(8, label="event word").address
    with pytest.raises(DeviceFault):
        call()
    assert call.device.memory.read(call.words[2], 8) == bytes(8)


def _null_args(call):
    call(0)


def _null_type(call):
    call.words[1] = 0
    call()


def _null_context(call):
    call.words[0] = 0
    call()


def _unregistered(call):
    at = call.device.memory.allocate(16, label="type").address
    call.device.memory.write(at, b"Nobodys\0")
    call.words[1] = at
    call()


def _host_only(call):
    at = call.device.memory.allocate(16, label="type").address
    call.device.memory.write(at, b"HostOnly\0")
    call.words[1] = at
    call()


@pytest.mark.parametrize(
    ("break_it", "what"),
    [
        (_null_args, "the argument pointer is null"),
        (_null_type, "the operator type pointer is null"),
        (_unregistered, "no tiling function of operator 'Nobodys' is registered for the AI CPU"),
        (_host_only, "no tiling function of operator 'HostOnly' is registered for the AI CPU"),
        (_null_context, "the tiling context pointer of Mine is null"),
    ],
)
def test_s36_null_pointers_and_unregistered_types_are_parameter_invalid(plugins, break_it, what):
    """S36: AI CPU exception 0x2A, and nothing is written."""
    call = _Call(plugins)
    before = call.bytes()
    with pytest.raises(DeviceFault) as caught:
        break_it(call)
    assert (caught.value.id, caught.value.ts_code, caught.value.error_type) == ("tiling.parameter-invalid", 0x2A, 1)
    assert caught.value.what == f"{what}: parameter invalid"
    assert call.bytes() == before


def test_s36_the_registration_is_looked_up_before_the_context(plugins):
    """With both wrong, the type is what is named, as in the server's own order."""
    call = _Call(plugins)
    call.words[0] = 0
    with pytest.raises(DeviceFault, match="Nobodys"):
        _unregistered(call)


def test_s37_a_function_that_fails_writes_nothing(plugins):
    """S37: an inner error with the function's own words."""
    call = _Call(plugins, "fails")
    before = call.bytes()
    with pytest.raises(DeviceFault) as caught:
        call()
    assert (caught.value.id, caught.value.ts_code) == ("tiling.failed", 0x2A)
    assert caught.value.what == "the tiling function of Mine failed: cannot"
    assert call.bytes() == before


def test_a_pointer_to_no_context_is_a_failed_tiling(plugins):
    """The argument block itself is no context."""
    call = _Call(plugins)
    call.words[0] = call.platform.address
    with pytest.raises(DeviceFault, match="no tiling context lies at"):
        call()


@pytest.mark.parametrize(
    ("library", "ours"),
    [
        ("Ascend-v1.0-libopmaster.so", True),
        ("Ascend310P-v1.0-libopmaster.so", True),
        ("libcust_opmaster.so", True),
        ("libtiling_device_acme.so", True),
        ("libccl_kernel.so", False),
        ("libtiling_host_acme.so", False),
    ],
)
def test_the_server_answers_for_the_operator_master_libraries(plugins, library, ours):
    """Another library's function of the same name is another function."""
    assert any(fnmatchcase(library, pattern) for pattern in LIBRARIES) == ours
    assert {s.function for s in specs(plugins)} == {"RunAicpuRpcSrvLaunch"}


def test_host_tiling_gives_what_the_function_set(plugins):
    """The value is at hand, so the data are its bytes."""
    chip = plugins.chip(P3)
    found = tile_on_host(SPEC, _request(data={1: b"\5\0\0\0"}), chip)
    assert found == TilingResult(3, 8, (10, 20), b"\5\0\0\0", 1)


def test_host_tiling_without_a_value_is_compile_time(plugins):
    """No value is at hand: the function sees none."""
    assert tile_on_host(SPEC, _request(), plugins.chip(P3)).data == b"none"


def test_a_value_of_no_bytes_is_not_the_same_as_no_value(plugins):
    """An empty tensor has a value, of length 0."""
    assert tile_on_host(SPEC, _request(data={1: b""}), plugins.chip(P3)).data == b""


def test_host_tiling_that_sets_nothing_gives_zeros(plugins):
    """As the cells start with zero."""
    assert tile_on_host(SPEC, _request("nothing"), plugins.chip(P3)) == TilingResult(0, 0, (), b"")


def test_host_tiling_passes_refusals_and_marks_crashes(plugins):
    """TilingError and errors for the user pass through; anything else is the plugin's error."""
    chip = plugins.chip(P3)
    with pytest.raises(TilingError):
        tile_on_host(SPEC, _request("fails"), chip)
    with pytest.raises(OptionError):
        tile_on_host(SPEC, _request("options"), chip)
    with pytest.raises(PluginError, match="the tiling function of Mine raised IndexError: oops") as caught:
        tile_on_host(SPEC, _request("crashes"), chip)
    assert (caught.value.id, caught.value.where) == ("plugin.tiling-raised", "operator crashes")


def test_host_memory_aligns_what_is_placed():
    """Parts start at multiples of 128 and can be read as words and text."""
    memory = HostMemory()
    first = memory.place(b"abc\0")
    following = memory.next_address()
    second = memory.place(struct.pack("<Q", 77))
    assert (second, second - first) == (following, 128)
    assert memory.c_string(first) == "abc"
    assert memory.u64(second) == 77
    memory.write(first + 1, b"X")
    assert memory.read(first, 3) == b"aXc"
