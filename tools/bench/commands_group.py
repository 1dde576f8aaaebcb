"""Figures of whole commands: annotated dump against hex dumpers, start-up against a bare interpreter."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from formats import get
from tools.bench.pairs import Pair, PeerMissingError, Side, UnequalError

if TYPE_CHECKING:
    from collections.abc import Sequence

ENTRIES = 250_000
LINES_PER_SQE = 4


def _ring_file(folder: Path) -> Path:
    """A file of kernel entries with counting ids."""
    kernel = get("v100", "AicoreKernelSqe")
    path = folder / "ring.bin"
    entries = [
        kernel.build(
            {"block_dim": i % 40 + 1, "task_id": i, "pc_addr": 0x12C0_4000_0000 + 64 * i, "kernel_credit": 254}
        )
        for i in range(1024)
    ]
    path.write_bytes(b"".join(entries) * (ENTRIES // 1024))
    return path


def _quiet(command: Sequence[str]) -> int:
    """Run `command`, throw its output away; `UnequalError` when it fails."""
    code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603 - our own arguments
    if code:
        raise UnequalError(f"{' '.join(command)} ended with {code}")
    return code


def _lines(command: Sequence[str]) -> int:
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603 - our own arguments
    return found.stdout.count(b"\n")


def _installed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PeerMissingError(f"{name} is not installed")
    return found


def _sqemu(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tools.cli", *arguments]


def annotated_dump(peer: str, *flags: str) -> tuple[Side, Side]:
    """R16: lines per second of `dump --fields --compact`."""
    program = _installed(peer)
    folder = Path(tempfile.mkdtemp(prefix="sqemu-bench-"))
    path = str(_ring_file(folder))
    theirs, ours = [program, *flags, path], _sqemu("dump", "--fields", "--compact", "--family", "v100", path)
    return Side(lambda: _quiet(theirs), _lines(theirs)), Side(lambda: _quiet(ours), _lines(ours))


def help_text() -> tuple[Side, Side]:
    """R18: start of the command for its help."""
    bare = [sys.executable, "-c", "pass"]
    return Side(lambda: _quiet(bare), 1), Side(lambda: _quiet(_sqemu("--help")), 1)


def small_dump() -> tuple[Side, Side]:
    """R18: a dump of one entry, against importing what it cannot do without."""
    folder = Path(tempfile.mkdtemp(prefix="sqemu-bench-"))
    path = folder / "one.bin"
    path.write_bytes(get("v100", "AicoreKernelSqe").build({"block_dim": 1}))
    imports = [sys.executable, "-c", "import numpy, construct"]
    ours = _sqemu("dump", "--family", "v100", str(path))
    return Side(lambda: _quiet(imports), 1), Side(lambda: _quiet(ours), 1)


PAIRS = (
    Pair(
        "R16", "annotated dump, lines", "hexdump -C -v", 5, 10, lambda: annotated_dump("hexdump", "-C", "-v"), rounds=3
    ),
    Pair("R16-xxd", "annotated dump, lines", "xxd", 0.5, 0.85, lambda: annotated_dump("xxd"), rounds=3),
    Pair("R18", "sqemu --help, time", "python -c pass", 5, 3, help_text, rounds=7, largest=True),
    Pair(
        "R18-dump", "dump of one SQE, time", "python -c 'import numpy, construct'", 1.35, 1.15, small_dump, largest=True
    ),
)
