"""Condition engine: model execute as steps, everything else by executing its program.

**Model execute** (sub type 1, `device_semantics.md` 4.2): for each head stream in turn: it must be idle; if its queue
is enabled, head must equal tail and the queue is disabled; head becomes 0; the execution counter goes up; the queue is
activated. Any failed test ends the entry with "busy". Its real program reads register windows, which do not exist here.

**Programs** (sub types 0, 4 to 10, 24, 25): words 4 to 15 of the entry are instructions, which as a rule call a program
in device memory. They are executed when the entry starts (`emu_plugins.engines.condition_machine`); the orders to
queues are carried out when the time is up:

| order | of the own queue | of another one |
|---|---|---|
| goto | head moves there instead of to the next entry, and all is fetched again | it must be idle |
| activate | nothing | it must be idle; it starts at its head |
| deactivate | nothing more is executed after this entry | it stops before its next entry |

Gotos come first, then activations. A program that spins parks the stream until the memory it reads is written. The
float status (8) reads its overflow counter from a register, and the entry that resets a queue head (0) writes one
before it goes to entry 0: there are no registers, so they read 0 and keep nothing (policy `absent_hardware`).

**Absent hardware** (2, 3: network card; 11 to 23: data queues): policy `absent_hardware`. Any other number is
*undefined*: no source says what it does.

Work without end is not possible: each instruction is a step, and so is each entry gone over again, by a goto to an
earlier entry or by an activation from an activated queue. Steps are counted along a chain of activations, from the
last doorbell of the host, up to policy `condition_steps`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.errors import DeviceFault
from emu_core.memory import Space
from emu_core.signals import MEMORY, Signal
from emu_core.streams import State
from emu_plugins.engines.absent import POLICY, without_effect
from emu_plugins.engines.condition_machine import Machine, Spin
from emu_plugins.engines.credits import task_limit
from formats.enums import CONDITION_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream
    from emu_plugins.engines.condition_machine import Memory, Order

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
    8: "get_float_status",
    9: "memory_wait",
    10: "rdma_value_modify",
    24: "capture_condition",
    25: "capture_jump_back",
}
"""Kinds of entries whose program is executed, by sub type."""
WITH_REGISTERS = frozenset({0, 8})
"""Sub types whose programs use registers of the chip: reset of a queue head, float status."""
REGISTERS = range(1 << 32, Space.TS.value)
"""Addresses that are no memory but may be registers (`reference/sqe_formats.md` 1)."""
ABSENT = {
    **dict.fromkeys((2, 3), "a network card (RDMA)"),
    **dict.fromkeys(range(11, 24), "the data queues of MC62 and MC32"),
}
"""Sub types without an effect here, and the hardware they need."""
ORDERED = ("goto", "activate", "deactivate")
"""What is carried out first."""


def _start(task: Task) -> Outcome:
    model_id = task.field("FunctionCallSqe", "model_id")
    return Run(task.device.chip.latencies.condition_ns, lambda: _execute(task, model_id), f"model {model_id}")


def _charge(task: Task, steps: int) -> None:
    """Count steps of the chain that this entry belongs to; `DeviceFault` when there are too many."""
    stream, most = task.stream, int(task.device.policies["condition_steps"])
    stream.steps += steps
    if stream.steps > most:
        raise DeviceFault(
            f"a chain of activations has taken {stream.steps} condition steps: queues start each other for ever",
            ts_code=codes.ILLEGAL_PARAM,
            error_type=32,
            id="condition.loop",
            remedy="check who activates whom, or raise policy condition_steps",
        )


def _pass_on(task: Task, stream: Stream) -> None:
    """`stream` was just activated by `task`: it continues the chain, and what it goes over again counts."""
    again = stream.queue.pending if task.stream.steps > 1 else 0
    stream.steps = task.stream.steps + again


def _execute(task: Task, model_id: int) -> None:
    _charge(task, 1)
    model = task.device.models.get(model_id)
    if model is None:
        raise DeviceFault(f"there is no model {model_id}", ts_code=codes.ILLEGAL_PARAM, id="model.unknown")
    for stream in model.head_streams:
        _require_idle(stream, model_id)
        stream.queue.enabled = False
        stream.queue.head = 0
        task.device.scheduler.activate(stream, task)
        _pass_on(task, stream)


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


class _Registers:
    """Memory, and below it the registers of the chip: there are none, so they read 0 and keep nothing.

    With policy `absent_hardware` = `fault` an access to them is a memory fault.
    """

    def __init__(self, task: Task) -> None:
        self._memory = task.memory
        self._absent = task.device.policies[POLICY] != "fault"

    def _is_register(self, address: int) -> bool:
        return self._absent and address in REGISTERS

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes; 0 for registers."""
        return bytes(size) if self._is_register(address) else self._memory.poll(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Write `data`; nothing for registers."""
        if not self._is_register(address):
            self._memory.write(address, data)


def _with_registers(task: Task) -> Outcome:
    return _program(task, _Registers(task))


def _program(task: Task, memory: Memory | None = None) -> Outcome:
    device, stream = task.device, task.stream
    budget = int(device.policies["condition_steps"]) - stream.steps
    machine = Machine(memory or task.memory, stream.id, device.chip.family, budget)
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
        stream.steps += max(task.slot + 1 - order.head, 0)
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
    task.device.scheduler.ring_doorbell(stream, "activate", task)
    _pass_on(task, stream)


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


def _absent(task: Task) -> Outcome:
    sub_type = task.field(*SELECT)
    return without_effect(task, f"condition {CONDITION_TYPES[sub_type]}", ABSENT[sub_type])


def _other(task: Task) -> Outcome:
    raise DeviceFault(
        f"no source says what a condition entry with sub type {task.field(*SELECT)} does (undefined)",
        ts_code=codes.TASK_TYPE_NOT_SUPPORTED,
        error_type=8,
        id="sqe.unsupported",
        remedy=f"defined are 0 to {max(PROGRAMS)}",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 20."""
    return (
        *(
            Handler(
                "condition",
                kind,
                TYPE,
                _with_registers if sub_type in WITH_REGISTERS else _program,
                select=sub_type,
                select_field=SELECT,
                limit=task_limit,
            )
            for sub_type, kind in PROGRAMS.items()
        ),
        *(
            Handler("condition", CONDITION_TYPES[sub_type].lower(), TYPE, _absent, select=sub_type, select_field=SELECT)
            for sub_type in ABSENT
        ),
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
