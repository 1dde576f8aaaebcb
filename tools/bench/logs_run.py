"""A process of its own for the memory of log reading: reads a log and prints its own peak memory in KiB.

``python -m tools.bench.logs_run FILE``
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.capture.build import capture_of


def main(path: str) -> int:
    """Peak resident KiB of this process after reading `path`."""
    found = capture_of([path])
    assert found.lines
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    print(main(sys.argv[1]))
