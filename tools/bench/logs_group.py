"""Figures of log reading: bytes per second on lines without a fact, against `grep -c` of the same literals; memory.

Both sides read the same file from the page cache: runtime lines at level INFO, with one fault at the end, which both
must find. The product reads it as `sqemu postmortem` does, up to the capture.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tools.bench.pairs import Pair, PeerMissingError, Side, UnequalError
from tools.capture.anchors import ANCHORS
from tools.capture.build import capture_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20
SIZE = 64 * MIB
"""Bytes of the log that is timed."""
SMALL, LARGE = 16 * MIB, 256 * MIB
"""Bytes of the logs whose memory is compared."""
LEAST_RATE = 50e6
"""Bytes per second that reading must reach."""

_FAULT = (
    "[ERROR] RUNTIME(7,python3):2026-01-02-10:00:59.999.999 [stars_engine.cc:1]7 Report:Task run failed, device_id=0, "
    "stream_id=3, task_id=4, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0\n"
)


def _lines() -> Iterator[str]:
    """Lines of a host that works."""
    for k in range(4096):
        yield (
            f"[INFO] RUNTIME({k % 7919},python3):2026-01-02-10:00:{k % 60:02d}.{k % 1000:03d}.{k * 7 % 1000:03d} "
            f"[stream.cc:{k % 1500}]{k * 31 % 99991} LaunchKernel:kernel launched, device_id={k % 8}, "
            f"stream_id={k % 64}, task_id={k}, flip_num=0, kernel_name=MatMul_{k * 2654435761 % 2**32:08x}, "
            f"addr=0x{k * 40503:x}\n"
        )


def _log(folder: Path, size: int) -> str:
    """A log of about `size` bytes with one fault at its end."""
    block = "".join(_lines()).encode()
    path = folder / f"{size}.log"
    with path.open("wb") as file:
        for _ in range(max(size // len(block), 1)):
            file.write(block)
        file.write(_FAULT.encode())
    return str(path)


def _grep(command: list[str]) -> int:
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own arguments
    return int(done.stdout or b"0")


def reading() -> tuple[Side, Side]:
    """R22: bytes per second of reading a log."""
    grep = shutil.which("grep")
    if grep is None:
        raise PeerMissingError("grep is not installed")
    path = _log(Path(tempfile.mkdtemp(prefix="sqemu-bench-")), SIZE)
    patterns = [part for anchor, _ in ANCHORS for part in ("-e", anchor.decode())]
    command = [grep, "-c", "-F", *patterns, path]
    if _grep(command) != 1 or len(capture_of([path]).faults) != 1:
        raise UnequalError("grep and the product do not find the one fault")
    size = Path(path).stat().st_size
    return Side(lambda: _grep(command), size), Side(lambda: capture_of([path]), size)


def rate() -> float:
    """Bytes per second of reading a log, by `LEAST_RATE`; the best of three."""
    path = _log(Path(tempfile.mkdtemp(prefix="sqemu-bench-")), SIZE)
    size = Path(path).stat().st_size
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        capture_of([path])
        best = max(best, size / (time.perf_counter() - start))
    return best / LEAST_RATE


def memory() -> float:
    """Peak memory of reading a log of `LARGE` bytes, by that of one of `SMALL` bytes."""
    folder = Path(tempfile.mkdtemp(prefix="sqemu-bench-"))
    return _peak(_log(folder, LARGE)) / _peak(_log(folder, SMALL))


def _peak(path: str) -> int:
    command = [sys.executable, "-m", "tools.bench.logs_run", path]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603 - our own arguments


PAIRS = (
    Pair("R22", "log without a fact, bytes", "grep -c -F of the same literals", 0.3, 0.6, reading, rounds=5),
    Pair("log-rate", "log without a fact, bytes per second", "50 MB/s", 1, 2, quotient=rate),
    Pair("log-memory", "peak memory, 256 MiB of log", "the same with 16 MiB", 1.1, 1.02, quotient=memory, largest=True),
)
