"""Group `logs` of `sqemu bench`: both sides see the same fault, and the sizes are those of the file."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tools.bench import logs_group
from tools.bench.pairs import UnequalError


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A log of one block instead of many."""
    monkeypatch.setattr(logs_group, "SIZE", 1)


@pytest.mark.skipif(shutil.which("grep") is None, reason="grep is the peer")
class TestReading:
    def test_sides_agree(self):
        """The peer counts one line, the product one fault, in as many bytes."""
        peer, product = logs_group.reading()
        assert peer.call() == 1
        assert len(product.call().faults) == 1
        assert peer.items == product.items > 500_000

    def test_unequal(self, monkeypatch):
        """When the fault is missing nothing is measured."""
        monkeypatch.setattr(logs_group, "_FAULT", "")
        with pytest.raises(UnequalError):
            logs_group.reading()


def test_rate_is_by_fifty_megabytes(monkeypatch):
    """The rate is the best of three, by 50 MB/s: bytes of the file in half a second."""
    moments = iter([0.0, 2.0, 10.0, 10.5, 20.0, 21.0])
    monkeypatch.setattr(logs_group.time, "perf_counter", lambda: next(moments))
    size = len("".join(logs_group._lines())) + len(logs_group._FAULT)
    assert logs_group.rate() == pytest.approx(size / 0.5 / 50e6)


def test_memory_of_a_process(tmp_path):
    """The process of its own prints its peak in KiB."""
    (tmp_path / "a.log").write_text("x\n")
    command = [sys.executable, "-m", "tools.bench.logs_run", str(tmp_path / "a.log")]
    assert 10_000 < int(subprocess.run(command, capture_output=True, check=True).stdout) < 1_000_000
