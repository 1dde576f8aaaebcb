"""The page as a document: whole, self-contained, the same for the same record, and safe with hostile names."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil

import numpy as np
import pytest

from tools.explanations.catalog import Catalog

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u202e\u2028"


@pytest.fixture
def sections(page_of):
    """Ids of the sections of a page."""

    def of(*asked):
        return [attrs["id"] for tag, attrs in page_of(*asked).read.elements if tag == "section"]

    return of


class TestDocument:
    def test_every_element_is_closed(self, page_of):
        """The page is well formed: what opens is closed in order."""
        assert page_of("a.sqr").read.elements[0][0] == "html"

    def test_nothing_is_loaded(self, page_of):
        """No element names an address of something to load, but anchors within the page."""
        for tag, attrs in page_of("a.sqr", "--host", "FOLDER/host.sqr").read.elements:
            assert not {"src", "srcset", "data", "poster", "action"} & set(attrs), tag
            assert attrs.get("href", "#").startswith("#")
        assert "@import" not in page_of("a.sqr").text
        assert "url(" not in page_of("a.sqr").text.replace("url(#", "")

    def test_policy_allows_only_its_own_style_and_script(self, page_of):
        """The Content-Security-Policy forbids everything but the two texts whose hashes it has."""
        page = page_of("a.sqr")
        policy = next(a["content"] for t, a in page.read.elements if a.get("http-equiv") == "Content-Security-Policy")
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == "'none'"
        assert {rules["base-uri"], rules["form-action"]} == {"'none'"}
        assert set(rules) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}
        for rule, element in (("style-src", "style"), ("script-src", "script")):
            inside = re.findall(rf"<{element}>(.*?)</{element}>", page.text, re.DOTALL)
            assert len(inside) == 1
            digest = hashlib.sha256(inside[0].encode()).digest()
            assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"

    def test_no_styles_or_handlers_in_attributes(self, page_of):
        """No element has an attribute that the policy would refuse."""
        for name in ("a.sqr", "dead.sqr", "stale.sqr"):
            for _, attrs in page_of(name).read.elements:
                assert not [key for key in attrs if key == "style" or key.startswith("on")]

    def test_sections_by_what_the_record_has(self, sections):
        """A page without ChunkGatedDeltaRule has no map, one without a second record no comparison."""
        assert sections("a.sqr") == ["summary", "problems", "timeline", "entries", "patches"]
        assert sections("a.sqr", "--host", "FOLDER/host.sqr")[-1] == "host"

    def test_tables_and_pictures_have_names(self, page_of):
        """Regions, pictures and sections carry accessible names."""
        for name in ("a.sqr", "dead.sqr"):
            ids = {a["id"] for _, a in page_of(name).read.elements if "id" in a}
            for tag, attrs in page_of(name).read.elements:
                if tag == "section":
                    assert attrs["aria-labelledby"] in ids
                if attrs.get("role") in {"region", "img"}:
                    assert attrs["aria-label"]


class TestDeterminism:
    def test_same_record_same_bytes(self, folder, sqemu, page_of, tmp_path):
        """The page depends on the record alone: not on its path, nor on when it is made."""
        copy = tmp_path / "elsewhere.sqr"
        shutil.copy(folder / "a.sqr", copy)
        assert sqemu("report", copy, "-o", tmp_path / "x.html").code == 0
        assert (tmp_path / "x.html").read_bytes() == page_of("a.sqr").bytes


class TestHostileRecords:
    def test_names_are_text(self, changed, sqemu, tmp_path, page_at):
        """A name that would close scripts and attributes stays text: no element is made of it."""
        quoted = json.dumps(HOSTILE)[1:-1]
        record = changed("stale.sqr", ("probe0", quoted), ("probe.json", quoted), ("hazard.stale-prefetch", quoted))
        assert sqemu("report", record, "-o", tmp_path / "x.html").code == 0
        page = page_at(tmp_path / "x.html")
        assert not [tag for tag, _ in page.read.elements if tag == "img"]
        assert sum(tag == "script" for tag, _ in page.read.elements) == 2
        assert any("onerror=alert(1)" in word for word in page.data["strings"])
        assert "\u202e" not in page.text
        assert "\u2028" not in page.text

    def test_names_in_a_deadlock(self, changed, sqemu, tmp_path, page_at):
        """Names in the picture of a deadlock are text, too."""
        record = changed("dead.sqr", ("main_0", json.dumps(HOSTILE)[1:-1]), ("event 0", json.dumps(HOSTILE)[1:-1]))
        assert sqemu("report", record, "-o", tmp_path / "x.html").code == 0
        page = page_at(tmp_path / "x.html")
        assert not [tag for tag, _ in page.read.elements if tag == "img"]
        assert "onerror=alert(1)" in page.read.text

    def test_hostile_graph(self, sqemu, tmp_path, page_at):
        """A graph whose own names are markup gives a page in which they are text."""
        name = "<b>&amp;</b>"
        graph = {
            "format": "sqemu-graph", "version": 1, "name": name, "options": {"ge.tiling_schedule_optimize": "1"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
            "nodes": [{"name": name, "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
        }  # fmt: skip
        (tmp_path / "g.json").write_text(json.dumps(graph))
        np.savez(tmp_path / "in.npz", x=np.zeros(40, "f4"), n=np.array([3], "i4"))
        run = ("run", tmp_path / "g.json", "--inputs", tmp_path / "in.npz", "--record", tmp_path / "g.sqr")
        assert sqemu(*run).code == 0
        assert sqemu("report", tmp_path / "g.sqr", "-o", tmp_path / "x.html").code == 0
        page = page_at(tmp_path / "x.html")
        assert name in page.data["strings"]
        assert "b" not in {tag for tag, _ in page.read.elements}

    @pytest.mark.parametrize("time", ["-5", "9007199254740993", "1" + "0" * 30])
    def test_times_out_of_bounds(self, changed, sqemu, tmp_path, time):
        """A time that a script cannot hold, or below 0, is a damaged record and no page."""
        record = changed("one.sqr", ('"ended": ', f'"ended": {time}, "was": '))
        found = sqemu("report", record, "-o", tmp_path / "x.html", "--json")
        assert found.code == 2
        assert found.error["error"] == "record.damaged"
        assert not (tmp_path / "x.html").exists()

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('"waits": [', '"waits": [7, '),
            ('"cause": "missing"', '"cause": "luck"'),
            ('"graph": {', '"graph": [], "was": {'),
        ],
    )
    def test_damaged_graphs_of_waits(self, changed, sqemu, tmp_path, before, after):
        """A wait-for graph of another shape is named as the damaged member."""
        found = sqemu("report", changed("dead.sqr", (before, after)), "-o", tmp_path / "x.html", "--json")
        assert found.code == 2
        assert found.error["error"] == "record.damaged"


class TestCommand:
    def test_a_trace_is_refused(self, folder, sqemu, tmp_path):
        """JSON lines have no rings, so they give no page."""
        found = sqemu("report", folder / "a.jsonl", "-o", tmp_path / "x.html", "--json")
        assert (found.code, found.error["error"]) == (2, "report.input")

    def test_what_is_no_record(self, folder, sqemu, tmp_path):
        """A task blob is refused with a message, not a traceback."""
        assert sqemu("report", folder / "p.sqt", "-o", tmp_path / "x.html").code == 2

    def test_other_record_must_belong(self, folder, sqemu, tmp_path):
        """A second record with another number of executions is refused."""
        more = ("--host", folder / "one.sqr", "--json")
        found = sqemu("report", folder / "a.sqr", "-o", tmp_path / "x.html", *more)
        assert (found.code, found.error["error"]) == (2, "report.other")

    def test_the_record_is_never_overwritten(self, folder, sqemu):
        """The page cannot take the place of the record it is of."""
        assert sqemu("report", folder / "a.sqr", "-o", folder / "a.sqr").code == 2

    def test_missing_folder(self, folder, sqemu, tmp_path):
        """A folder that does not exist is said before the work."""
        assert sqemu("report", folder / "a.sqr", "-o", tmp_path / "no/x.html").code == 2

    def test_size_is_told(self, folder, sqemu, tmp_path):
        """The command says how large the page is and what it holds."""
        found = sqemu("report", folder / "a.sqr", "-o", tmp_path / "x.html", "--json").objects[0]
        assert found["bytes"] == (tmp_path / "x.html").stat().st_size
        assert found["entries"] > 0
        assert found["writes"] == 2 * (3 + 2)

    def test_ids_are_explained(self):
        """What this command may say is explained."""
        for name in ("report.input", "report.other"):
            assert Catalog().find(name)
