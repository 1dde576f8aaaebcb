"""Failure mode stop with queues that are long enough to run ahead of single steps."""

from __future__ import annotations

import pytest

from emu_core.streams import State
from emu_core.trace import Trace

FILL = 300


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("kind", ["event_wait", "notify_wait"])
def test_mode_stop_releases_what_waits_in_long_queues(queues, kind, traced):
    """The error comes at 30 us, when one stream waits and one still runs; both stop at their waits."""
    bench = queues(failure_mode="stop")
    if not traced:
        bench.device.trace = Trace(())
    bad, waits, later = (bench.stream() for _ in range(3))
    for _ in range(FILL):
        bench.add(bad, "nop")
    bench.raw(bad, "CommonSqe", type=17)
    for stream, nops in ((waits, FILL - 100), (later, 2 * FILL)):
        for _ in range(nops):
            bench.add(stream, "nop")
        bench.add(stream, kind, 3)
        for _ in range(FILL):
            bench.add(stream, "nop")
    bench.run(bad, waits, later)
    assert [(s.state, s.queue.head) for s in (waits, later)] == [
        (State.SLOT_DISABLE, FILL - 100),
        (State.SLOT_DISABLE, 2 * FILL),
    ]
    assert [f"stream {s.id} " in line for s, line in zip((waits, later), bench.faults[0].consequences, strict=True)]
    assert bench.device.scheduler.deadlock([bad, waits, later]) is None
