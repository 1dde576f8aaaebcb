"""Files larger than memory should be: mapped, shown in windows, anywhere at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from formats import BUILTIN
from tools.dump.data import Data, opened
from tools.dump.items import Gap, Reader, picked, scan
from tools.dump.selection import Selection

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
        import re, sys
        from pathlib import Path
        from tools.cli import main
        try:
            main(sys.argv[1:])
        finally:
            peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
            print(int(peak) // 1024, file=sys.stderr)
    """)
    command = [sys.executable, "-c", script, "dump", str(path), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return found.stdout.splitlines(), int(found.stderr.split()[-1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured on Linux")
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

    def test_one_stream(self, sparse):
        """Entries of a stream are found without decoding the others."""
        lines, most = measured(sparse, "--family", "v100", "--task", "2", "--kind", "nop")
        assert len(lines) == 3 + 3
        assert most < 200

    def test_family_is_guessed_from_the_beginning(self, sparse):
        """Guessing looks at a bounded part."""
        assert "family v100 (guessed" in measured(sparse, "--range", "0:1")[0][0]


class TestScan:
    def test_picked_by_their_headers(self):
        """Entries of some streams and tasks are those that a whole walk finds, also over holes and windows."""
        build = BUILTIN.get("v100", "EventWaitSqe").build
        made = [build({"type": 5, "rt_stream_id": n % 5 | 0x8000 * (n % 2), "task_id": n % 7}) for n in range(300)]
        made[40:60] = [bytes(64)] * 20
        data, reader = Data(b"".join(made)), Reader(BUILTIN, "v100")
        for streams, tasks in (({1, 3}, set()), (set(), {2, 9}), ({0}, {0, 1}), ({77}, set())):
            chosen = Selection(frozenset(streams), frozenset(tasks))
            wanted = [e for e in chosen.of(scan(reader, data, 3, 290)) if not isinstance(e, Gap)]
            assert list(picked(reader, data, 3, 290, chosen.streams, chosen.tasks)) == wanted

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
