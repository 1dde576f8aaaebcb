"""What becomes of each task of an offline model in a task blob: a table of types, and where a kernel would run.

| way | task types | in the blob |
|---|---|---|
| kernel | 0, 26, 29, 39, 40 | the same, when its operator and kernel are known here; else a stand-in on cores |
| sink | 41, 43 | the same, when the operator is known; else a NOP, and a stand-in on an AI CPU thread |
| flag | 1, 2, 14, 15 | the same: events and notifies |
| nop, end | 42, 19 | the same |
| cores | 44, 47 | a stand-in on cores |
| thread | copies, AI CPU, communication, random numbers, image operations | a stand-in on an AI CPU thread |
| nothing | control flow, cache hints, profiling, status | a NOP |
| none | 3, 4 | nothing: they have no entry on the device either |
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.tasks import Task
    from emu_plugins.om.values import Op


class Way(StrEnum):
    """What is made of a task."""

    KERNEL = "kernel"
    PREPROCESS = "preprocess"
    UPDATE = "update"
    EVENT = "event"
    NOTIFY = "notify"
    NOP = "nop"
    END = "end"
    CORES = "cores"
    THREAD = "thread"
    NOTHING = "nothing"
    NONE = "none"


_CONTROL = "no control flow: every stream runs once, from its beginning"
WAYS: Mapping[int, tuple[Way, str]] = MappingProxyType({
    **dict.fromkeys((0, 26, 29, 39, 40), (Way.KERNEL, "")),
    43: (Way.PREPROCESS, ""),
    41: (Way.UPDATE, ""),
    **dict.fromkeys((1, 2), (Way.EVENT, "")),
    **dict.fromkeys((14, 15), (Way.NOTIFY, "")),
    42: (Way.NOP, ""),
    19: (Way.END, ""),
    **dict.fromkeys((44, 47), (Way.CORES, "the operators inside are not looked at")),
    **dict.fromkeys((5, 48, 50), (Way.THREAD, "no such function here")),
    **dict.fromkeys((13, 16, 22), (Way.THREAD, "its addresses are those of another loader")),
    **dict.fromkeys((6, 17, 21, 49), (Way.THREAD, "there is no other device to talk to")),
    **dict.fromkeys((30, 35), (Way.THREAD, "no such engine here")),
    **dict.fromkeys((7, 8, 9, 10, 11, 20, 23, 24, 25), (Way.NOTHING, _CONTROL)),
    18: (Way.NOTHING, "each wait resets its event"),
    **dict.fromkeys((28, 45, 46), (Way.NOTHING, "no such task here")),
    **dict.fromkeys((31, 32, 38), (Way.NOTHING, "a hint to the cache, which is not modelled")),
    **dict.fromkeys((12, 27), (Way.NOTHING, "nothing is profiled")),
    **dict.fromkeys((33, 34, 36, 37), (Way.NOTHING, "no overflow status is kept")),
    **dict.fromkeys((3, 4), (Way.NONE, "")),
})  # fmt: skip
"""Way of each task type, and why where it stands in for something."""
AICPU_TYPES = frozenset({1, 5, 6, 7, 8, 9, 10})
"""Kernel types that run on no AI Core (`tiling_sink_compiler.md` 15.2)."""
CUSTOM_AICPU = 7
_MIX_TYPES = frozenset({11, 12})
_VECTOR_TASKS = frozenset({39, 40})
_FFTS_PLUS = 29
_SUPER_KERNEL = 44


def way_of(task: Task) -> tuple[Way, str]:
    """What is made of `task`, and why it is not made what it was."""
    found = WAYS.get(task.type, (Way.NOTHING, "no such task here"))
    if found[0] is Way.KERNEL and task.kernel_type in AICPU_TYPES:
        return Way.THREAD, "no such function here"
    return found


def core_of(task: Task, op: Op | None) -> CoreType:
    """The cores a kernel runs on, by task type, kernel type, and what the compiler wrote at its operator."""
    if task.kernel_type in _MIX_TYPES or task.type == _SUPER_KERNEL:
        return CoreType.MIX
    if task.type in _VECTOR_TASKS:
        return CoreType.AIV
    attrs = {} if op is None else op.attrs
    words = " ".join(str(attrs.get(name, "")) for name in ("_cube_vector_core_type", "tvm_magic")).upper()
    if "MIX" in words or (task.type == _FFTS_PLUS and "mix_aic_aiv_ctx" in str(task.fields.get("ffts_plus_ctx", ""))):
        return CoreType.MIX
    return CoreType.AIV if "VECTOR" in words or "AIVEC" in words else CoreType.AIC
