"""`sqemu asm` of text: exact round trips of every layout, what an editor may write, errors with line and column."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core import compile_graph
from emu_core.errors import InputError
from formats import BUILTIN
from formats.blob import decode, encode
from tools.asm.reader import assemble
from tools.asm.writer import byte_lines, lines
from tools.dump.data import Data
from tools.dump.items import Reader, records, scan

FAMILIES = BUILTIN.sqe_families
STRUCTS = BUILTIN.structs
NOP = bytes.fromhex("0300670001000200000000000000fe00") + bytes(48)


def text_of(family, data):
    """SQEs as text, a rest that is no whole entry as bytes."""
    whole = len(data) // 64
    walk = scan(Reader(BUILTIN, family), Data(data), 0, whole)
    return "\n".join([*lines(walk, family, 64), *byte_lines(data[whole * 64 :])])


def built(text, family=None):
    """The bytes of some text."""
    return assemble(BUILTIN, text, "x.asm", family)


class TestRoundTrip:
    @pytest.mark.parametrize("family", FAMILIES)
    @given(data=st.binary(min_size=1, max_size=400))
    def test_any_bytes(self, family, data):
        """Any bytes, read as SQEs of any family, become text that becomes the same bytes."""
        assert built(text_of(family, data)) == data

    def test_every_struct(self):
        """Records of every layout of every family, random and all ones, become the same bytes."""
        rnd = random.Random(3)
        for struct in STRUCTS:
            raw = b"".join((rnd.randbytes(struct.size), bytes(struct.size), b"\xff" * struct.size))
            text = "\n".join(lines(records(struct, Data(raw), 0, 3), struct.family, struct.size))
            assert built(text) == raw, struct

    def test_through_the_command(self, sqemu, tmp_path):
        """dump, asm, and the bytes are those of the file, gaps and trailing bytes included."""
        data = NOP + bytes(64 * 5) + random.Random(1).randbytes(64 * 3) + b"tail"
        (tmp_path / "a").write_bytes(data)
        found = sqemu("dump", tmp_path / "a", "--asm", "--family", "v100")
        assert found.code == 1
        (tmp_path / "t").write_text(found.out)
        assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "b").out.endswith(f"{len(data)} bytes\n")
        assert (tmp_path / "b").read_bytes() == data

    def test_a_blob(self, sqemu, tmp_path):
        """A whole blob is text, too; a changed record gets the right checksum."""
        graph = {
            "format": "sqemu-graph", "version": 1, "name": "päckchen", "options": {"ge.tiling_schedule_optimize": "1"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
            "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
            "outputs": ["y"],
        }  # fmt: skip
        data = encode(compile_graph(graph, "ascend310p3"))
        (tmp_path / "a").write_bytes(data)
        text = sqemu("dump", tmp_path / "a", "--asm").out
        (tmp_path / "t").write_text(text)
        sqemu("asm", tmp_path / "t", "-o", tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == data
        (tmp_path / "t").write_text(text.replace("block_dim = 0xffffffff", "block_dim = 3"))
        sqemu("asm", tmp_path / "t", "-o", tmp_path / "b")
        assert decode((tmp_path / "b").read_bytes()).tasks[7].block_dim == 3


class TestWhatMayBeWritten:
    def test_forms(self):
        """Names of values, joined values, elements, whole arrays, commas, several fields on a line, comments."""
        text = """
        # a comment
        .family v100
        AicoreKernelSqe { block_dim = 0x8, pc_addr = 0x12c0c0200000 ; another comment
          wr_cqe = 0b1 }
        PhSqe { type = place_holder task_type = EVENT_RESET
          payload[2] = 7
        }
        PhSqe { type = 3, task_type = 24, payload = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1_2] }
        """
        raw = built(text)
        kernel = BUILTIN.get("v100", "AicoreKernelSqe").parse(raw)
        holder = BUILTIN.get("v100", "PhSqe")
        assert (kernel["block_dim"], kernel["pc_addr_high"], kernel["wr_cqe"]) == (8, 0x12C0, 1)
        assert holder.parse(raw[64:])["payload"][2] == 7
        assert holder.parse(raw[128:])["payload"][11] == 12

    def test_directives(self):
        """Zeros, bytes, texts."""
        assert built('.zero 3\n.bytes 0102 03 # four\n.text "a\\n\\u00e4"\n.bytes') == b"\0\0\0\x01\x02\x03a\n\xc3\xa4"

    def test_negative_numbers(self):
        """A signed field takes a minus."""
        assert built(".family blob\nDimRecord { extent = -1 }") == b"\xff" * 8

    def test_family_from_the_command_line(self):
        """Without a .family line the option counts."""
        assert built("PhSqe { }", "v100") == bytes(64)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "place", "error", "says"),
        [
            ("PhSqe {}", "line 1, column 1", "asm.family", "no family"),
            (".family v9", "line 1, column 9", "asm.family", "no family 'v9'"),
            (".family v100\nPhSq {}", "line 2, column 1", "asm.field", "did you mean PhSqe"),
            (".family v100\nPhSqe {\n  tasktype = 1\n}", "line 3, column 3", "asm.field", "did you mean task_type"),
            (".family v100\nPhSqe { task_type = 65536 }", "line 2, column 21", "asm.value", "0 to 65535"),
            (".family v100\nPhSqe { task_type = -1 }", "line 2, column 22", "asm.value", "does not fit"),
            (".family v100\nPhSqe { task_type = NOPE }", "line 2, column 21", "asm.value", "did you mean NOP"),
            (".family v100\nPhSqe { ie = ABC }", "line 2, column 14", "asm.value", "give a number"),
            (".family v100\nPhSqe { task_type 3 }", "line 2, column 19", "asm.syntax", "'=' is expected"),
            (".family v100\nPhSqe { task_type = }", "line 2, column 21", "asm.syntax", "a value"),
            (".family v100\nPhSqe { ie = 1 ie = 2 }", "line 2, column 16", "asm.field", "was given before"),
            (
                ".family v100\nAicoreKernelSqe { pc_addr = 1 pc_addr_low = 2 }",
                "line 2, column 31", "asm.field", "was given before",
            ),
            (".family v100\nPhSqe { payload[12] = 1 }", "line 2, column 17", "asm.value", "elements 0 to 11"),
            (".family v100\nPhSqe { payload[x] = 1 }", "line 2, column 17", "asm.value", "elements 0 to 11"),
            (".family v100\nPhSqe { payload = [1] }", "line 2, column 17", "asm.value", "12 elements, 1"),
            (".family v100\nPhSqe { payload = 1 }", "line 2, column 19", "asm.syntax", "'[' is expected"),
            (".family v100\nPhSqe {", "line 2, column 1", "asm.syntax", "the end is there"),
            (".family v100\nPhSqe", "line 2, column 1", "asm.syntax", "'{' is expected"),
            (".family v100\nPhSqe { 3 }", "line 2, column 9", "asm.syntax", "a field or '}'"),
            ("}", "line 1, column 1", "asm.syntax", "a struct or a directive"),
            ("@", "line 1, column 1", "asm.syntax", "'@' cannot be read"),
            ("3x", "line 1, column 1", "asm.syntax", "'3x' cannot be read"),
            (".org 3", "line 1, column 1", "asm.syntax", "directives: .family"),
            (".zero x", "line 1, column 7", "asm.syntax", "a number of bytes"),
            (".zero 0x1ffffffff", "line 1, column 7", "asm.value", "the 4294967296 that are allowed"),
            (".zero " + "9" * 5000, "line 1, column 7", "asm.value", "a number of 5000 characters"),
            (".family v100\nPhSqe { ie = 0x" + "f" * 5000 + " }", "line 2, column 14", "asm.value", "a number of 5002"),
            (".family v100\nPhSqe { ie = 0x" + "f" * 100 + " }", "line 2, column 14", "asm.value", "does not fit ie"),
            (".family v100\nPhSqe { ie = \uff11 }", "line 2, column 14", "asm.syntax", "cannot be read"),
            ("x" * 5000, "line 1, column 1", "asm.family", "no family was named"),
            (".family v100\nPhSqe { payload[2] = 7, payload[2] = 8 }", "line 2, column 33", "asm.field", "before"),
            (
                ".family v100\nPhSqe { payload[2] = 7, payload = [0,0,0,0,0,0,0,0,0,0,0,0] }",
                "line 2, column 25", "asm.field", "before",
            ),
            (
                ".family v100\nPhSqe { payload = [0,0,0,0,0,0,0,0,0,0,0,0], payload[2] = 7 }",
                "line 2, column 54", "asm.field", "before",
            ),
            (".zero 1__", "line 1, column 7", "asm.syntax", "is not a number"),
            (".bytes 00 0g", "line 1, column 11", "asm.syntax", "'0g' is not bytes"),
            (".text abc", "line 1, column 7", "asm.syntax", "a text in quotes"),
            ('.text "abc', "line 1, column 7", "asm.syntax", "does not end"),
            ('.text "\\q"', "line 1, column 7", "asm.syntax", "cannot be read"),
            ('.text "\\ud800"', "line 1, column 7", "asm.syntax", "cannot be read"),
            (".checksum", "line 1, column 1", "asm.value", "a blob header"),
        ],
    )  # fmt: skip
    def test_place(self, text, place, error, says):
        """Each mistake is refused with line, column and id."""
        with pytest.raises(InputError) as found:
            built(text)
        assert found.value.where == f"x.asm: {place}"
        assert found.value.id == error
        assert says in str(found.value)

    def test_no_partial_file(self, sqemu, tmp_path):
        """After an error there is no output, and what was there stays."""
        (tmp_path / "t").write_text(".family v100\nPhSqe { type = 3 }\nPhSqe { oops }")
        (tmp_path / "o").write_bytes(b"before")
        assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "new").code == 2
        assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "o", "--json").error["error"] == "asm.field"
        assert not (tmp_path / "new").exists()
        assert (tmp_path / "o").read_bytes() == b"before"

    def test_no_text(self, sqemu, tmp_path):
        """Binary input, a missing file, an unknown family, no output: all exit 2."""
        (tmp_path / "t").write_bytes(b"\xff\xfe")
        assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "o", "--json").error["error"] == "asm.text"
        assert sqemu("asm", tmp_path / "none", "-o", tmp_path / "o").code == 2
        (tmp_path / "t").write_text("")
        assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "o", "--family", "v9").code == 2
        assert sqemu("asm", tmp_path / "t").code == 2

    @given(st.text(max_size=80))
    def test_any_text(self, text):
        """Any text is assembled or refused with an `InputError`."""
        with suppress(InputError):
            built(text, "v100")


def test_standard_streams():
    """`-` reads standard input and writes standard output."""
    command = [sys.executable, "-m", "tools.cli", "asm", "-", "-o", "-"]
    found = subprocess.run(command, input=b".zero 2\n.bytes 07", capture_output=True, check=True, timeout=60)
    assert found.stdout == b"\0\0\x07"
