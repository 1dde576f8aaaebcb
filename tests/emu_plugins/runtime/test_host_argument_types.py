"""Arguments of wrong types: documented codes in every call and function, and equal values are taken as equal."""

from __future__ import annotations

import array
import ctypes
import inspect
import struct

import numpy as np
import pytest

from emu_core.memory import DeviceMemory, raw_bytes
from emu_plugins.runtime import EventStyle, LaunchConfig, Runtime, RuntimeApiError, c_api

CHIPS = ("ascend310p3", "ascend910b3", "ascend950pr_9599", "ascend350_355e")


class _Unspeakable:
    """Cannot be shown."""

    def __repr__(self):
        raise ZeroDivisionError


JUNK = (
    _Unspeakable(),
    None, "text", 1.5, -1, 1 << 70, True, b"raw", [None], {"a": 1}, {5: 1, "b": 2}, object(), np.float32(2),
    np.arange(3), np.zeros((4, 4))[:, 1],
)  # fmt: skip
CALLS = {
    name: call
    for part in Runtime.__mro__
    for name, call in vars(part).items()
    if not name.startswith("_") and hasattr(call, "__wrapped__")
}
FUNCTIONS = {n: f for n, f in vars(c_api).items() if n.startswith(("rt_", "rts_"))}


@pytest.fixture
def good(api):
    """Makes fitting arguments by name, and the runtime they belong to; streams, model and flags are new."""

    def make(chip):
        runtime = api(chip)
        program, y = runtime.register_program("Shows"), runtime.malloc(64)
        stream, bound, model = runtime.create_stream(), runtime.create_stream(), runtime.create_model()
        runtime.bind_stream(model, bound)
        cells = {"tiling_key_addr": runtime.malloc(8, ts=True), "block_dim_addr": runtime.malloc(8, ts=True)}
        named = {
            "stream": stream, "dst_stream": bound, "task_stream": bound, "exec_stream": bound, "model": model,
            "event": runtime.create_event(), "notify": runtime.create_notify(), "program": program,
            "function": runtime.get_function(program), "library": "l", "name": "Shows", "data": b"1234",
            "words": [1, 2], "address": y, "args": y, "target": y, "source": y, "size": 8, "para": {"hdl": program,
            **cells}, "info": {"id": 2, "bin_handle": program, "block_dim_addr": cells["block_dim_addr"],
            "func_entry_addr": cells["tiling_key_addr"]}, "device_id": 0, "module": 5, "feature": 4, "mode": 0,
            "value": 1, "block_dim": 1, "task_id": 0, "dst_task_id": 0, "tiling_key": 0, "seconds": 1,
            "microseconds": 1, "runtime": runtime, "pc": y,
        }  # fmt: skip
        return runtime, named

    return make


def _required(function):
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self" and p.default is p.empty]


def _all(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.name != "self"]


def _fitting(name, function, named):
    """Fitting arguments for what a call requires."""
    texts = {"function": "f"} if "cpu" in name else {}
    return {p.name: {**named, **texts}.get(p.name) for p in _required(function)}


def _refusal(call, *args, **kwargs):
    """The code and message class of a refusal, None for success; anything but `RuntimeApiError` gets out."""
    try:
        call(*args, **kwargs)
    except RuntimeApiError as error:
        found = error
    else:
        return None
    assert found.function
    assert "Error" not in found.text()
    return found.code, found.message


@pytest.mark.parametrize("name", sorted(CALLS))
def test_each_parameter_takes_junk_without_a_traceback(good, name):
    """In every call, each parameter in turn gets every kind of junk: success or `RuntimeApiError`, nothing else."""
    runtime, named = good("ascend910b3")
    base = _fitting(name, CALLS[name], named)
    for parameter in _all(CALLS[name]):
        for junk in JUNK:
            _refusal(getattr(runtime, name), **{**base, parameter: junk})


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_answers_junk_with_a_status(good, name):
    """In every C-like function, each parameter in turn gets every kind of junk: what comes back is a status."""
    _, named = good("ascend950pr_9599")
    function = FUNCTIONS[name]
    base = _fitting(name, function, named)
    for parameter in _all(function):
        for junk in JUNK:
            found = function(**{**base, parameter: junk})
            assert isinstance(found[0] if isinstance(found, tuple) else found, c_api.Status)


BAD = (107000, "EE1003")
NULL = (107000, "EE1004")


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("launch_kernel", {"args": None}, BAD),
        ("launch_kernel", {"config": None}, BAD),
        ("launch_kernel", {"config": LaunchConfig(schem="x")}, BAD),
        ("launch_kernel", {"function": 5}, (107017, "")),
        ("register_program", {"tiling_keys": [-1]}, BAD),
        ("register_program", {"tiling_keys": 3}, BAD),
        ("register_program", {"name": 3}, BAD),
        ("model_task_update", {"dst_task_id": None}, BAD),
        ("model_task_update", {"para": {"hdl": None, "tiling_key_addr": "x"}}, BAD),
        ("descriptor_of", {"stream": "x"}, (107017, "")),
        ("descriptor_of", {"stream": None}, NULL),
        ("wait_notify", {"timeout_s": 1.5}, BAD),
        ("wait_counted_notify", {"clear": 7}, BAD),
        ("synchronize_stream", {"timeout_ms": None}, BAD),
        ("synchronize_event", {"timeout_ms": "x"}, BAD),
        ("set_op_wait_timeout", {"seconds": None}, BAD),
        ("set_op_execute_timeout", {"seconds": 1.5}, BAD),
        ("launch_aicpu", {"library": 5}, BAD),
        ("launch_aicpu", {"library": None}, NULL),
        ("arguments", {"words": [None]}, BAD),
        ("arguments", {"words": None}, NULL),
        ("memcpy_to_host", {"size": -1}, BAD),
        ("malloc", {"size": 1.5}, BAD),
        ("malloc", {"size": True}, BAD),
        ("create_event", {"style": "old"}, BAD),
        ("create_stream", {"priority": 1.0}, BAD),
        ("free", {"address": []}, BAD),
    ],
)
def test_what_types_are_answered_with(good, name, changes, expected):
    """A value of another type is 107000 with EE1003, a null pointer EE1004, what is no handle 107017."""
    runtime, named = good("ascend950pr_9599")
    if name == "wait_counted_notify":
        named["notify"] = runtime.create_counted_notify()
    base = _fitting(name, CALLS[name], named)
    assert _refusal(getattr(runtime, name), **{**base, **changes}) == expected


def test_handles_are_looked_at_before_types(good):
    """A destroyed stream with a limit of no type is 107017, not 107000."""
    runtime, named = good("ascend910b3")
    runtime.destroy_stream(named["stream"])
    assert _refusal(runtime.synchronize_stream, named["stream"], None) == (107017, "")


@pytest.mark.parametrize("chip", CHIPS)
def test_integers_of_numpy_are_integers(good, chip):
    """Sizes, addresses, limits and keys may be numpy integers; addresses that come back are Python's."""
    runtime, named = good(chip)
    for size in (np.int64(8), np.int32(64), np.uint8(200)):
        assert type(runtime.malloc(size)) is int
    stream = named["stream"]
    assert runtime.launch_aicpu("l", "f", stream, np.int64(named["args"]), timeout_us=np.int32(3)) == 0
    assert runtime.launch_kernel(named["function"], np.uint8(255), stream, named["args"], LaunchConfig(np.int8(0))) == 1
    runtime.memcpy_to_device(runtime.malloc(np.int16(300)), bytes(300))
    assert all(type(a.address) is type(a.size) is int for a in runtime.device.memory.allocations())


@pytest.mark.parametrize(
    ("data", "raw"),
    [
        (b"\1\2", b"\1\2"),
        (bytearray(b"\1\2"), b"\1\2"),
        (memoryview(b"abcd")[1:3], b"bc"),
        (np.array([1.0, 2.0], np.float32), struct.pack("<2f", 1, 2)),
        (np.array([[1, 2], [3, 4]], np.int16), struct.pack("<4h", 1, 2, 3, 4)),
        (np.int64(-1), b"\xff" * 8),
        (array.array("d", [1.5]), struct.pack("<d", 1.5)),
        ((ctypes.c_uint16 * 2)(1, 513), b"\1\0\1\2"),
        (np.zeros((0, 3)), b""),
    ],
)
def test_bytes_of_any_contiguous_buffer_are_copied(api, data, raw):
    """A copy to the device takes the bytes of the buffer, not its elements cut to bytes."""
    runtime = api()
    y = runtime.malloc(64)
    runtime.memcpy_to_device(y, data)
    assert runtime.memcpy_to_host(y, 16) == raw.ljust(16, b"\0")


@pytest.mark.parametrize(
    "data",
    ["text", [1, 2], (1,), 5, np.zeros((4, 4))[:, 1], np.zeros((4, 4)).T, np.array([None]), memoryview(b"abcd")[::2]],
)
def test_what_has_no_bytes_is_refused_and_nothing_is_written(api, data):
    """Texts, lists, numbers, scattered arrays and arrays of objects are 107000 with EE1003; None is EE1004."""
    runtime = api()
    y = runtime.malloc(64)
    assert _refusal(runtime.memcpy_to_device, y, data) == BAD
    assert _refusal(runtime.memcpy_to_device, y, None) == NULL
    assert runtime.device.memory.unwritten(y, 64) == y


def test_device_memory_takes_whole_sizes_and_buffers_only():
    """Device memory itself takes whole sizes, as plain integers, and bytes of buffers; all else is a TypeError."""
    memory = DeviceMemory(1 << 20)
    found = memory.allocate(np.int32(16), label="x")
    assert (type(found.size), type(memory.used), type(memory.allocate(1, label="y").address)) == (int, int, int)
    for size in (1.5, True, "8", None):
        with pytest.raises(TypeError, match="cannot be reserved: the size is no whole number"):
            memory.allocate(size, label="z")
    memory.write(found.address, np.array([258], np.uint32))
    assert memory.read(found.address, 5) == b"\2\1\0\0\0"
    with pytest.raises(TypeError, match="it is no buffer"):
        memory.poke(found.address, [1, 2])
    assert raw_bytes(memoryview(b"ab")) == b"ab"


REFUSED = {
    "abort_model": (507011, "EE1018"), "execute_model": (507011, "EE1018"), "load_complete": (507011, "EE1018"),
    "end_graph": (507000, ""), "unbind_stream": (107005, "EE4002"), "launch_update_task": (107005, ""),
    "model_task_update": (107005, ""),
}  # fmt: skip
"""The model is not complete, the stream is none of its, and the executing stream of updates is a plain one."""
COUNTED = ("record_counted_notify", "wait_counted_notify", "reset_counted_notify")


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_call_with_fitting_arguments(good, chip, name):
    """On each family every call with fitting arguments succeeds, but for what a state or the chip forbids."""
    runtime, named = good(chip)
    counts = chip.startswith(("ascend950", "ascend350"))
    if counts and name in COUNTED:
        named["notify"] = runtime.create_counted_notify()
    expected = REFUSED.get(name)
    if not counts and name in (*COUNTED, "create_counted_notify"):
        expected = BAD if name in COUNTED else (207000, "")
    if (name, chip) == ("set_op_wait_timeout", "ascend310p3"):
        expected = (207000, "")
    assert _refusal(getattr(runtime, name), **_fitting(name, CALLS[name], named)) == expected


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("style", list(EventStyle))
def test_a_record_for_time_stamps_is_a_place_holder(api, chip, style):
    """A record of an event that nobody may wait for is a place holder of task type 2, and it is done when it ran."""
    runtime = api(chip)
    stream, event = runtime.create_stream(), runtime.create_event(style=style, waitable=False)
    assert runtime.record_event(event, stream) == 0
    sqe = stream.core.queue.entry(0)
    assert (sqe[0] & 0x3F, runtime.device.layout("PhSqe").parse(sqe)["task_type"]) == (3, 2)
    assert not runtime.query_event(event)
    runtime.synchronize_stream(stream)
    assert runtime.query_event(event)
