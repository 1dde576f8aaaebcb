"""Processor time: of this process and its children, and of the whole machine, to tell foreign load."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _own_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _machine_seconds() -> float | None:
    """Busy seconds of all processors: user, nice, system, irq, softirq, steal; None where the kernel does not tell."""
    try:
        words = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    ticks = [int(w) for w in words[1:9]]
    return sum(ticks[i] for i in (0, 1, 2, 5, 6, 7)) / _TICKS


@dataclass(frozen=True)
class Mark:
    """A point in time with the processor seconds used up to it."""

    wall: float
    own: float
    machine: float | None

    @classmethod
    def now(cls) -> Mark:
        """This moment."""
        return cls(time.perf_counter(), _own_seconds(), _machine_seconds())

    def foreign_since(self) -> float:
        """Cores that others kept busy since this mark, on average; 0 where the kernel does not tell."""
        now = Mark.now()
        if self.machine is None or now.machine is None:
            return 0.0
        wall = max(now.wall - self.wall, 1e-9)
        return max((now.machine - self.machine - (now.own - self.own)) / wall, 0.0)
