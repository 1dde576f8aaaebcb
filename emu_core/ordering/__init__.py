"""What a program orders, and what it leaves to luck: vector clocks over streams and flags (policy `ordering=report`).

Virtual time shows one schedule. Another chip, or the same chip on another day, may show another: two entries of
different streams come in a fixed order only if a chain of flags, activations or host calls leads from one to the other.
This package follows those chains while a program runs, and reports pairs of entries that touch the same bytes without
one.

| what happens | clock of | becomes |
|---|---|---|
| an entry sets a flag | the flag | what the stream knows; then the stream's own count goes up by one |
| a wait passes | the stream | what it knew, and what *every* entry that set the flag since it was cleared knew |
| an entry activates a stream, the host rings a doorbell | that stream | what it knew, and what they know |
| an entry looks at a word that stands for a flag | its stream | what it knew, and what the writer of the word knows |
| the host waits for a stream | the host | what it knew, and what the stream knows |

| report | two entries that nothing orders |
|---|---|
| `hazard.unordered-access` | one writes bytes of a buffer that the other reads or writes |
| `hazard.update-inputs` | a task update reads a tiling cell that the other writes |
| `hazard.unordered-update` | one patches the entry that the other is |
| `hazard.lost-update` | both patch the same field of one entry, which does not execute in between |
| `hazard.flag-reuse` | a wait passes a flag that was set twice without a clear: any one of both may have let it pass |

| module | holds |
|---|---|
| `clocks` | vector clocks |
| `accesses` | who touched which bytes last |
| `records` | what the machine notes in its log when this is on |
| `observer` | reads the log, keeps clocks and accesses, reports |
| `words` | reports in words |

With the policy off nothing is noted: entries cost what they cost before.
"""

from emu_core.ordering.observer import Ordering

__all__ = ["Ordering"]
