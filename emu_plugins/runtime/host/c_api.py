"""The same calls as functions that return codes, under names close to the vendor's: `rt_…` and `acl_…`.

| function | returns |
|---|---|
| makes or asks something | `(status, value)`; the value is None when the status is not 0 |
| any other | `status` |

A `Status` is an int, 0 or the public code, that also carries the error. A function finds its runtime through the
handles it is given; where it gets none, the runtime is its first argument. There is no current device or context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from emu_plugins.runtime.host.codes import CONTEXT_NULL, SUCCESS
from emu_plugins.runtime.host.errors import RuntimeApiError, dead_handle, null_pointer, shown
from emu_plugins.runtime.host.handles import HEAD_STREAM, EventStyle, Function, Handle
from emu_plugins.runtime.host.launch import DEFAULTS
from emu_plugins.runtime.host.runtime import Runtime
from emu_plugins.runtime.host.streams import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emu_plugins.runtime.host.capability import Capability
    from emu_plugins.runtime.host.handles import (
        EventHandle,
        ModelHandle,
        NotifyHandle,
        Program,
        StreamHandle,
    )
    from emu_plugins.runtime.host.launch import LaunchConfig
    from emu_plugins.runtime.host.task_update import ModelTaskUpdate, TaskUpdateInfo

T = TypeVar("T")


class Status(int):
    """A return code; `error` says what was wrong, None for success."""

    error: RuntimeApiError | None

    def __new__(cls, error: RuntimeApiError | None = None) -> Self:
        """The code of `error`, 0 without one."""
        found = super().__new__(cls, SUCCESS if error is None else error.code)
        found.error = error
        return found

    @property
    def message(self) -> str:
        """Message class, for example `EE1004`; empty for success and where the vendor has none."""
        return "" if self.error is None else self.error.message

    def __repr__(self) -> str:
        return str(int(self)) if self.error is None else f"{int(self)} ({self.error.text()})"


def _ask(call: Callable[[], T]) -> tuple[Status, T | None]:
    try:
        return Status(), call()
    except RuntimeApiError as error:
        return Status(error), None


def _do(call: Callable[[], object]) -> Status:
    return _ask(call)[0]


def _of(function: str, /, **handles: object) -> Runtime:
    """The runtime of the first handle that is there."""
    for parameter, handle in handles.items():
        found = handle.program if isinstance(handle, Function) else handle
        if isinstance(found, Handle):
            assert isinstance(found.runtime, Runtime)
            return found.runtime
        if found is not None:
            raise dead_handle(function, parameter, f"the {type(found).__name__} {shown(found)}")
    raise null_pointer(function, next(iter(handles)))


def _on(runtime: Runtime | None) -> Runtime:
    """`runtime`; 107002 when there is none."""
    if isinstance(runtime, Runtime):
        return runtime
    raise RuntimeApiError(
        CONTEXT_NULL, f"there is no context: the runtime is {shown(runtime)}", remedy="make a Runtime of a Device first"
    )


# ---- streams ---------------------------------------------------------------------------------------------------------


def rt_stream_create(runtime: Runtime | None, priority: int = 0) -> tuple[Status, StreamHandle | None]:
    """`Runtime.create_stream`."""
    return _ask(lambda: _on(runtime).create_stream(priority=priority))


def rt_stream_destroy(stream: StreamHandle | None) -> Status:
    """`Runtime.destroy_stream`."""
    return _do(lambda: _of("rt_stream_destroy", stream=stream).destroy_stream(stream))


def rt_stream_synchronize(stream: StreamHandle | None, timeout_ms: int = FOREVER) -> Status:
    """`Runtime.synchronize_stream`: 0, or the code of the last task of the stream that failed."""
    return _do(lambda: _of("rt_stream_synchronize", stream=stream).synchronize_stream(stream, timeout_ms))


# ---- events ----------------------------------------------------------------------------------------------------------


def rt_event_create(runtime: Runtime | None, style: EventStyle = EventStyle.NEW) -> tuple[Status, EventHandle | None]:
    """`Runtime.create_event`."""
    return _ask(lambda: _on(runtime).create_event(style=style))


def rt_event_destroy(event: EventHandle | None) -> Status:
    """`Runtime.destroy_event`."""
    return _do(lambda: _of("rt_event_destroy", event=event).destroy_event(event))


def rt_event_record(event: EventHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.record_event`."""
    return _do(lambda: _of("rt_event_record", event=event, stream=stream).record_event(event, stream))


def rt_stream_wait_event(stream: StreamHandle | None, event: EventHandle | None) -> Status:
    """`Runtime.wait_event`."""
    return _do(lambda: _of("rt_stream_wait_event", stream=stream, event=event).wait_event(stream, event))


def rt_event_reset(event: EventHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.reset_event`."""
    return _do(lambda: _of("rt_event_reset", event=event, stream=stream).reset_event(event, stream))


def rt_event_query(event: EventHandle | None) -> tuple[Status, bool | None]:
    """`Runtime.query_event`."""
    return _ask(lambda: _of("rt_event_query", event=event).query_event(event))


def rt_event_synchronize(event: EventHandle | None, timeout_ms: int = FOREVER) -> Status:
    """`Runtime.synchronize_event`."""
    return _do(lambda: _of("rt_event_synchronize", event=event).synchronize_event(event, timeout_ms))


# ---- notifies --------------------------------------------------------------------------------------------------------


def rt_notify_create(runtime: Runtime | None) -> tuple[Status, NotifyHandle | None]:
    """`Runtime.create_notify`."""
    return _ask(lambda: _on(runtime).create_notify())


def rt_notify_destroy(notify: NotifyHandle | None) -> Status:
    """`Runtime.destroy_notify`."""
    return _do(lambda: _of("rt_notify_destroy", notify=notify).destroy_notify(notify))


def rt_notify_record(notify: NotifyHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.record_notify`."""
    return _do(lambda: _of("rt_notify_record", notify=notify, stream=stream).record_notify(notify, stream))


def rt_notify_wait(notify: NotifyHandle | None, stream: StreamHandle | None, timeout_s: int | None = None) -> Status:
    """`Runtime.wait_notify`."""
    return _do(lambda: _of("rt_notify_wait", notify=notify, stream=stream).wait_notify(notify, stream, timeout_s))


def rt_notify_reset(notify: NotifyHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.reset_notify`."""
    return _do(lambda: _of("rt_notify_reset", notify=notify, stream=stream).reset_notify(notify, stream))


# ---- memory, programs, launches --------------------------------------------------------------------------------------


def rt_malloc(runtime: Runtime | None, size: int, *, ts: bool = False) -> tuple[Status, int | None]:
    """`Runtime.malloc`."""
    return _ask(lambda: _on(runtime).malloc(size, ts=ts))


def rt_free(runtime: Runtime | None, address: int) -> Status:
    """`Runtime.free`."""
    return _do(lambda: _on(runtime).free(address))


def rt_memcpy_to_device(runtime: Runtime | None, address: int, data: bytes) -> Status:
    """`Runtime.memcpy_to_device`."""
    return _do(lambda: _on(runtime).memcpy_to_device(address, data))


def rt_memcpy_to_host(runtime: Runtime | None, address: int, size: int) -> tuple[Status, bytes | None]:
    """`Runtime.memcpy_to_host`."""
    return _ask(lambda: _on(runtime).memcpy_to_host(address, size))


def rt_binary_register(
    runtime: Runtime | None, name: str | None, tiling_keys: Iterable[int] | None = None
) -> tuple[Status, Program | None]:
    """`Runtime.register_program`."""
    return _ask(lambda: _on(runtime).register_program(name, tiling_keys))


def rt_binary_unregister(program: Program | None) -> Status:
    """`Runtime.unregister_program`."""
    return _do(lambda: _of("rt_binary_unregister", program=program).unregister_program(program))


def rt_get_function(program: Program | None, tiling_key: int = 0) -> tuple[Status, Function | None]:
    """`Runtime.get_function`."""
    return _ask(lambda: _of("rt_get_function", program=program).get_function(program, tiling_key))


def rt_kernel_launch(
    function: Function | None,
    block_dim: int,
    args: int,
    stream: StreamHandle | None,
    config: LaunchConfig = DEFAULTS,
) -> Status:
    """`Runtime.launch_kernel`; `rt_get_thread_last_task_id` gives the task id."""
    return _do(
        lambda: _of("rt_kernel_launch", function=function, stream=stream).launch_kernel(
            function, block_dim, stream, args, config
        )
    )


def rt_cpu_kernel_launch(
    library: str | None, function: str | None, args: int, stream: StreamHandle | None, *, custom: bool = False
) -> Status:
    """`Runtime.launch_aicpu`."""
    return _do(
        lambda: _of("rt_cpu_kernel_launch", stream=stream).launch_aicpu(library, function, stream, args, custom=custom)
    )


def rt_get_thread_last_task_id(runtime: Runtime | None) -> tuple[Status, int | None]:
    """`Runtime.last_task_id`."""
    return _ask(lambda: _on(runtime).last_task_id())


# ---- models ----------------------------------------------------------------------------------------------------------


def rt_model_create(runtime: Runtime | None) -> tuple[Status, ModelHandle | None]:
    """`Runtime.create_model`."""
    return _ask(lambda: _on(runtime).create_model())


def rt_model_bind_stream(model: ModelHandle | None, stream: StreamHandle | None, flag: int = HEAD_STREAM) -> Status:
    """`Runtime.bind_stream`."""
    return _do(lambda: _of("rt_model_bind_stream", model=model, stream=stream).bind_stream(model, stream, flag))


def rt_model_unbind_stream(model: ModelHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.unbind_stream`."""
    return _do(lambda: _of("rt_model_unbind_stream", model=model, stream=stream).unbind_stream(model, stream))


def rt_end_graph(model: ModelHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.end_graph`."""
    return _do(lambda: _of("rt_end_graph", model=model, stream=stream).end_graph(model, stream))


def rt_model_load_complete(model: ModelHandle | None) -> Status:
    """`Runtime.load_complete`."""
    return _do(lambda: _of("rt_model_load_complete", model=model).load_complete(model))


def rt_model_execute(model: ModelHandle | None, stream: StreamHandle | None) -> Status:
    """`Runtime.execute_model`."""
    return _do(lambda: _of("rt_model_execute", model=model, stream=stream).execute_model(model, stream))


def rt_model_abort(model: ModelHandle | None) -> Status:
    """`Runtime.abort_model`."""
    return _do(lambda: _of("rt_model_abort", model=model).abort_model(model))


def rt_model_destroy(model: ModelHandle | None) -> Status:
    """`Runtime.destroy_model`."""
    return _do(lambda: _of("rt_model_destroy", model=model).destroy_model(model))


# ---- task update and queries -----------------------------------------------------------------------------------------


def rt_model_task_update(
    dst_stream: StreamHandle | None,
    dst_task_id: int,
    stream: StreamHandle | None,
    para: ModelTaskUpdate | Mapping[str, Any] | None,
) -> Status:
    """`Runtime.model_task_update`: `para` has hdl, ffts_plus_task_info (or None), block_dim_addr, tiling_key_addr."""
    return _do(
        lambda: _of("rt_model_task_update", dst_stream=dst_stream, stream=stream).model_task_update(
            dst_stream, dst_task_id, stream, para
        )
    )


def rts_launch_update_task(
    dst_stream: StreamHandle | None,
    dst_task_id: int,
    stream: StreamHandle | None,
    info: TaskUpdateInfo | Mapping[str, Any] | None,
) -> Status:
    """`Runtime.launch_update_task`."""
    return _do(
        lambda: _of("rts_launch_update_task", dst_stream=dst_stream, stream=stream).launch_update_task(
            dst_stream, dst_task_id, stream, info
        )
    )


def acl_task_update_async(
    task_stream: StreamHandle | None,
    task_id: int,
    info: TaskUpdateInfo | Mapping[str, Any] | None,
    exec_stream: StreamHandle | None,
) -> Status:
    """`Runtime.task_update_async`, the public call."""
    return _do(
        lambda: _of("acl_task_update_async", task_stream=task_stream, exec_stream=exec_stream).task_update_async(
            task_stream, task_id, info, exec_stream
        )
    )


def rt_get_device_capability(
    runtime: Runtime | None, device_id: int, module: int, feature: int
) -> tuple[Status, Capability | None]:
    """`Runtime.get_device_capability`."""
    return _ask(lambda: _on(runtime).get_device_capability(device_id, module, feature))


def rt_set_device_failure_mode(runtime: Runtime | None, mode: int) -> Status:
    """`Runtime.set_device_failure_mode`."""
    return _do(lambda: _on(runtime).set_device_failure_mode(mode))


acl_create_stream = rt_stream_create
acl_destroy_stream = rt_stream_destroy
acl_synchronize_stream = rt_stream_synchronize
acl_create_event = rt_event_create
acl_destroy_event = rt_event_destroy
acl_record_event = rt_event_record
acl_stream_wait_event = rt_stream_wait_event
acl_reset_event = rt_event_reset
acl_model_ri_bind_stream = rt_model_bind_stream
acl_model_ri_unbind_stream = rt_model_unbind_stream
acl_model_ri_end_task = rt_end_graph
acl_model_ri_build_end = rt_model_load_complete
acl_model_ri_execute_async = rt_model_execute
acl_model_ri_abort = rt_model_abort
acl_model_ri_destroy = rt_model_destroy
acl_get_thread_last_task_id = rt_get_thread_last_task_id
