"""A process of its own for figure R21: runs entries on a device and prints its peak memory by the bytes of their rings.

``python -m tools.bench.memory_run 10000000``
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tools.bench.queues import Loaded, Shape, layouts

RING = 262_143
"""Entries that a ring of `edu-large` takes."""


def main(total: int) -> float:
    """Peak resident bytes of this process after running `total` entries, by 64 bytes for each of them."""
    few = Shape(1, 5_000, 50)
    block = few.units(0, layouts())
    loaded = Loaded([np.empty((0, 64), np.uint8)] * -(-total // RING))
    left = total
    for stream in loaded.streams:
        while left and stream.queue.tail < RING:
            count = min(left, RING - stream.queue.tail, len(block))
            stream.queue.extend(block[:count].reshape(-1))
            left -= count
    loaded.run()
    assert all(stream.queue.head == stream.queue.tail for stream in loaded.streams)
    return _peak_kib() * 1024 / (64 * total)


def _peak_kib() -> int:
    """Peak resident KiB of this program; what `getrusage` says includes the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    print(main(int(sys.argv[1])))
