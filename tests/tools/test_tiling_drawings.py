"""Drawings of a tiling: bars on a terminal, and SVG that is complete in itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from io import BytesIO, TextIOWrapper

import pytest

from emu_plugins.cgdr.tiling_layout import Region
from tools.tiling.as_map import glyphs, map_lines
from tools.tiling.svg_page import Page, short_bytes

BASE = ("tiling", "cgdr", "--t", "192", "--hv", "8", "--dv", "80")
SIGNS = ("#", "-", ".")


class TestTerminal:
    def test_bars_lie_at_their_place(self):
        """Of 32 bytes in 16 columns, bytes 8 to 15 are columns 4 to 7, half of them written."""
        regions = (Region("a", 0, 8, "K", 8), Region("bb", 8, 8, "slot", 4), Region("free", 16, 16, "free", 0))
        assert list(map_lines(regions, 1, SIGNS)) == [
            "  a      0   8  ####",
            "  bb     8   8      ##--",
            "  free  16  16          ........",
        ]

    def test_small_regions_are_seen(self):
        """A region of one byte among a million still has a sign, the last column at most."""
        regions = (Region("a", 0, 10**6 - 1, "K", 10**6 - 1), Region("b", 10**6 - 1, 1, "row", 1))
        assert [line.split()[-1] for line in map_lines(regions, 60, SIGNS)][1] == "#"

    def test_many_slots_are_folded(self, sqemu):
        """Of 16 staging slots four are shown, and the rest is one row of text."""
        out = sqemu(*BASE, "--dk", "80", "--map").out
        assert "… 12 more slots" in out
        assert len(re.findall(r"^  block \d+ slot", out, re.MULTILINE)) == 4

    def test_very_many_cores_are_not_drawn_one_by_one(self, sqemu):
        """Of 2147483647 cores with two slots each, four slots are shown and 4294967290 counted."""
        most = ("--t", "2", "--b", "2147483647", "--hv", "64", "--hqk", "2", "--dk", "192", "--dv", "129")
        found = sqemu("tiling", "cgdr", *most, "--cores", "2147483647", "--map")
        assert found.code == 0
        assert "… 4294967290 more slots" in found.out
        assert len(re.findall(r"^  block \d+ slot", found.out, re.MULTILINE)) == 4

    def test_no_line_is_wider_than_asked(self, sqemu):
        """Without a terminal the drawing has at most 100 columns."""
        out = sqemu(*BASE, "--dk", "80", "--map").out
        drawn = out[out.index("UB of one core") :].splitlines()
        assert max(map(len, drawn)) <= 100

    def test_plain_signs_where_blocks_cannot_be_shown(self, monkeypatch):
        """A stream that knows ASCII only gets ASCII bars."""
        monkeypatch.setattr("sys.stdout", TextIOWrapper(BytesIO(), encoding="ascii"))
        assert glyphs() == ("#", "-", ".")

    def test_older_versions_say_that_the_order_is_not_known(self, sqemu):
        """For `!1108` the order in UB is that of the budget, which is said."""
        assert "device's own order is not known" in sqemu(*BASE, "--dk", "80", "--variant", "1108", "--map").out


class TestSvg:
    @pytest.mark.parametrize(
        "options",
        [("--dk", "80"), ("--dk", "144"), ("--dk", "80", "--variant", "1108"), ("--dk", "600", "--variant", "first"),
         ("--dk", "64", "--variant", "910b", "--scale", "1"), ("--sweep", "dk=1..256"),
         ("--sweep", "dk=1..400", "--ub", "131072"), ("--dk", "80", "--sweep", "ub=60000..262144:8192"),
         ("--sweep", "dk=100..140", "--variant", "910b", "--scale", "1"), ("--sweep", "dk=77")],
    )  # fmt: skip
    def test_file_is_complete_in_itself(self, sqemu, tmp_path, options):
        """Each drawing is well-formed, names nothing elsewhere, and knows light and dark viewers."""
        found = sqemu(*BASE, *options, "--svg", tmp_path / "d.svg")
        assert found.code == 0
        text = (tmp_path / "d.svg").read_text()
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
        assert "prefers-color-scheme: dark" in text
        assert "nan" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL).lower()

    def test_boxes_stay_on_the_page(self, sqemu, tmp_path):
        """No box leaves the page, and no text begins outside of it."""
        sqemu(*BASE, "--dk", "80", "--svg", tmp_path / "d.svg")
        root = ET.fromstring((tmp_path / "d.svg").read_text())
        width, height = float(root.get("width")), float(root.get("height"))
        for box in root.iter("{http://www.w3.org/2000/svg}rect"):
            x, y = float(box.get("x", 0)), float(box.get("y", 0))
            assert 0 <= x <= x + float(box.get("width")) <= width + 0.01
            assert 0 <= y <= y + float(box.get("height")) <= height + 0.01

    def test_every_buffer_is_listed(self, sqemu, tmp_path):
        """The drawing lists each buffer of UB by name with its first byte."""
        sqemu(*BASE, "--dk", "80", "--svg", tmp_path / "d.svg")
        text = (tmp_path / "d.svg").read_text()
        for name in ("outQueue", "chunkK", "kCumdecay", "decayMask", "scores/state", "beta", "16 staging slots"):
            assert f">{name}</text>" in text
        assert ">90,624</text>" in text

    def test_refused_values_are_hatched(self, sqemu, tmp_path):
        """Values that do not fit are hatched, with the reason for a pointer that rests on them."""
        sqemu(*BASE, "--sweep", "dk=1..400", "--ub", "131072", "--svg", tmp_path / "d.svg")
        text = (tmp_path / "d.svg").read_text()
        assert 'class="k-refused"><title>161 to 400: no V tile fits into UB' in text

    def test_a_refused_shape_leaves_no_file(self, sqemu, tmp_path):
        """When the tiling refuses the shape no file appears, whole or temporary."""
        assert sqemu(*BASE, "--dk", "4096", "--svg", tmp_path / "d.svg").code == 1
        assert list(tmp_path.iterdir()) == []

    def test_a_path_that_cannot_be_written(self, sqemu, tmp_path):
        """A folder as file is refused with exit 2 before anything is shown."""
        found = sqemu(*BASE, "--dk", "80", "--svg", tmp_path, "--json")
        assert (found.code, found.out, found.error["error"]) == (2, "", "output.file")

    @pytest.mark.parametrize(
        ("size", "text"), [(0, "0"), (1000, "1000"), (65536, "64 KiB"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"),
                           (1253376, "1.2 MiB")],
    )  # fmt: skip
    def test_sizes_on_rulers(self, size, text):
        """Sizes are whole where that is exact, else have one decimal."""
        assert short_bytes(size) == text

    def test_texts_are_escaped(self):
        """Names with signs of XML stay text."""
        page = Page('a <b> & "c"')
        page.note("x < y & z")
        page.box(0, 0, 1, 1, "K", "<tip>")
        root = ET.fromstring(page.text())
        assert "x < y & z" in "".join(root.itertext())
