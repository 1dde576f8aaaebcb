"""What model task updates of all families do alike: refusals and their policies, cells, targets, order.

Nobody outside the vendor can see what the firmware does with a bad update; `reference/device_semantics.md` 5.8 offers
two readings, an error completion or the old values, so each refusal names the policy that decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.journal import Writer
from emu_core.memory import MemoryFault
from emu_core.streams import State
from emu_plugins.engines.place_holders import SELECT, TYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from emu_core.engines import Task
    from emu_core.streams import Stream
    from emu_plugins.engines.task_update_table import Wanted

    T = TypeVar("T")

KEY_POLICY, DIM_POLICY, TARGET_POLICY = "update_unknown_key", "update_bad_block_dim", "update_bad_target"
STRUCT = "PhModelTaskUpdateSqe"
ENGINE, UPDATE = "task_update", 101
LAUNCH_FIRST = "the update must name a kernel that was launched before"
SOFTWARE_STATUS = 32


class Refused(Exception):  # noqa: N818 - an answer among the steps of an update, not an error
    """A step that cannot go on: the policy that decides, and why; `error_type` is the completion's error bit."""

    def __init__(self, policy: str, id: str, what: str, remedy: str, error_type: int = SOFTWARE_STATUS) -> None:  # noqa: A002 - see SqemuError
        self.policy = policy
        self.id = id
        self.what = what
        self.remedy = remedy
        self.error_type = error_type
        super().__init__(what)


def handler(update: Callable[[Task], None]) -> Handler:
    """The handler of task type 101 on a family whose updates do `update`."""

    def start(task: Task) -> Outcome:
        target = f"target {task.field(STRUCT, 'des_stream_id')}:{task.field(STRUCT, 'des_task_id')}"
        return Run(task.device.chip.latencies.update_ns, lambda: answer(task, update), target)

    return Handler(
        ENGINE,
        ENGINE,
        TYPE,
        start,
        select=UPDATE,
        select_field=SELECT,
        effect=Effect.MEMORY,
        exception_code=codes.ILLEGAL_PARAM,
    )


def writer_of(task: Task) -> Writer:
    """What the journal says of a patch by the update `task`."""
    return Writer(task.stream.id, task.task_id, ENGINE)


def patch_target(task: Task, stream: Stream, slot: int, values: Mapping[str, int], struct: str, wanted: Wanted) -> None:
    """Write `values` to the fields of layout `struct` of the target, as the row of the table in `wanted` says."""
    device = task.device
    device.patch_sqe(
        stream.id,
        slot,
        values,
        device.layout(struct),
        writer_of(task),
        tiling_key=wanted.key,
        table_row=wanted.row,
    )


def no_kernel(place: str) -> Refused:
    """The refusal of a target that is none (`update.target-kind`)."""
    return Refused(TARGET_POLICY, "update.target-kind", f"the target {place} is no AI Core kernel", LAUNCH_FIRST)


def answer(task: Task, update: Callable[[Task], None]) -> None:
    """Run `update(task)`; a refusal becomes a fault, or a hazard and nothing changes, as its policy says.

    Raises:
        DeviceFault: a refusal whose policy is `fault` (TS 0x4).
    """
    try:
        update(task)
    except Refused as refused:
        if task.device.policies[refused.policy] == "fault":
            raise DeviceFault(
                refused.what,
                ts_code=codes.ILLEGAL_PARAM,
                error_type=refused.error_type,
                id=refused.id,
                remedy=refused.remedy,
            ) from None
        task.device.hazard(task, refused.id, f"{refused.what}; the old values stay", refused.remedy)


def readable(policy: str, what: str, align: int, address: int, read: Callable[[int], T]) -> T:
    """`read(address)` of what an update's entry points at.

    Raises:
        Refused: it is not aligned (`update.alignment`), or not in device memory (the memory fault's own id).
    """
    if address % align:
        raise Refused(
            policy,
            "update.alignment",
            f"the {what} at {address:#x} is not aligned to {align} bytes",
            "the loader places it aligned; look at what changed the entry of the update",
        )
    try:
        return read(address)
    except MemoryFault as fault:
        raise Refused(
            policy,
            fault.id,
            f"the {what} cannot be read: {fault.what}",
            "the entry of the update must point into device memory that is in use",
            error_type=1,
        ) from None


def find_target(task: Task) -> tuple[Stream, int, str]:
    """Stream and slot of the task that an update names, and both ids in words.

    Raises:
        Refused: it is in no ring (`update.target-missing`).
    """
    stream_id, task_id = task.field(STRUCT, "des_stream_id"), task.field(STRUCT, "des_task_id")
    stream = task.device.streams.get(stream_id)
    slot = stream.queue.slot_of.get(task_id) if stream else None
    place = f"stream {stream_id} task {task_id}"
    if stream is None or slot is None:
        raise Refused(TARGET_POLICY, "update.target-missing", f"the target {place} is in no ring", LAUNCH_FIRST)
    return stream, slot, place


def check_order(task: Task, stream: Stream, slot: int) -> None:
    """A target that has started is a hazard, a fault or nothing, by policy `update_after_consume`.

    Raises:
        DeviceFault: the policy is `fault` (`update.after-consume`, TS 0x98).
    """
    queue = stream.queue
    running = slot == queue.head and stream.state in (State.WORKING, State.SLOT_DISABLE)
    if stream.model_id is None or not (running or (slot < queue.head)):
        return
    policy = task.device.policies["update_after_consume"]
    what = f"the target stream {stream.id} slot {slot} had started before it was patched"
    remedy = (
        "let the kernel wait for an event that is recorded behind the update, and reset it after the wait: a flag left "
        "from an earlier execution lets it pass at once"
    )
    if policy == "fault":
        raise DeviceFault(
            what,
            ts_code=codes.TRANS_SQE_FAILED,
            error_type=SOFTWARE_STATUS,
            id="update.after-consume",
            remedy=remedy,
        )
    if policy == "hazard":
        task.device.hazard(task, "update.after-consume", what, remedy, target_stream=stream.id, target_slot=slot)
