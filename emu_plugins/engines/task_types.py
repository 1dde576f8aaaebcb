"""What a place holder of each task type does here (`reference/sqe_formats.md` 4.8 and 11).

The firmware looks at a place holder only with pre-P; without it the scheduler passes over the entry. With pre-P a task
type acts if the reference says what it changes on the device; every other one completes and is traced by name, for
the reason below.
"""

from __future__ import annotations

from types import MappingProxyType

ACTS = MappingProxyType({
    6: "forced recycle (sub type 0x67): the target's queue is emptied; else the host's bookkeeping",
    12: "operation 6 aborts the model: its streams stop, who waits for its end gets 0x10E; else bookkeeping",
    90: "copies memory, on chips without SDMA",
    101: "model task update, an engine of its own",
    103: "NOP",
    104: "command 0 empties the target's queue, command 1 resets a notify",
})  # fmt: skip
"""Task types that act, and how."""

COMPLETES = MappingProxyType({
    "has an entry kind of its own; sent as a place holder there is nothing left to do (a record that nobody waits for)":
        (0, 1, 2, 3, 5, 13, 14, 15, 18, 19, 24, 50, 51, 52, 53, 54, 55, 56, 66, 67, 68, 72, 108, 109, 113, 114),
    "a label, which conditions go to; the position is all there is to it": (20, 21, 22, 71, 75, 77),
    "profiling and tracing: no profiler is attached": (10, 23, 26, 27, 28, 31, 64, 65, 73, 74, 82),
    "dumps, debug registers and device messages: nothing is recorded": (8, 70, 78, 79, 80, 83, 84, 85, 87),
    "overflow detection and float status: nothing overflows here": (88, 89, 91),
    "bookkeeping of host and firmware about streams, models, task ids, versions and timeouts":
        (4, 7, 9, 11, 29, 69, 81, 86, 93, 94, 96, 97, 98, 102, 136, 137, 138, 139),
    "locks its queue, whose entries run in order anyway": (99,),
    "refreshes addresses or entries: the host does that before it starts a model": (57, 100),
    "needs hardware that is absent: network, links, data queues": (16, 17, 25, 30, 92, 95, 105, 106, 107, 115, 116, 117,
        118, 119, 120, 121, 122, 123, 124, 128, 129, 130, 131, 132),
    "belongs to chips with v200 entries, or to captured graphs, which the host resolves":
        (32, 110, 111, 112, 125, 126, 127, 133, 134, 135),
})  # fmt: skip
"""Task types that complete without an effect, by the reason."""

REASONS = MappingProxyType({number: why for why, numbers in COMPLETES.items() for number in numbers})
"""The reason by task type."""
