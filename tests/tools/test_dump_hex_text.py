"""Hex text as input: the forms the usual tools write, what cannot be read, and what is no hex text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.dump.hextext import looks_like_hex, read

NOP = "0300670001000200000000000000fe00"
RAW = bytes.fromhex(NOP) + bytes(48)


def rows(data, form):
    """Text with a line per 16 bytes."""
    return "\n".join(form(at, data[at : at + 16]) for at in range(0, len(data), 16)) + "\n"


def canonical(at, part):
    """A line as `hexdump -C` writes it, ASCII column included."""
    shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
    return f"{at:08x}  {part[:8].hex(' ')}  {part[8:].hex(' ')}  |{shown}|"


def colon(at, part):
    """A line as `xxd` writes it."""
    shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
    return f"{at:08x}: {part.hex(' ', -2)}  {shown}"


def words_of(size, offset):
    """A line of little-endian words of `size` bytes behind an offset without a colon."""

    def line(at, part):
        return f"{offset(at)} " + " ".join(part[k : k + size][::-1].hex() for k in range(0, len(part), size))

    return line


FORMS = {
    "hexdump -C": canonical,
    "xxd": colon,
    "hexdump": words_of(2, lambda at: f"{at:07x}"),
    "od -x": words_of(2, lambda at: f"{at:07o}"),
    "od -t x4": words_of(4, lambda at: f"{at:07o}"),
    "od -t x1": lambda at, part: f"{at:07o} {part.hex(' ')}",
    "plain": lambda _, part: part.hex(),
    "plain words": lambda _, part: part.hex(" ", -4),
    "numbers": lambda _, part: " ".join(f"0x{part[k : k + 4][::-1].hex()}," for k in range(0, len(part), 4)),
}


class TestForms:
    @pytest.mark.parametrize("name", FORMS)
    @given(data=st.binary(min_size=64, max_size=192).map(lambda b: b[: len(b) // 16 * 16]))
    def test_read_back(self, name, data):
        """Bytes written in each form are read back, without a problem."""
        found = read(rows(data, FORMS[name]).splitlines())
        assert (found.data, found.problems) == (data, ())

    @pytest.mark.parametrize("name", FORMS)
    def test_recognised(self, sqemu, tmp_path, name):
        """Each form is recognised without --hex."""
        (tmp_path / "t").write_text(rows(RAW, FORMS[name]))
        assert "2  nop" in sqemu("dump", tmp_path / "t", "--family", "v100").out

    def test_repeated_lines(self):
        """A star stands for the line before, up to the next offset."""
        text = "00000000  03 00 67 00 01 00 02 00  00 00 00 00 00 00 fe 00\n00000010  00 00 00 00 00 00 00 00  00 00"
        assert read([*(text + " 00 00 00 00 00 00").splitlines(), "*", "00000040"]).data == RAW

    def test_comments_and_base(self):
        """Comment lines are left out; the first offset is remembered."""
        found = read(["# a comment", "00000040: 0300", "", "00000042: 6700"])
        assert (found.data, found.base, found.problems) == (b"\x03\x00\x67\x00", 0x40, ())


class TestProblems:
    @pytest.mark.parametrize(
        ("line", "column", "says"),
        [("03 0g", 4, "'0g' is not hexadecimal"), ("03 006", 4, "odd number"), ("xyz", 1, "not hexadecimal")],
    )
    def test_bad_lines(self, line, column, says):
        """A line that cannot be read is left out with line and column, the next one counts again."""
        found = read(["0300", line, "6700"])
        assert found.data == b"\x03\x00\x67\x00"
        assert [(p.line, p.column, p.offset) for p in found.problems] == [(2, column, 2)]
        assert says in found.problems[0].text()

    def test_jumps(self):
        """A jump ahead leaves zeros, so that later entries keep their places; a jump back is left out."""
        found = read(["00000000: 0300", "00000006: 0400", "00000002: ffff", "fffffffff: 00"])
        assert found.data == b"\x03\0\0\0\0\0\x04\0"
        assert [p.line for p in found.problems] == [2, 3, 4]

    def test_dump_goes_on(self, sqemu, tmp_path):
        """The dump shows the rest, says what was skipped, and ends with exit code 1."""
        (tmp_path / "t").write_text(f"{NOP}\n{'00' * 48}\nwhat?\n")
        found = sqemu("dump", tmp_path / "t", "--hex", "--family", "v100")
        assert found.code == 1
        assert "2  nop" in found.out
        assert "line 3, column 1" in found.err
        assert "skipped 1 lines" in found.err

    @pytest.mark.parametrize("data", [b"", b"\n\n", b"what?", b"\xff\xfe", RAW])
    def test_no_hex_text(self, sqemu, tmp_path, data):
        """--hex with anything else is exit 2."""
        (tmp_path / "t").write_bytes(data)
        found = sqemu("dump", tmp_path / "t", "--hex", "--json")
        assert (found.code, found.error["error"]) == (2, "dump.hex")

    @given(st.binary(max_size=200))
    def test_never_fails(self, data):
        """Any ASCII text is read, whatever it holds; binary entries are no hex text."""
        read(data.decode("latin-1").splitlines())
        looks_like_hex(data)
        assert not looks_like_hex(RAW + data)
