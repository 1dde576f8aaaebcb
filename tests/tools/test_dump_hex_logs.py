"""Hex out of device logs: prefixes, numbers of any length, words, offsets that do odd things, and what is no hex."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys

import pytest

from emu_core.errors import InputError
from formats import BUILTIN
from tools import failures, files
from tools.dump.data import Data
from tools.dump.hexinput import hex_input, lines_of
from tools.dump.hextext import FARTHEST, HEAD, MOST_PROBLEMS, looks_like_hex, read

NOP = bytes.fromhex("0300670001000200000000000000fe00") + bytes(48)
BYTES = ("03006700 01000200 00000000 0000fe00", *["00000000 00000000 00000000 00000000"] * 3)
WORDS = ("00670003 00020001 00000000 00fe0000", *BYTES[1:])
NUMBERS = ("0x00670003 0x00020001 0x00000000 0x00fe0000", *["0x00000000 0x00000000 0x00000000 0x00000000"] * 3)
LOG = "[INFO] 2024-05-06 10:11:12.345 RUNTIME(1234): sqe[0]: "


def put(tmp_path, *lines):
    """A file with these lines; gives its path."""
    (tmp_path / "t").write_text("\n".join(lines) + "\n")
    return tmp_path / "t"


class TestPrefixes:
    @pytest.mark.parametrize("prefix", [LOG, "SQE: ", "kernel: [   12.5] sqe=", "app[7]: 10:11:12 | "])
    def test_words_behind_a_prefix(self, sqemu, tmp_path, prefix):
        """A log is recognised, its words are the entry, and how many lines had a prefix is said; exit 0."""
        found = sqemu("dump", put(tmp_path, *(prefix + line for line in NUMBERS)))
        assert (found.code, "1  task 2" in found.out or "  nop" in found.out) == (0, True)
        assert "left out a prefix on 4 of 4 lines" in found.err
        assert read([prefix + line for line in NUMBERS]).data == NOP

    @pytest.mark.parametrize(
        "line",
        [
            "03 00 67 00 01 00 02 00 00 00 00 00 00 00 fe 00",
            "0300 6700 0100 0200 0000 0000 0000 fe00",
            "0300670001000200000000000000fe00",
            "00000000: 03 00 67 00 01 00 02 00  00 00 00 00 00 00 fe 00  ..g.............",
            "00000000  03 00 67 00 01 00 02 00  00 00 00 00 00 00 fe 00  |..g.............|",
        ],
    )
    def test_forms_behind_a_prefix(self, line):
        """Bytes, groups, solid hex and lines with an offset are read behind a prefix, too."""
        found = read([LOG + line])
        assert (found.data, found.problems, found.prefixed) == (NOP[:16], (), 1)

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("in: 0x1 0x2 0x3 0x4 out: 0x5 0x6 0x7 0x8", "more than one run of hex; keep one"),
            ("retcode: 0x7110001", "'retcode:' is not hexadecimal"),
            ("sqe: 0x1 0x2 0x3 0x4 end", "'sqe:' is not hexadecimal"),
        ],
    )
    def test_doubtful_lines_are_left_out(self, line, says):
        """Two runs of hex, a lone number, and hex with words behind it are reported, not taken."""
        found = read([line, "0300"])
        assert (found.data, found.bad) == (b"\x03\x00", 1)
        assert found.problems[0].text().startswith(f"line 1, column 1: {says}")

    @pytest.mark.parametrize("junk", ["sqe dump:", "[INFO] the ring follows", "état: fin"])
    def test_one_line_of_junk(self, sqemu, tmp_path, junk):
        """A line of junk before a hexdump changes neither that it is recognised nor how; the line is named, exit 1."""
        rows = [f"{at:08x}  {NOP[at:at + 8].hex(' ')}  {NOP[at + 8:at + 16].hex(' ')}  |................|"
                for at in range(0, 64, 16)]  # fmt: skip
        found = sqemu("dump", put(tmp_path, junk, *rows), "--family", "v100")
        assert (found.code, ": 1 SQE," in found.out, "line 1, column 1" in found.err) == (1, True, True)
        assert read([junk, *rows]).data == NOP

    def test_mostly_words_is_no_hex(self):
        """Text with a few words that could be hex is not taken for hex."""
        assert not looks_like_hex(b"face\nthe bad\nbeef is\nfine today\n")


@pytest.mark.parametrize("line", ["00000000: " + "03  " * 5000, "0x1: " * 5000, "]  " * 5000 + "03 " * 5000 + "z"])
def test_strange_lines_take_no_long_time(line):
    """A long line of double spaces or of what may end a prefix is read or refused, and does not hang."""
    found = read([line])
    assert bool(found.data) != bool(found.problems)


class TestNumbers:
    def test_uneven_numbers_are_words(self, sqemu, tmp_path):
        """`0x%x` words have 4 bytes each, however many digits they show, and that is said."""
        lines = ("0x670003 0x20001 0x0 0xfe0000", *["0x0 0x0 0x0 0x0"] * 3)
        assert read(lines).data == NOP
        assert "word of 4 bytes" in sqemu("dump", put(tmp_path, *lines)).err

    def test_one_long_number_makes_all_long(self):
        """With a number of more than 8 digits all have 8 bytes."""
        assert read(["0x123456789 0x5"]).data == bytes.fromhex("8967452301000000 0500000000000000")

    def test_same_lengths_say_the_size(self):
        """Numbers of two and of sixteen digits have one and eight bytes; those of one digit have four."""
        assert read(["0x03, 0x00,"]).data == b"\x03\x00"
        assert read(["0x0102030405060708"]).data == bytes(range(8, 0, -1))
        assert read(["0x1 0x0"]).data == bytes.fromhex("01000000 00000000")

    def test_a_number_too_long_behind_the_first_lines(self):
        """A number longer than those that told the size is reported, not cut."""
        found = read(["0x00000001"] * HEAD + ["0x100000000"])
        assert (len(found.data), found.problems[0].line) == (4 * HEAD, HEAD + 1)


class TestOrder:
    def test_words_are_found_out(self, sqemu, tmp_path):
        """`%08x` words that only make sense as words are taken so, with a notice; --bytes takes them as they stand."""
        path = put(tmp_path, *WORDS)
        found = sqemu("dump", path)
        assert (found.code, "  nop" in found.out) == (0, True)
        assert "groups of 8 digits are taken as little-endian words" in found.err
        assert "  nop" not in sqemu("dump", path, "--bytes").out

    def test_bytes_stay_bytes(self, sqemu, tmp_path):
        """Groups that make sense in address order are not turned round and need no notice; --words turns them."""
        path = put(tmp_path, *BYTES)
        found = sqemu("dump", path)
        assert ("  nop" in found.out, found.err) == (True, "")
        assert "  nop" not in sqemu("dump", path, "--words").out

    @pytest.mark.parametrize(("digits", "first"), [(4, "0003 0067 0001 0002"), (16, "0002000100670003")])
    def test_words_as_asked(self, digits, first):
        """--words turns groups of 4 and 16 digits; byte pairs have no order."""
        found = read([first], words=True)
        assert (found.data, found.style.group) == (NOP[:8], digits)
        assert read(["03 00 67"], words=True).data == NOP[:3]

    def test_od_without_words(self):
        """`--bytes` holds for lines with offsets without a colon, too."""
        assert read(["0000000 00670003 00020001"], words=False).data == bytes.fromhex("0067000300020001")

    def test_the_ascii_column_tells(self):
        """`xxd -e` shows its ASCII column in address order: its groups are words; those of `xxd -g 4` are not."""
        shown = "00000000: {}  ..g............."
        for line in (shown.format(WORDS[0]), shown.format(BYTES[0])):
            found = hex_input(memoryview(line.encode()), "t", BUILTIN)
            assert found.text.data == NOP[:16]
            assert ("xxd -e" in "".join(found.notes)) == (WORDS[0] in line)


class TestOffsets:
    def test_double_space_in_the_middle(self):
        """Two halves behind an offset with a colon are both data; the ASCII column is not, even when it looks so."""
        half = "03 00 67 00 01 00 02 00  00 00 00 00 00 00 fe 00"
        for line in (half, f"{half}  ..g.............", f"{half}  |..g.............|"):
            assert read([f"00000000: {line}"]).data == NOP[:16]
        assert read(["00000000: 6162 6364 6566 3031  abcdef01"]).data == b"abcdef01"

    def test_eight_digits_of_offset_and_words(self):
        """Offsets of as many digits as the words are known by counting on."""
        lines = [f"{16 * k:08x} {row}" for k, row in enumerate(WORDS)]
        assert read(lines).data == NOP

    def test_back(self):
        """An offset that goes back is named with its line."""
        found = read(["00000010: 0300", "00000000: 0300"])
        assert found.problems[0].text().startswith("line 2, column 1: offset 0x0 goes back, 0x12 was reached")

    def test_problems_are_told_when_the_rest_is_too_short(self, sqemu, tmp_path):
        """When what is left makes no entry, the lines that were left out are told all the same, exit 2."""
        found = sqemu("dump", put(tmp_path, "00000010: 0300", "00000000: 0300"), "--hex")
        assert (found.code, "line 2, column 1: offset 0x0 goes back" in found.err) == (2, True)

    @pytest.mark.parametrize("star", [(), ("*",)])
    def test_jumps_are_limited_in_total(self, monkeypatch, star):
        """All jumps and stars together stand for a limited number of bytes, the rest is reported."""
        monkeypatch.setattr("tools.dump.hextext.FARTHEST", 100)
        lines = ["00000000: 01"]
        for at in (0x31, 0x61, 0x91):
            lines += [*star, f"{at:08x}: 02"]
        found = read(lines)
        assert len(found.data) == 0x62
        assert "too far" in found.problems[-1].what
        assert FARTHEST == 256 << 20


class TestNoHex:
    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"\x03\x00" * 64, "drop --hex"),
            ("0300 6700".encode("utf-16"), "iconv -f UTF-16"),
            (b"\xff" * 64, "drop --hex"),
        ],
    )
    def test_binary_is_refused_at_a_glance(self, sqemu, tmp_path, data, says):
        """--hex of binary data and UTF-16 text is refused, with what to do."""
        (tmp_path / "t").write_bytes(data)
        error = sqemu("dump", tmp_path / "t", "--hex", "--json").error
        assert (error["error"], says in error["remedy"]) == ("dump.hex", True)

    def test_huge_binary_files(self, tmp_path):
        """A sparse file of 4 GiB is refused without being read."""
        with (tmp_path / "t").open("wb") as file:
            file.truncate(4 << 30)
        script = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (400 << 20,) * 2); "
            "from tools.cli import main; main(sys.argv[1:])"
        )
        found = subprocess.run(
            [sys.executable, "-c", script, "dump", "--hex", str(tmp_path / "t")],
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert (found.returncode, b"binary" in found.stderr) == (2, True)

    def test_text_is_not_a_ring(self, sqemu, tmp_path):
        """Text is no SQEs, even when it has the size of whole entries; --family takes it as bytes."""
        path = tmp_path / "t"
        path.write_text("root:x:0:0:root:/root:/bin/sh..\n" * 4)
        found = sqemu("dump", path, "--json")
        assert (found.code, found.error["error"], found.out) == (2, "dump.unknown", "")
        assert all(word in found.error["remedy"] for word in ("--hex", "sqemu asm", "--family"))
        assert sqemu("dump", path, "--family", "v100").code == 0

    def test_unlikely_entries_are_doubted(self, sqemu, tmp_path):
        """A guess that hardly fits is told on standard error; zeros, and a family that was given, are not doubted."""
        path = tmp_path / "t"
        path.write_bytes(bytes(range(100, 164)) * 3 + b"\xff" * 64)
        assert "may be something else than SQEs" in sqemu("dump", path).err
        assert sqemu("dump", path, "--family", "v100").err == ""
        path.write_bytes(bytes(128))
        assert sqemu("dump", path).err == ""

    def test_many_bad_lines_are_counted(self):
        """Only the first bad lines are kept, all are counted."""
        found = read(["0300", *["what"] * 300])
        assert (len(found.problems), found.bad) == (MOST_PROBLEMS, 300)


class TestLines:
    def test_over_chunks(self, monkeypatch):
        """However the file is cut, lines are the same; a carriage return and a byte order mark are left out."""
        monkeypatch.setattr("tools.dump.hexinput._CHUNK", 3)
        data = b"\xef\xbb\xbf0300\r\n\n6700 \xff\n01"
        assert list(lines_of(memoryview(data), "t")) == ["0300", "", "6700 \\xff", "01"]

    def test_a_line_without_end(self, monkeypatch):
        """A line that does not end is refused by number."""
        monkeypatch.setattr("tools.dump.hexinput.LONGEST", 10)
        with pytest.raises(InputError, match="line 2 is longer"):
            list(lines_of(memoryview(b"03\n" + b"0" * 11), "t"))


class TestEndlessInput:
    @pytest.mark.parametrize("name", ["/dev/zero", "-"])
    def test_devices_and_pipes(self, monkeypatch, name):
        """What is no regular file is read up to a limit; the error says to write a file first."""
        monkeypatch.setattr(files, "MOST_STREAMED", 3 << 20)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(5 << 20))))
        with pytest.raises(InputError, match="more than 3 MiB") as caught:
            files.read_bytes(name)
        assert caught.value.where == ("standard input" if name == "-" else name)
        assert "to a file first" in caught.value.remedy

    def test_no_memory_names_the_file(self, tmp_path):
        """Lack of memory while reading is an error about the file."""
        (tmp_path / "f").touch()
        with (
            pytest.raises(InputError, match="does not fit into memory") as caught,
            files.opened_binary(str(tmp_path / "f")),
        ):
            raise MemoryError
        assert caught.value.where == str(tmp_path / "f")


class TestMessages:
    def test_memory_names_the_inputs(self, capsys, monkeypatch, tmp_path):
        """Lack of memory later on names the files of the command line, and no tensors."""
        monkeypatch.setattr(sys, "argv", ["sqemu", "dump", "--hex", __file__, "-"])
        failures.report(MemoryError(), as_json=True, debug=False)
        error = json.loads(capsys.readouterr().err)
        assert error["where"] == f"{__file__}, standard input"
        assert "tensor" not in error["remedy"]

    def test_full_output(self, tmp_path):
        """A full disk behind standard output is an error about standard output, exit 2."""
        (tmp_path / "f").write_bytes(NOP)
        if not os.path.exists("/dev/full"):  # noqa: PTH110 - one question about a device
            pytest.skip("there is no /dev/full")
        with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
            found = subprocess.run(
                [sys.executable, "-m", "tools.cli", "dump", str(tmp_path / "f")],
                stdout=full, stderr=subprocess.PIPE, check=False, timeout=60, text=True,
            )  # fmt: skip
        assert found.returncode == 2
        assert found.stderr.startswith(f"error file: standard output: cannot be written: {os.strerror(errno.ENOSPC)}")
        assert "permissions" not in found.stderr

    def test_json_names_the_file(self, sqemu, tmp_path):
        """The first JSON object of raw input says which file it is about."""
        (tmp_path / "f").write_bytes(NOP)
        assert sqemu("dump", tmp_path / "f", "--json").objects[0]["file"] == str(tmp_path / "f")

    def test_data_of_hex_text(self):
        """Mapped and plain bytes are read alike."""
        assert hex_input(Data(b"0300\n").view, "t", BUILTIN).text.data == b"\x03\x00"
