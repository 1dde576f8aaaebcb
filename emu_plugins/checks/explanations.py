"""What each id of a finding means and what to do, for `sqemu explain`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "check.sink-unmatched": "An update needs exactly one tiling task and one kernel of its operator, and an operator "
    "with a tiling task needs an update.\n"
    "cause: A task list written by another tool, or changed by hand.\n"
    "do: Emit tiling task, wait, NOPs, kernel, update and record for each operator whose tiling sinks.",
    "check.sink-order": "The tasks of a sink sequence are in the wrong order: the loader needs tiling task, kernel and "
    "update in this order, and the event must be recorded behind the update.\n"
    "cause: Policy sink_run_order=picture, or a task list of another tool.\n"
    "do: Record behind the update; with the record first the kernel may start before its patch.",
    "check.sink-event": "The wait before a kernel and the record behind its update do not belong together.\n"
    "cause: Two different events, or both on one stream.\n"
    "do: Let the kernel's stream wait for the event that the attached stream records behind the update.",
    "check.sink-wait": "Between the wait for its tiling and a kernel stands something else than NOPs, or no wait at "
    "all.\n"
    "cause: A task list written by another tool.\n"
    "do: Put wait, NOPs and kernel next to each other on the kernel's stream.",
    "check.sink-stream": "The update is on another stream than its tiling task, or on that of its kernel.\n"
    "cause: A wrong attached stream.\n"
    "do: Put tiling task, update and record on the attached stream, wait, NOPs and kernel on the main one.",
    "check.sink-tiling-data": "The arguments of a kernel whose tiling sinks hold the address of its tiling data not "
    "exactly once, or not directly behind a workspace.\n"
    "cause: The args format was not rewritten for the sink.\n"
    "do: Write {tiling_context.tiling_data} directly behind the last {wsN*}.",
    "check.super-kernel": "A super kernel and the tiling tasks of its operators do not fit each other.\n"
    "cause: The program was edited: an argument or a tiling task is missing, comes too late, or names another event.\n"
    "do: Compile the graph again, or follow what the finding says.",
    "check.nop-distance": "A kernel stands so close behind its wait that it runs without its patch: it was fetched "
    "before (nop_model=window), or its event is not noticed yet (latency). It has the old key and block dim "
    "(hazard.stale-prefetch when it is run).\n"
    "cause: Too few NOPs, for example nop_count=platform on 910B4-1, which has none.\n"
    "do: Compile with the NOP count that the message names; it is the smallest that is safe.",
    "check.value-race": "A tiling task reads the value of a tensor, and nothing makes it wait for the kernel that "
    "writes it.\n"
    "cause: The producer's tiling sinks, too: events order the two tilings, not the kernel before the second tiling.\n"
    "do: Add an event from behind the producer's kernel, or let only one of the two operators sink.",
    "check.data-race": "A kernel reads a tensor, and nothing makes it wait for the kernel that writes it.\n"
    "cause: The two are on different streams without an event.\n"
    "do: Add an event from behind the producer's kernel to before the reader.",
    "check.wait-no-record": "A task waits for an event that no task of the program records.\n"
    "cause: A missing record, or a wrong event id.\n"
    "do: Record the event on another stream.",
    "check.record-no-wait": "A task records an event that no task of the program waits for.\n"
    "cause: A left-over, or a wrong event id of a wait.\n"
    "do: Drop the record, or correct the wait.",
    "check.deadlock": "Streams wait for each other in a circle, so no run of the program can end.\n"
    "cause: An event that is recorded behind a wait for something that itself needs the event.\n"
    "do: Break the circle: move one of the records before the wait of its stream.",
    "check.ub-layout": "The buffers that ChunkGatedDeltaRule makes of its compile-time tiling were laid out in UB "
    "as bytes, and one head was computed on them: none lies over another while it is needed. The bytes are those up "
    "to the end of the last buffer.\n"
    "do: Nothing.",
    "check.ub-overlap": "Two buffers of ChunkGatedDeltaRule lie over each other in UB while both are needed, or the "
    "last one passes its end; the device would compute with foreign bytes and say nothing.\n"
    "cause: Tiling key and tiling data of different tilings, a chip with less UB, or policy cgdr.defects.\n"
    "do: Compile the graph again for this chip.",
    "check.end-early": "The model reports its end while a stream may still have work.\n"
    "cause: The stream with the end of graph does not wait for the last task of another stream.\n"
    "do: Record an event behind that task and wait for it before the end.",
})  # fmt: skip
"""Meaning, cause and action by id."""
