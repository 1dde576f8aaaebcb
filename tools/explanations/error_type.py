"""Bits of the error type of a completion entry (`reference/device_semantics.md` 2.4); the lowest set bit decides."""

from __future__ import annotations

BITS = (
    ("task exception", "AI Core: TS 0x26, vector core: 0x31, AI CPU: 0x2A"),
    ("task trap", "AI Core: TS 0x27, vector core: 0x32, others: 0x104"),
    ("task timeout", "AI Core: TS 0x25, vector core: 0x30, AI CPU: 0x28"),
    ("SQE error", "TS 0x106, whatever the task was"),
    ("resource conflict", "counts as an exception of the task's kind"),
    ("software status", "the status word of the entry is the code itself"),
    ("warning", "no error; the task went on"),
)
"""(name, which TS code the task gets) by bit number."""
