"""The modules of a new plugin package."""

from __future__ import annotations

INIT = '''\
"""$soc: a chip for sqemu, with entries and engines of its own.

| module | what |
|---|---|
| `chip` | figures, and where each is from |
| `layouts` | entries of family `$family` |
| `idle`, `flags` | one engine each |
| `texts` | what the ids of this package mean |

The hooks are described in docs/plugins.md of sqemu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core import Chip, Device, Handler
    from formats import CStruct


@hookimpl
def sqemu_chips() -> Iterable[Chip]:
    """The chip."""
    from .chip import CHIP

    return (CHIP,)


@hookimpl
def sqemu_structs() -> Iterable[CStruct]:
    """Entries of the family, and what the machine itself reads of it."""
    from .layouts import STRUCTS

    return STRUCTS


@hookimpl
def sqemu_engines(*, device: Device) -> Iterable[Handler]:
    """Engines for devices with entries of this family; none for others."""
    from . import flags, idle
    from .layouts import FAMILY

    if device.chip.family != FAMILY:
        return ()
    return (*idle.handlers(device), *flags.handlers(device))


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this package mean, for `sqemu explain`."""
    from .texts import EXPLANATIONS

    return EXPLANATIONS
'''

CHIP = '''\
"""The figures of the chip. Put your own in, and say in `sources` where each is from."""

from __future__ import annotations

from dataclasses import fields, replace

from emu_core import Chip

from .layouts import FAMILY

SOURCE = "chosen for a start; replace it by the document that states the figure"
_NO_FIGURES = {"name", "soc_name", "product", "family", "fused_cores", "sources"}

_CHIP = Chip(
    name="$chip",
    soc_name="$soc",
    product="$prefix",
    family=FAMILY,
    arch=1,
    core_num=4,
    core_num_aic=4,
    core_num_aiv=4,
    tiling_cores=4,
    fused_cores=True,
    ai_cpus=2,
    ub_bytes=64 << 10,
    l1_bytes=256 << 10,
    l0a_bytes=32 << 10,
    l0b_bytes=32 << 10,
    l0c_bytes=64 << 10,
    l2_bytes=1 << 20,
    memory_bytes=1 << 30,
    cube_mhz=1000,
    cube_flops_per_cycle=1024,
    ddr_bytes_per_cycle=16,
    prefetch_num=4,
    platform_prefetch_num=4,
    prefetch_depth=4,
    platform_prefetch_depth=4,
    model_task_update=True,
    sq_depth=256,
    usable_tasks=250,
    max_streams=16,
    max_events=64,
    max_notifies=16,
    persistent_tasks=2000,
    cqe_bytes=16,
)

CHIP = replace(_CHIP, sources={f.name: SOURCE for f in fields(Chip) if f.name not in _NO_FIGURES})
"""Four fused AI Cores, rings of 256 entries, 4 entries fetched ahead."""
'''

LAYOUTS = '''\
"""Layouts of family `$family`: three structs that the machine reads of every family, and one per kind of entry.

`@4` is byte 4; `name:8` is a field of 8 bits, `-` one without a meaning, `32*14` an array; behind `|` is what it means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import define

if TYPE_CHECKING:
    from formats import CStruct

FAMILY = "$family"

IDLE, FLAG = 1, 2
"""SQE types."""

RECORD, WAIT, CLEAR = range(3)
"""What an entry of type `FLAG` does."""

_HEADER = """
    @0   type:6  pre_p:1  wr_cqe:1  -:8  task_id:16
    @4   rt_stream_id:16  -:16
"""
_MEANINGS = {
    "type": "kind of the entry: 1 idle, 2 flag",
    "pre_p": "the firmware looks at the entry before it starts",
    "wr_cqe": "a completion entry is written when it is done",
    "task_id": "number of the entry in its stream",
    "rt_stream_id": "stream of the entry",
}


def _entry(name: str, kind: int, payload: str, note: str) -> CStruct:
    return define(
        FAMILY,
        name,
        64,
        _HEADER,
        payload,
        note=note,
        sqe_type=kind,
        match={"type": (kind,)},
        meanings=_MEANINGS,
        enums={"type": ""},
    )


STRUCTS = (
    define(FAMILY, "SqeHeader", 8, _HEADER, meanings=_MEANINGS, enums={"type": ""}),
    define(
        FAMILY,
        "CommonSqe",
        64,
        _HEADER,
        "@8 payload:32*14 | words of the kind",
        note="generic form",
        meanings=_MEANINGS,
        enums={"type": ""},
    ),
    define(
        FAMILY,
        "CqeError",
        16,
        """
        @0   phase:1  error_bit:1  sqe_type:6  error_type:8  sq_id:16
        @4   sq_head:16  sqe_index:16
        @8   stream_id:16  task_id:16
        @12  sq_sw_status:32
        """,
        note="every completion entry",
        enums={"sqe_type": "", "error_type": ""},
    ),
    _entry("${prefix}IdleSqe", IDLE, "@8 -:32*14", "does nothing, for a while"),
    _entry(
        "${prefix}FlagSqe",
        FLAG,
        """
        @8   action:8  -:24         | 0 record, 1 wait, 2 clear
        @12  flag:32                | number of the flag
        @16  -:32*12
        """,
        "records, waits for or clears a flag",
    ),
)
"""All layouts."""
'''

IDLE = '''\
"""Idle engine: an entry that only takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import Effect, Handler, Run

from .layouts import IDLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task


def _start(task: Task) -> Outcome:
    return Run(task.device.chip.latencies.nop_ns)


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of idle entries."""
    return (Handler("${plugin}_idle", "idle", IDLE, _start, effect=Effect.LOCAL),)
'''

FLAGS = '''\
"""Flag engine: record sets a flag, wait passes when it is set, clear clears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import DeviceFault, Effect, Handler, Run, Signal, Wait

from .layouts import CLEAR, FLAG, RECORD, WAIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task

STRUCT = "${prefix}FlagSqe"


def flag(number: int) -> Signal:
    """The flag of that number."""
    return Signal("$plugin flag", number)


def _flag_of(task: Task) -> Signal:
    number, limit = task.field(STRUCT, "flag"), task.device.chip.max_events
    if number >= limit:
        raise DeviceFault(
            f"there is no flag {number}",
            ts_code=0x4,
            id="$plugin.flag",
            remedy=f"use 0 to {limit - 1}",
        )
    return flag(number)


def _record(task: Task) -> Outcome:
    signal = _flag_of(task)
    return Run(
        task.device.chip.latencies.event_ns,
        lambda: task.device.scheduler.set_signal(signal, task),
        str(signal),
    )


def _wait(task: Task) -> Outcome:
    signal = _flag_of(task)
    if not task.device.signals.is_set(signal):
        return Wait(signal)
    task.passed(signal)
    return Run(0, detail=str(signal))


def _clear(task: Task) -> Outcome:
    signal = _flag_of(task)
    return Run(
        task.device.chip.latencies.write_value_ns,
        lambda: task.device.scheduler.clear_signal(signal, task),
        str(signal),
    )


def handlers(device: Device) -> Iterable[Handler]:
    """Three kinds of one SQE type, told apart by the field `action`."""
    number, select = device.layout(STRUCT).field("flag").read, (STRUCT, "action")

    def recorded(sqe: bytes) -> Signal:
        return flag(int(number(sqe)))

    return (
        Handler("${plugin}_flags", "record", FLAG, _record, RECORD, select, setter_of=recorded),
        Handler("${plugin}_flags", "wait", FLAG, _wait, WAIT, select),
        Handler("${plugin}_flags", "clear", FLAG, _clear, CLEAR, select, effect=Effect.SYNC),
    )
'''

TEXTS = '''\
"""What the ids of this package mean, for `sqemu explain`."""

from __future__ import annotations

EXPLANATIONS = {
    "$plugin.flag": "An entry names a flag that the chip does not have.\\ndo: use a number below its max_events.",
}
'''
