"""Condition engine: model execute as steps, everything else by executing its program.

**Model execute** (sub type 1, `device_semantics.md` 4.2): for each head stream in turn: it must be idle; if its queue
is enabled, head must equal tail and the queue is disabled; head becomes 0; the execution counter goes up; the queue is
activated. Any failed test ends the entry with "busy". Its real program reads register windows, which do not exist here.

**Sub types 0, 4, 5, 6, 7, 9** (labels, stream switch, stream active, label switch, memory wait): words 4 to 15 of the
entry are a program, which as a rule calls one in device memory. It is executed when the entry starts
(`emu_plugins.engines.condition_machine`); its orders to queues are carried out when the time is up:

| order | of the own queue | of another one |
|---|---|---|
| goto | head moves there instead of to the next entry, and all is fetched again | it must be idle |
| activate | nothing | it must be idle; it starts at its head |
| deactivate | nothing more is executed after this entry | it stops before its next entry |

Gotos come first, then activations. A program that spins parks the stream until the memory it reads is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.errors import DeviceFault
from emu_core.signals import MEMORY, Signal
from emu_core.streams import State
from emu_plugins.engines.condition_machine import Machine, Spin
from emu_plugins.engines.credits import task_limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream
    from emu_plugins.engines.condition_machine import Order

TYPE = 20
MODEL_EXECUTE = 1
SELECT = ("FunctionCallSqe", "conds_sub_type")
INLINE_AT = 16
PROGRAMS = {
    0: "condition_inline",
    4: "stream_switch",
    5: "stream_switch_ex",
    6: "stream_active",
    7: "label_switch",
    9: "memory_wait",
}
"""Kinds of entries whose program is executed, by sub type."""
ORDERED = ("goto", "activate", "deactivate")
"""What is carried out first."""


def _start(task: Task) -> Outcome:
    model_id = task.field("FunctionCallSqe", "model_id")
    return Run(task.device.chip.latencies.condition_ns, lambda: _execute(task, model_id), f"model {model_id}")


def _execute(task: Task, model_id: int) -> None:
    model = task.device.models.get(model_id)
    if model is None:
        raise DeviceFault(f"there is no model {model_id}", ts_code=codes.ILLEGAL_PARAM, id="model.unknown")
    for stream in model.head_streams:
        _require_idle(stream, model_id)
        stream.queue.enabled = False
        stream.queue.head = 0
        task.device.scheduler.activate(stream)


def _require_idle(stream: Stream, model_id: int) -> None:
    queue = stream.queue
    if stream.state is State.IDLE and not (queue.enabled and queue.head != queue.tail):
        return
    raise DeviceFault(
        f"model {model_id} is busy: stream {stream.id} is in state {stream.state.name.lower()} with "
        f"head {queue.head} and tail {queue.tail}",
        ts_code=codes.ILLEGAL_PARAM,
        error_type=32,
        id="model.busy",
        remedy="wait for the execution before, or abort it",
    )


def _program(task: Task) -> Outcome:
    device, stream = task.device, task.stream
    budget = int(device.policies["condition_steps"]) - stream.steps
    machine = Machine(task.memory, stream.id, device.chip.family, budget)
    try:
        machine.run(task.sqe[INLINE_AT:])
    except Spin as spin:
        return Wait(Signal(MEMORY, spin.ranges[0][0]), ranges=spin.ranges)
    finally:
        stream.steps += machine.steps
    orders = sorted(machine.orders, key=lambda order: ORDERED.index(order.what))
    duration = device.chip.latencies.condition_ns + machine.delay_ns
    return Run(duration, lambda: _carry_out(task, orders), ", ".join(_words(order) for order in machine.orders))


def _words(order: Order) -> str:
    return f"{order.what} {order.queue}" + (f":{order.head}" if order.what == "goto" else "")


def _carry_out(task: Task, orders: list[Order]) -> None:
    for order in orders:
        stream = task.device.streams.get(order.queue)
        if stream is None:
            raise _bad_order(order, "there is no such queue")
        _DO[order.what](task, stream, order)


def _goto(task: Task, stream: Stream, order: Order) -> None:
    queue = stream.queue
    if order.head > queue.tail or (order.head == queue.tail and stream is not task.stream):
        raise _bad_order(order, f"its entries are 0 to {queue.tail - 1}")
    if stream is task.stream:
        stream.jump = order.head
        return
    if stream.state not in (State.IDLE, State.WAIT_SLOT):
        raise _bad_order(order, f"it is in state {stream.state.name.lower()}")
    stream.window.clear()
    queue.head = order.head
    if order.head == 0:
        stream.executed.clear()
        stream.last_wait = None


def _activate(task: Task, stream: Stream, order: Order) -> None:
    if stream is task.stream:
        return
    if stream.state is not State.IDLE:
        raise _bad_order(order, f"it is in state {stream.state.name.lower()}", codes.ACTIVE_REPEATED)
    stream.window.clear()
    task.device.scheduler.ring_doorbell(stream, "activate")


def _deactivate(_task: Task, stream: Stream, _order: Order) -> None:
    stream.queue.enabled = False


_DO = {"goto": _goto, "activate": _activate, "deactivate": _deactivate}


def _bad_order(order: Order, why: str, ts_code: int = codes.ILLEGAL_PARAM) -> DeviceFault:
    return DeviceFault(
        f"a condition orders {_words(order)}: {why}",
        ts_code=ts_code,
        error_type=32,
        id="condition.order",
        remedy="check the queue id and the entry that the program names",
    )


def _other(task: Task) -> Outcome:
    sub_type = task.field("FunctionCallSqe", "conds_sub_type")
    raise DeviceFault(
        f"a condition entry with sub type {sub_type} is unsupported here",
        ts_code=codes.TASK_TYPE_NOT_SUPPORTED,
        error_type=8,
        id="sqe.unsupported",
        remedy=f"model execute (1) and the sub types {', '.join(map(str, PROGRAMS))} are supported",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 20."""
    programs = [
        Handler("condition", kind, TYPE, _program, select=sub_type, select_field=SELECT, limit=task_limit)
        for sub_type, kind in PROGRAMS.items()
    ]
    return (
        *programs,
        Handler(
            "condition",
            "model_execute",
            TYPE,
            _start,
            select=MODEL_EXECUTE,
            select_field=SELECT,
            skips=2,
            limit=task_limit,
        ),
        Handler("condition", "condition", TYPE, _other),
    )
