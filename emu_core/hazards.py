"""What runs and may be wrong: stale fetches, patches of earlier runs, reads of bytes that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.errors import DeviceFault

if TYPE_CHECKING:
    from emu_core.engines import Task
    from emu_core.streams import Stream


def stale(task: Task, ring: bytes) -> DeviceFault | None:
    """Report an entry that was rewritten after its fetch; the fault if policy `stale_prefetch` asks for one."""
    device = task.device
    policy = device.policies["stale_prefetch"]
    if policy == "refetch":
        return None
    decoded = device.host.registry.decode(device.chip.family, ring)
    old = device.host.registry.decode(device.chip.family, task.sqe).values
    changed = [f.name for f in decoded.struct.fields if old.get(f.name) != decoded.values[f.name]]
    runs = "this is refused" if policy == "fault" else "the fetched copy runs"
    what = f"the entry in slot {task.slot} was rewritten after it was fetched ({', '.join(changed)}); {runs}"
    remedy, detail = _distance(task.stream, task.slot)
    if policy == "fault":
        return DeviceFault(what, ts_code=codes.SQE_ERROR, error_type=8, id="hazard.stale-prefetch", remedy=remedy)
    device.hazard(task, "hazard.stale-prefetch", what, remedy, **detail)
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


def _distance(stream: Stream, slot: int) -> tuple[str, dict[str, int]]:
    """How far `slot` lies past the wait at which the stream was held, what is missing, and both as numbers."""
    depth = stream.window.depth
    if stream.last_wait is None or stream.last_wait >= slot:
        return "rewrite the entry before it is fetched", {"slot": slot, "prefetch_depth": depth}
    distance = slot - stream.last_wait
    missing = depth + 1 - distance
    remedy = (
        f"it lies {distance} entries past the wait in slot {stream.last_wait}, within the prefetch depth {depth}: put "
        f"{missing} more NOP{'s' * (missing != 1)} in between (policy nop_count)"
    )
    return remedy, {"slot": slot, "prefetch_depth": depth, "distance": distance, "missing": missing}
