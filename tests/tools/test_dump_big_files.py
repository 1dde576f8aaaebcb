"""Files larger than memory should be: mapped, shown in windows, anywhere at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from formats import BUILTIN
from tools.dump.data import Data, opened
from tools.dump.items import Gap, Reader, scan

NOP = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 103, "task_id": 2, "kernel_credit": 254})
SIZE = 4 << 30


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A file of 4 GiB that takes no room: an entry at the beginning, in the middle and at the end."""
    path = tmp_path_factory.mktemp("big") / "big.bin"
    with path.open("wb") as file:
        for at in (0, 3 << 30, SIZE - 64):
            file.seek(at)
            file.write(NOP)
    yield path
    path.unlink()


def measured(path, *arguments):
    """Output of the command in its own process, and the most memory it had, in MiB."""
    script = textwrap.dedent("""
        import os, resource, sys
        from tools.cli import main
        try:
            main(sys.argv[1:])
        finally:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
    """)
    command = [sys.executable, "-c", script, "dump", str(path), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return found.stdout.splitlines(), int(found.stderr.split()[-1])


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="memory is measured on Linux")
class TestMemory:
    def test_whole_file(self, sparse):
        """4 GiB are shown in less than 200 MiB: three entries and two gaps."""
        lines, most = measured(sparse, "--family", "v100")
        assert len(lines) == 3 + 5
        assert f"{(3 << 30) // 64 - 1} entries" in lines[4]
        assert most < 200

    def test_range(self, sparse):
        """A range far behind is shown without reading what is before."""
        middle = (3 << 30) // 64
        lines, most = measured(sparse, "--family", "v100", "--range", f"{middle}:{middle + 3}", "--compact")
        assert lines[2].startswith(f"stream 0 slot {middle} task 2 nop")
        assert len(lines) == 2 + 5 + 1
        assert most < 200

    def test_family_is_guessed_from_the_beginning(self, sparse):
        """Guessing looks at a bounded part."""
        assert "family v100 (guessed" in measured(sparse, "--range", "0:1")[0][0]


class TestScan:
    def test_gaps_over_windows(self, monkeypatch):
        """A gap that goes over several windows is one gap."""
        monkeypatch.setattr("tools.dump.items.WINDOW", 4)
        data = Data(NOP + bytes(64 * 10) + NOP)
        found = list(scan(Reader(BUILTIN, "v100"), data, 0, 12))
        assert [(i.first, i.last) if isinstance(i, Gap) else i.slot for i in found] == [0, (1, 10), 11]

    def test_tasks_over_windows(self, monkeypatch):
        """A task whose units lie in two windows is one task, also when its units are zeros."""
        monkeypatch.setattr("tools.dump.items.WINDOW", 2)
        first = BUILTIN.get("v200", "CcuSqe").build({"type": 16, "sqe_length": 2, "task_id": 7})
        data = Data(bytes(64) + first + bytes(128) + first)
        found = list(scan(Reader(BUILTIN, "v200"), data, 0, 5))
        assert [type(i).__name__ for i in found] == ["Gap", *["Entry"] * 4]
        assert [e.unit for e in found[1:]] == [0, 1, 2, 0]
        assert "2 further units, 0 are there" in found[4].decoded.notes[0]

    def test_closing(self, tmp_path):
        """A mapped file is given back when nobody looks at it, and kept while somebody does."""
        (tmp_path / "f").write_bytes(NOP)
        with opened(str(tmp_path / "f")) as data:
            kept = memoryview(data.view)
        assert bytes(kept) == NOP
        with opened(str(tmp_path / "f")) as data:
            assert len(data) == 64


def test_huge_numbers_in_a_range(sqemu, tmp_path):
    """A range whose end is beyond everything ends with the file."""
    (tmp_path / "f").write_bytes(NOP * 3)
    out = sqemu("dump", tmp_path / "f", "--range", f"1:{1 << 70}").out
    assert len(out.splitlines()) == 3 + 2
