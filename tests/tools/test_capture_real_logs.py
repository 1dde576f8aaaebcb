"""Samples of real firmware logs, read: ids, words, registers, and the lines that they came from."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest

from formats import BUILTIN
from tools.capture.build import addresses_of, capture_of, family_of
from tools.files import opened_binary, unreadable

LOGS = Path(__file__).parents[1] / "data" / "logs"
ONE_LINE = LOGS / "firmware_one_line_910b.txt"
WORD_PER_LINE = LOGS / "firmware_word_per_line.txt"


def values(sqe):
    """Fields of a v100 entry."""
    return BUILTIN.decode("v100", sqe.raw).values


class TestOneLine:
    @pytest.fixture
    def capture(self):
        """The file with 16 words on one line."""
        return capture_of([str(ONE_LINE)])

    def test_three_faults(self, capture):
        """Each of the three faults is one, although two have the same ids."""
        assert [(f.stream, f.task) for f in sorted(capture.faults, key=lambda f: f.records[0].stamp)] == [
            (2, 0), (2, 1), (2, 1)
        ]  # fmt: skip

    def test_entries(self, capture):
        """The entries have the ids, blocks, credits and the core type that the sample's note states."""
        found = [(s.stream, s.task, values(s)["block_dim"], values(s)["kernel_credit"]) for s in capture.sqes]
        assert found == [(2, 0, 2, 254), (2, 1, 2, 254), (2, 1, 48, 128)]
        assert {values(s)["ffts_type"] for s in capture.sqes} == {1}
        assert family_of(capture.sqes, capture.dialect) == "v100"

    def test_each_fault_has_its_own_entry(self, capture):
        """The entry of a fault is the one dumped at its time: 48 blocks belong to the last."""
        faults = sorted(capture.faults, key=lambda f: f.records[0].stamp)
        assert [values(f.sqe)["block_dim"] for f in faults] == [2, 2, 48]

    def test_lines(self, capture):
        """An entry names the head line and the line of its words."""
        assert [[ref.line for ref in s.refs] for s in capture.sqes] == [[2, 3], [5, 6], [8, 9]]

    def test_error_type_is_no_completion(self, capture):
        """The class of the interrupt stays a value of the queue's line; there is no completion report in the file."""
        assert [r.number("error_type") for r in capture.of("interrupt")] == [8, 8, 8]
        assert capture.of("cqe") == ()


class TestWordPerLine:
    @pytest.fixture
    def capture(self):
        """The file with a word per line."""
        return capture_of([str(WORD_PER_LINE)])

    def test_entry_is_whole(self, capture):
        """Sixteen lines make one entry of 10 blocks, lines 2 to 18."""
        (sqe,) = capture.sqes
        assert sqe.whole
        assert values(sqe)["block_dim"] == 10
        assert [ref.line for ref in sqe.refs] == list(range(2, 19))

    def test_addresses_are_those_of_the_core(self, capture):
        """pc_addr is PC_START and param_addr is PARA_BASE, as the note states."""
        (sqe,), (core,) = capture.sqes, capture.cores
        assert addresses_of("v100")(sqe) == (0x1240C0018874, 0x124180000000)
        assert (core.pc_start, core.para_base) == (0x1240C0018874, 0x124180000000)

    def test_registers(self, capture):
        """All 21 registers are there, with the error bits and the corrected address of the error."""
        (core,) = capture.cores
        assert len(core.registers) == 21
        assert (core.registers["AIC_ERROR0"], core.registers["AIC_ERROR2"]) == (0x800000, 0x4000)
        assert core.registers["TASK_CFG"] == 0xDEADBEEF40000000
        assert core.error_pc == 0x1240C00188D0

    def test_core_belongs_to_the_fault(self, capture):
        """The registers belong to the one fault of the file."""
        (fault,) = capture.faults
        assert fault.cores == capture.cores

    def test_everything_else_is_known(self, capture):
        """Of 65 lines only the three are passed over that the grammar does not want."""
        told = {r.ref.line for r in capture.records}
        assert sorted(set(range(1, 66)) - told) == [37, 39, 65]


def facts(capture):
    """What a capture says, without lines and files."""
    return (
        sorted((s.stream, s.task, s.raw, s.side) for s in capture.sqes),
        sorted((f.stream, f.task, len(f.records), len(f.cores)) for f in capture.faults),
        [dict(c.registers) for c in capture.cores],
    )


class TestFiles:
    def test_folder(self, tmp_path):
        """A folder is read with all its files, below it, too; what is no text is passed over."""
        (tmp_path / "deep" / "er").mkdir(parents=True)
        shutil.copy(ONE_LINE, tmp_path / "deep")
        shutil.copy(WORD_PER_LINE, tmp_path / "deep" / "er")
        (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(1000))
        assert facts(capture_of([str(tmp_path)])) == facts(capture_of([str(ONE_LINE), str(WORD_PER_LINE)]))

    def test_gzip(self, tmp_path):
        """A gzip file says the same as what it unpacks to."""
        packed = tmp_path / "a.log.1.gz"
        packed.write_bytes(gzip.compress(WORD_PER_LINE.read_bytes()))
        assert facts(capture_of([str(packed)])) == facts(capture_of([str(WORD_PER_LINE)]))

    def test_same_lines_twice(self, tmp_path):
        """A file and its copy count once, and that is said."""
        shutil.copy(ONE_LINE, tmp_path / "a.log")
        (tmp_path / "b.log.gz").write_bytes(gzip.compress(ONE_LINE.read_bytes()))
        found = capture_of([str(tmp_path)])
        assert facts(found) == facts(capture_of([str(ONE_LINE)]))
        assert found.notes == ("9 lines were in several files, and count once",)

    def test_rotated_in_the_middle_of_an_entry(self, tmp_path):
        """An entry whose words lie in two rotated files is whole."""
        lines = WORD_PER_LINE.read_text().splitlines(keepends=True)
        (tmp_path / "fw.log.1").write_text("".join(lines[:9]))
        (tmp_path / "fw.log").write_text("".join(lines[9:]))
        assert facts(capture_of([str(tmp_path)])) == facts(capture_of([str(WORD_PER_LINE)]))

    def test_damaged_gzip(self, tmp_path):
        """Of a gzip file that is cut, what unpacks is read, and the damage is said."""
        whole = gzip.compress(WORD_PER_LINE.read_bytes() * 50, 1)
        (tmp_path / "a.gz").write_bytes(whole[: len(whole) // 2])
        found = capture_of([str(tmp_path / "a.gz")])
        assert "is damaged behind line" in found.notes[0]

    def test_a_small_gzip_gives_what_comes_before_the_cut(self, tmp_path):
        """A packed log that lacks only its last eight bytes, checksum and length, gives every entry."""
        (tmp_path / "a.gz").write_bytes(gzip.compress(ONE_LINE.read_bytes())[:-8])
        found = capture_of([str(tmp_path / "a.gz")])
        assert facts(found) == facts(capture_of([str(ONE_LINE)]))
        lines = ONE_LINE.read_text().count("\n")
        assert f"is damaged behind line {lines}" in found.notes[0]

    def test_file_of_a_folder_that_cannot_be_read(self, tmp_path, monkeypatch):
        """Of a folder what can be read is read; the rest is noted."""
        shutil.copy(ONE_LINE, tmp_path / "a.log")
        (tmp_path / "b.log").write_bytes(b"x")

        def opened(path):
            if path.endswith("b.log"):
                raise unreadable(path, PermissionError(13, "Permission denied"))
            return opened_binary(path)

        monkeypatch.setattr("tools.capture.source.opened_binary", opened)
        found = capture_of([str(tmp_path)])
        assert len(found.faults) == 3
        assert "b.log cannot be read" in found.notes[0]

    def test_of_folders_regular_files_are_read_and_no_links_followed(self, tmp_path):
        """Pipes in a folder are passed over, links inside it too, and links that leave it are counted in a note."""
        inside = tmp_path / "logs"
        inside.mkdir()
        shutil.copy(ONE_LINE, inside / "a.log")
        os.mkfifo(inside / "pipe")
        (inside / "again.log").symlink_to("a.log")
        (inside / "out.log").symlink_to(WORD_PER_LINE)
        (inside / "kernel").symlink_to("/proc/self")
        found = capture_of([str(inside)])
        assert found.files == (str(inside / "a.log"),)
        assert found.notes == (f"{inside}: links out of it were not followed: 2",)
