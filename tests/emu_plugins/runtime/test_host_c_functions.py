"""The functions that return codes: as the calls, with statuses that explain themselves, found through their handles."""

from __future__ import annotations

import inspect

import pytest

import emu_plugins.runtime
from emu_plugins.runtime import STUB_DEVICE, EventStyle, LaunchConfig, Runtime, RuntimeApiError, c_api, host

B3 = "ascend910b3"
FUNCTIONS = {n: f for n, f in vars(c_api).items() if n.startswith(("rt_", "rts_", "acl_"))}
BY_HANDLE = sorted(n for n, f in FUNCTIONS.items() if "runtime" not in inspect.signature(f).parameters)
"""Functions that find their runtime through handles."""
MAKERS = {
    "rt_stream_create", "rt_event_create", "rt_notify_create", "rt_malloc", "rt_memcpy_to_host", "rt_binary_register",
    "rt_get_function", "rt_get_thread_last_task_id", "rt_model_create", "rt_get_device_capability", "rt_event_query",
}  # fmt: skip


def ok(found):
    """The value of a pair whose status is 0."""
    status, value = found
    assert status == 0
    assert status.error is None
    return value


def test_a_whole_program(api):
    """Streams, model, kernel, update, two executions: every status is 0 and y is what the cells said."""
    runtime = api(B3)
    work, side, caller = (ok(c_api.rt_stream_create(runtime)) for _ in range(3))
    model, event = ok(c_api.rt_model_create(runtime)), ok(c_api.rt_event_create(runtime))
    program = ok(c_api.rt_binary_register(runtime, "Shows"))
    function = ok(c_api.rt_get_function(program, 0))
    y, key, dim = ok(c_api.rt_malloc(runtime, 8)), *(ok(c_api.rt_malloc(runtime, 8, ts=True)) for _ in range(2))
    args = runtime.arguments([0, 0, y])
    assert c_api.rt_model_bind_stream(model, work) == c_api.rt_model_bind_stream(model, side) == 0
    assert c_api.rt_stream_wait_event(work, event) == c_api.rt_event_reset(event, work) == 0
    assert c_api.rt_kernel_launch(function, 1, args, work, LaunchConfig(block_task_prefetch=1)) == 0
    task = ok(c_api.rt_get_thread_last_task_id(runtime))
    assert c_api.rt_end_graph(model, work) == 0
    para = {"hdl": program, "ffts_plus_task_info": None, "block_dim_addr": dim, "tiling_key_addr": key}
    assert c_api.rt_model_task_update(work, task, side, para) == c_api.rt_event_record(event, side) == 0
    assert c_api.rt_model_load_complete(model) == 0
    for wanted in ((3, 7), (1, 2)):
        for address, value in zip((key, dim), wanted, strict=True):
            assert c_api.rt_memcpy_to_device(runtime, address, value.to_bytes(8, "little")) == 0
        assert c_api.rt_model_execute(model, caller) == c_api.rt_stream_synchronize(caller) == 0
        assert memoryview(ok(c_api.rt_memcpy_to_host(runtime, y, 8))).cast("f").tolist() == list(wanted)
    assert c_api.rt_model_abort(model) == c_api.rt_model_destroy(model) == 0
    for stream in (work, side, caller):
        assert c_api.rt_stream_destroy(stream) == 0
    assert c_api.rt_event_destroy(event) == c_api.rt_binary_unregister(program) == c_api.rt_free(runtime, y) == 0


def test_flags_and_queries(api):
    """Notifies, old-style events, event queries, capability and failure mode through functions."""
    runtime = api(B3)
    stream = ok(c_api.rt_stream_create(runtime, 3))
    assert stream.core.priority == 3
    notify, event = ok(c_api.rt_notify_create(runtime)), ok(c_api.rt_event_create(runtime, EventStyle.OLD))
    assert c_api.rt_stream_wait_event(stream, event) == 107000
    for call in (c_api.rt_notify_record, c_api.rt_notify_wait, c_api.rt_notify_reset):
        assert call(notify, stream) == 0
    assert c_api.rt_event_record(event, stream) == 0
    assert ok(c_api.rt_event_query(event)) is False
    assert c_api.rt_event_synchronize(event) == 0
    assert ok(c_api.rt_event_query(event)) is True
    assert c_api.rt_notify_destroy(notify) == 0
    assert ok(c_api.rt_get_device_capability(runtime, 0, 5, 4)) == 1
    assert ok(c_api.rt_get_device_capability(runtime, STUB_DEVICE, 5, 4)) == 0
    assert c_api.rt_set_device_failure_mode(runtime, 1) == 0
    assert c_api.rt_set_device_failure_mode(runtime, 0) == 207000
    model = ok(c_api.rt_model_create(runtime))
    assert c_api.rt_model_bind_stream(model, stream) == 107005
    assert c_api.rt_model_unbind_stream(model, stream) == 107005
    assert c_api.rt_cpu_kernel_launch("library.so", "nothing", runtime.malloc(8), stream) == 0
    assert c_api.rt_stream_synchronize(stream) == 507018


@pytest.mark.parametrize("name", BY_HANDLE)
def test_null_handles_need_no_runtime(name):
    """Every function that takes handles answers nulls with a code, without one of them to find its runtime by."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    wanted = {"dst_task_id": 0, "task_id": 0, "block_dim": 1, "args": 0, "library": "l"}
    given = [wanted.get(p) for p in parameters.values() if p.default is p.empty for p in [p.name]]
    found = FUNCTIONS[name](*given)
    status = found[0] if isinstance(found, tuple) else found
    assert (status, status.message) == (107000, "EE1004")


@pytest.mark.parametrize("name", BY_HANDLE)
def test_what_is_no_handle(name):
    """A number in place of a handle is 107017."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    found = FUNCTIONS[name](*[5 for p in parameters.values() if p.default is p.empty])
    assert (found[0] if isinstance(found, tuple) else found) == 107017


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(BY_HANDLE)))
def test_no_runtime_is_no_context(name):
    """Functions that take the runtime itself answer 107002 when there is none."""
    found = FUNCTIONS[name](None, *[1 for p in inspect.signature(FUNCTIONS[name]).parameters.values()
                                    if p.default is p.empty and p.name != "runtime"])  # fmt: skip
    assert (found[0] if isinstance(found, tuple) else found) == 107002


def test_statuses_explain_themselves(api):
    """A status is an int; its text names call, parameter and remedy; success is just 0."""
    good, stream = c_api.rt_stream_create(api(B3))
    bad = c_api.rt_stream_synchronize(stream, -7)
    assert (repr(good), int(good), good.message) == ("0", 0, "")
    assert repr(bad) == "107000 (synchronize_stream: parameter timeout is -7, expected -1 or more; give -1 or more)"
    assert isinstance(bad.error, RuntimeApiError)


def test_what_makes_something_returns_a_pair(api):
    """When the call was refused the value is None."""
    for name in MAKERS:
        assert "tuple[Status" in str(inspect.signature(FUNCTIONS[name]).return_annotation)
    status, value = c_api.rt_malloc(api(B3), -1)
    assert (status, value) == (107000, None)


def test_names_of_the_package():
    """The plugin package offers the names of the host package, resolved when asked for, and no others."""
    shared = [name for name in emu_plugins.runtime.__all__ if name != "POLICIES"]
    assert shared == host.__all__
    assert all(getattr(emu_plugins.runtime, name) is getattr(host, name) for name in shared)
    assert emu_plugins.runtime.Runtime is Runtime
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        emu_plugins.runtime.nothing  # noqa: B018 - looking it up is the test
