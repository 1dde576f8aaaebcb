"""What the machine notes in the log of the trace while policy `ordering` is `report`.

A record is (time, front, ORDERED, what, stream, slot, task, more…). Queues that run ahead need none: their steps are in
the log already (`emu_core.spans`). Stream -1 is the host.

| what | more | noted by |
|---|---|---|
| SET | key of the flag, its value then | `Scheduler.set_signal` |
| CLEAR, PASS | key of the flag | `Scheduler.clear_signal`, `Task.passed` |
| READ, WRITE, POLL | address, size | memory of tasks; `Device.write_cell`; `Contexts.patch` |
| START | | an entry that executes in a single step |
| ACTIVATE | stream that is activated | doorbells |
| JOIN | | the host waits for a stream, or for the record in the slot that is named |
| EPOCH | | the host starts over when all is done: nothing before matters any more |
"""

from __future__ import annotations

SET, CLEAR, PASS, READ, WRITE, POLL, START, ACTIVATE, JOIN, EPOCH = range(10)
WHAT, STREAM, SLOT, TASK, MORE = 3, 4, 5, 6, 7
"""Places in a record."""
