"""TASK_INFO: the task list of a model (`reference/om_format.md` 6, 7).

What belongs to a task is chosen by its type, never by which parts are there: real files have empty parts beside the
one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emu_plugins.om.attributes import text
from emu_plugins.om.messages import parse_partition, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_plugins.om.container import Partition

PARTS: Mapping[int, str] = MappingProxyType({
    **dict.fromkeys((0, 39, 43, 44), "kernel"), **dict.fromkeys((26, 40), "kernel_with_handle"), 5: "kernel_ex",
    6: "kernel_hccl", **dict.fromkeys((1, 2, 18), "event_ex"), **dict.fromkeys((12, 27), "log_timestamp"),
    **dict.fromkeys((13, 22), "memcpy_async"), 7: "stream_switch", 8: "stream_active", 20: "stream_switch_n",
    9: "label_set", **dict.fromkeys((11, 24), "label_goto_ex"), 23: "label_switch_by_index", 28: "ffts_task",
    29: "ffts_plus_task", 30: "dsa_task", 31: "cmo_task", 32: "cmo_barrier_task", 33: "npu_get_float_status",
    34: "npu_clear_float_status", 35: "dvpp_task", 36: "npu_get_float_debug_status", 37: "npu_clear_float_debug_status",
    38: "cmo_addr_task", 41: "update_pc_task", 47: "fusion_task",
})  # fmt: skip
"""Field of `TaskDef` that belongs to each task type; types that are not listed have none."""
NO_OP = frozenset({"log_timestamp", "cmo_task", "cmo_barrier_task"})
"""Parts without the index of an operator."""
EVENT_TYPES = frozenset({1, 2, 18})
NOTIFY_TYPES = frozenset({14, 15})


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        type, stream_id, event_id, notify_id: as in the file; ids are None for types that have none.
        op_index: id of its operator, or None.
        part: name of the field of `TaskDef` that belongs to its type, empty when it has none or it is absent.
        block_dim, kernel_type, schedule_mode, kernel_name, so_name, args, args_format, ext_info: of kernels.
        fields: everything in its part, as plain values.
    """

    index: int
    type: int
    stream_id: int = 0
    event_id: int | None = None
    notify_id: int | None = None
    op_index: int | None = None
    part: str = ""
    block_dim: int = 0
    kernel_type: int = 0
    schedule_mode: int = 0
    kernel_name: str = ""
    so_name: str = ""
    args: bytes = b""
    args_format: str = ""
    ext_info: bytes = b""
    fields: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class TaskList:
    """The task list with the figures beside it; figures that real files leave out are 0."""

    tasks: tuple[Task, ...] = ()
    version: str = ""
    memory_size: int = 0
    weight_size: int = 0
    stream_num: int = 0
    event_num: int = 0


def read_task_list(partition: Partition | None) -> TaskList:
    """The tasks in `partition`; empty when it is absent.

    Raises:
        FormatError: `om.message`, `om.too-many`. PluginError: `extra.missing`.
    """
    if partition is None:
        return TaskList()
    raw = parse_partition("ModelTaskDef", partition)
    tasks = tuple(_task(index, each) for index, each in enumerate(raw.task))
    return TaskList(tasks, text(raw.version), raw.memory_size, raw.weight_size, raw.stream_num, raw.event_num)


def _task(index: int, raw: Any) -> Task:  # noqa: ANN401 - a message of the extra
    part = PARTS.get(raw.type, "")
    there = bool(part) and raw.HasField(part)
    message = getattr(raw, part) if there else None
    kind = raw.type
    return Task(
        index,
        kind,
        raw.stream_id,
        raw.event_id if kind in EVENT_TYPES else None,
        raw.notify_id if kind in NOTIFY_TYPES else None,
        part=part if there else "",
        fields=MappingProxyType({} if message is None else plain(message)),
        **({} if message is None else _details(part, message)),
    )


def _details(part: str, message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    read = _DETAILS.get(part)
    if read is not None:
        return read(message)
    found = {} if part in NO_OP else {"op_index": message.op_index}
    if hasattr(message, "args_format"):
        found["args_format"] = text(message.args_format)
    return found


def _context(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    context = message.context
    return {
        "op_index": context.op_index,
        "kernel_type": context.kernel_type,
        "args_format": text(context.args_format),
        "block_dim": message.block_dim,
        "schedule_mode": message.schedule_mode,
        "args": message.args,
    }


def _kernel(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    name = message.kernel_name or message.stub_func
    so_name, ext = text(message.so_name), message.kernel_ext_info
    return {**_context(message), "kernel_name": text(name), "so_name": so_name, "ext_info": ext}


def _handle(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    return {**_context(message), "kernel_name": text(message.original_kernel_key)}


def _kernel_ex(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    return {"op_index": message.op_index, "args": message.args, "ext_info": message.kernel_ext_info}


def _ffts_plus(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a message of the extra
    """Blocks by the head of the entry, else by the first context; name and format are those of the first kernel."""
    found: dict[str, Any] = {
        "op_index": message.op_index,
        "block_dim": message.ffts_plus_sqe.sqe_header.block_dim,
    }
    for context in message.ffts_plus_ctx:
        for name in ("mix_aic_aiv_ctx", "aic_aiv_ctx"):
            if not context.HasField(name):
                continue
            kernel = getattr(context, name)
            names = [text(each) for each in kernel.kernel_name]
            args_format = text(kernel.args_format) if name == "mix_aic_aiv_ctx" else ""
            return {
                **found,
                "block_dim": found["block_dim"] or kernel.tail_block_dim,
                "kernel_name": names[0] if names else "",
                "args_format": args_format,
                "schedule_mode": kernel.schem,
            }
    return found


_DETAILS: Mapping[str, Callable[[Any], dict[str, Any]]] = MappingProxyType({
    "kernel": _kernel, "kernel_with_handle": _handle, "kernel_ex": _kernel_ex, "ffts_plus_task": _ffts_plus,
})  # fmt: skip
"""Parts with more than an operator and an args format."""
