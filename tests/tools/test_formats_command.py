"""`sqemu formats` and `sqemu header`: lists, layouts, pictures, C."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from formats import BUILTIN, define
from tools.dump.layouts import draw


class TestLists:
    def test_families(self, sqemu):
        """Without an argument the families are listed with the number of their structs."""
        rows = {line.split()[0]: line.split()[1:] for line in sqemu("formats").out.splitlines()[2:] if line.strip()}
        assert rows["v100"][0] == str(len(BUILTIN.names("v100")))
        assert set(rows) >= {"v100", "v200", "v201", "arch9201", "arch5162", "other", "runtime", "blob"}

    def test_structs_of_a_family(self, sqemu):
        """--family lists every struct, inherited ones with where they are from."""
        out = sqemu("formats", "--family", "v201").out
        line = next(x for x in out.splitlines() if x.split()[0] == "AicKernelSqe")
        assert line.split()[1:2] == ["64"]
        assert "v200" in line

    def test_json(self, sqemu):
        """One object per struct."""
        found = sqemu("formats", "--family", "v100", "--json").objects
        assert len(found) == len(BUILTIN.names("v100"))
        kernel = next(r for r in found if r["struct"] == "AicoreKernelSqe")
        assert (kernel["size"], kernel["sqe_type"], kernel["inherited_from"]) == (64, 0, None)
        assert len(sqemu("formats", "--json").objects) == len(BUILTIN.structs)


class TestLayout:
    def test_table(self, sqemu):
        """A struct is shown with how it is recognised and a line per field."""
        out = sqemu("formats", "aicorekernelsqe").out
        assert "v100.AicoreKernelSqe, 64 bytes" in out
        assert "recognised by type 0, ffts_type 0 or 1 or 5" in out
        line = next(x for x in out.splitlines() if " block_dim " in x and "0x02" in x)
        assert line.split()[1:4] == ["w0[31:16]", "16", "block_dim"]

    def test_same_name_in_several_families(self, sqemu):
        """A name that several families have is shown once per layout; --family chooses."""
        assert sqemu("formats", "PhSqe").out.count("PhSqe, 64 bytes") == 3
        assert sqemu("formats", "PhSqe", "--family", "arch5162").out.count("PhSqe, 64 bytes") == 1

    def test_json(self, sqemu):
        """Rows of the table and the schema of the values."""
        found = sqemu("formats", "TilingTabl", "--json").objects[0]
        assert [r["name"] for r in found["rows"]][:2] == ["tiling_key", "pc_addr0"]
        assert found["schema"]["properties"]["mix_type"]["maximum"] == 255

    def test_no_picture(self, sqemu):
        """--no-picture leaves the picture out."""
        assert "+---" in sqemu("formats", "TilingTabl").out
        assert "+---" not in sqemu("formats", "TilingTabl", "--no-picture").out

    def test_unknown(self, sqemu):
        """Unknown names are refused with the nearest ones."""
        found = sqemu("formats", "AicoreKernel", "--json")
        assert (found.code, found.error["error"]) == (2, "format.unknown-struct")
        assert "AicoreKernelSqe" in found.error["remedy"]
        assert "in family v200" in sqemu("formats", "qqq", "--family", "v200").err
        assert sqemu("formats", "--family", "v9").code == 2


class TestPicture:
    def test_words(self):
        """One row per 32-bit word, bit 31 on the left, each field as wide as its bits."""
        struct = define("edu", "Small", 8, "@0 low:8 -:8 high:16", "@4 whole:32")
        lines = list(draw(struct, 3))
        assert lines[2] == "w0    |" + f"{'high':^47}|{'-':^23}|{'low':^23}|"
        assert lines[4] == "w1    |" + f"{'whole':^95}|"
        assert {len(line) for line in lines[1:]} == {7 + 32 * 3}
        assert lines[0].split() == ["31", "24", "23", "16", "15", "8", "7", "0"]

    def test_long_arrays_are_shortened(self):
        """The inner words of a long array are counted, not drawn."""
        struct = define("edu", "Long", 64, "@0 head:32 words:32*15")
        lines = list(draw(struct, 2))
        assert any("13 more words of the same field" in line for line in lines)
        assert lines[-2].startswith("w15")

    def test_fields_over_words_and_short_ends(self):
        """A field over two words says which bits are where; a last word that is not whole leaves its rest empty."""
        struct = define("edu", "Odd", 10, "@0 first:16 wide:48 last:16")
        text = "\n".join(draw(struct, 3))
        assert "wide[15:0]" in text
        assert "wide[47:16]" in text
        assert "w2    |" + " " * 47 + "|" + f"{'last':^47}|" in text

    def test_elements(self):
        """Elements of an array in one word are named from the last to the first."""
        assert "b[3..0]" in "\n".join(draw(define("edu", "Bytes", 8, "@0 b:8*8"), 3))

    def test_every_struct(self):
        """Every layout can be drawn, in both widths, without a line that is wider than the frame."""
        for struct in BUILTIN.structs:
            for cell in (2, 3):
                assert {len(line) for line in list(draw(struct, cell))[1:]} == {7 + 32 * cell}


class TestHeader:
    def test_standard_output(self, sqemu):
        """Without -o the header goes to standard output; --struct chooses."""
        out = sqemu("header", "--family", "v100", "--struct", "TilingTabl").out
        assert "typedef struct __attribute__((packed)) TilingTabl {" in out
        assert "SqeHeader" not in out

    @pytest.mark.gcc
    @pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
    def test_every_family_compiles(self, sqemu, tmp_path):
        """The header of every family compiles without a warning."""
        for family in BUILTIN.families:
            path = tmp_path / f"{family}.h"
            assert sqemu("header", "--family", family, "-o", path).code == 0
            command = ["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", path]
            subprocess.run(command, check=True, timeout=60)

    def test_refused(self, sqemu, tmp_path):
        """An unknown family or struct, or a folder that cannot be written, is exit 2."""
        assert sqemu("header", "--family", "v9").code == 2
        assert sqemu("header", "--family", "v100", "--struct", "Foo").code == 2
        assert sqemu("header").code == 2
        assert sqemu("header", "--family", "v100", "-o", tmp_path).code == 2
