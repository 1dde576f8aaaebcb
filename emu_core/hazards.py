"""What runs and may be wrong: stale fetches, patches of earlier runs, reads of bytes that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes, units
from emu_core.errors import DeviceFault
from emu_core.rings import SQE_BYTES

if TYPE_CHECKING:
    from emu_core.engines import Task


def stale(task: Task, ring: bytes) -> DeviceFault | None:
    """Report an entry that was rewritten after its fetch; the fault if policy `stale_prefetch` asks for one."""
    device = task.device
    policy = device.policies["stale_prefetch"]
    if policy == "refetch":
        return None
    decoded = device.host.registry.decode(device.chip.family, ring[:SQE_BYTES])
    old = device.host.registry.decode(device.chip.family, task.sqe).values
    changed = [f.name for f in decoded.struct.fields if old.get(f.name) != decoded.values[f.name]]
    changed += units.changed(task, ring)
    runs = "this is refused" if policy == "fault" else "the fetched copy runs"
    what = f"the entry in slot {task.slot} was rewritten after it was fetched ({', '.join(changed)}); {runs}"
    remedy, detail = _distance(task)
    if policy == "fault":
        return DeviceFault(what, ts_code=codes.SQE_ERROR, error_type=8, id="hazard.stale-prefetch", remedy=remedy)
    device.hazard(task, "hazard.stale-prefetch", what, remedy, **detail)
    return None


def stale_context(task: Task, address: int, changed: list[str]) -> DeviceFault | None:
    """Report a context that was rewritten after it was fetched with its entry; the fault if `stale_prefetch` says so.

    Args:
        task: the entry that points at the context. address: the context. changed: fields that differ.
    """
    policy = task.device.policies["stale_prefetch"]
    runs = "this is refused" if policy == "fault" else "the fetched copy runs"
    what = (
        f"the context at {address:#x} of the entry in slot {task.slot} was rewritten after it was fetched "
        f"({', '.join(changed)}); {runs}"
    )
    remedy, detail = _distance(task)
    if policy == "fault":
        return DeviceFault(what, ts_code=codes.SQE_ERROR, error_type=8, id="hazard.stale-prefetch", remedy=remedy)
    task.device.hazard(task, "hazard.stale-prefetch", what, remedy, **detail, context=address)
    return None


def silent_reuse(task: Task, patched: int) -> None:
    """Report an entry that runs with what execution `patched` wrote into it."""
    task.device.hazard(
        task,
        "hazard.silent-reuse",
        f"no update reached this entry in run {task.run}; it runs with the values patched in run {patched}",
        "check that the update task of this operator ran before the kernel",
        patched_in_run=patched,
    )


def unwritten(task: Task, address: int, size: int, label: str) -> None:
    """Report a read of bytes that nobody wrote; `DeviceFault` if policy `uninitialised_read` asks for one."""
    policy = task.device.policies["uninitialised_read"]
    what = f"reads {size} bytes at {address:#x} ({label}) that nobody wrote"
    remedy = "check which task should have written them, and that it comes first"
    if policy == "fault":
        raise DeviceFault(what, ts_code=0, id="hazard.uninitialised-read", remedy=remedy)
    if policy == "hazard":
        task.device.hazard(task, "hazard.uninitialised-read", what, remedy, address=address, size=size)


def _distance(task: Task) -> tuple[str, dict[str, int]]:
    """How far the entry lies past the wait at which its queue was held, what is missing, and both as numbers."""
    stream, slot, window = task.stream, task.slot, task.stream.window
    facts = {"slot": slot, "prefetch_depth": window.depth}
    if stream.last_wait is None or stream.last_wait >= slot:
        return "rewrite the entry before it is fetched", facts
    distance, left = slot - stream.last_wait, window.notice_left_ns
    by_time = -(-left // max(task.device.chip.latencies.nop_ns, 1))
    missing = max(window.depth + 1 - distance, by_time)
    reasons = [f"within the prefetch depth {window.depth}"] if distance <= window.depth else []
    if left:
        reasons.append(f"{left} ns before the event is noticed")
        facts["notice_left_ns"] = left
    remedy = (
        f"it lies {distance} entries past the wait in slot {stream.last_wait}, {' and '.join(reasons)}: put "
        f"{missing} more NOP{'s' * (missing != 1)} in between (policy nop_count)"
    )
    return remedy, {**facts, "distance": distance, "missing": missing}
