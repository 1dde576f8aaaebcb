"""`sqemu run` on a disk without room: errors name the file, and what was there before stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "-m tools.cli run probe.json --inputs in3.npz --times 40 --quiet"
SMALL = 2
"""Blocks of 1 KiB that a file may have; each output below is larger."""


@pytest.fixture
def without_room(probe, monkeypatch):
    """Run the probe 40 times where no file may grow beyond 2 KiB; gives exit code and standard error."""
    if not os.environ.get("SQEMU_TEST_INSTALLED"):
        monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def run(options):
        line = f"ulimit -f {SMALL}; exec {sys.executable} {RUN} {options}"
        done = subprocess.run(
            ["bash", "-c", line], cwd=probe, capture_output=True, text=True, check=False, timeout=60
        )  # fmt: skip
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(("option", "name"), [("--trace", "k/t.jsonl"), ("--record", "k/r.sqr")])
def test_a_file_without_room_is_named_and_the_old_one_kept(without_room, probe, option, name):
    """One line names the file that cannot be written, the old file is as it was, and nothing else is left."""
    (probe / "k").mkdir()
    (probe / name).write_bytes(b"old")
    code, said = without_room(f"{option} {name}")
    assert code == 2
    assert said.startswith(f"error output.file: {name}: cannot be written: File too large; make room there")
    assert "Traceback" not in said
    assert [(p.name, p.read_bytes()) for p in (probe / "k").iterdir()] == [(Path(name).name, b"old")]


def test_ring_dumps_appear_together_or_not_at_all(without_room, probe):
    """Where one ring has no room (64 bytes for each of 40 NOPs), all rings that were dumped before stay."""
    for name in ("before", "after", "executed"):
        (probe / f"rings/0/sq0/{name}.bin").parent.mkdir(parents=True, exist_ok=True)
        (probe / f"rings/0/sq0/{name}.bin").write_bytes(b"old")
    before = {p: p.read_bytes() for p in (probe / "rings").rglob("*") if p.is_file()}
    code, said = without_room("--dump-rings rings --policy nop_count=40")
    assert (code, said.count("error output.file: rings/0/sq")) == (2, 1)
    assert {p: p.read_bytes() for p in (probe / "rings").rglob("*") if p.is_file()} == before
