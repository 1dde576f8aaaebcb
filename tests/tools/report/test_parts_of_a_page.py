"""The parts of a page that are drawn without a script: summary, problems, deadlocks, maps of UB, sink beside host."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from emu_core.setters import Setter, SetterState
from emu_core.wait_graph import Cause, Stuck, Verdict, WaitGraph
from tools.compare.spent import Part
from tools.report.markup import Html, el, join, table, us
from tools.report.summary import bar
from tools.report.wait_picture import MOST_LINKS, wait_picture

STYLE = files("tools.report").joinpath("page" + ".css").read_text()


def texts(svg):
    """Texts of a drawing, in order."""
    return [e.text for e in ET.fromstring(svg).iter("text")]


class TestMarkup:
    def test_text_is_escaped_and_markup_is_not(self):
        """Plain text becomes text, elements stay elements."""
        made = el("p", "<b>", el("i", "&"), class_='"x"', hidden=True, id=None)
        assert made == '<p class="&quot;x&quot;" hidden>&lt;b&gt;<i>&amp;</i></p>'
        assert isinstance(made, Html)

    def test_control_codes_are_shown(self):
        """What cannot be printed appears as an escape; line feeds stay."""
        assert join(["a\u202eb\nc\x00"]) == "a\\u202eb\nc\\x00"

    def test_tables_hold_their_rows(self):
        """A row of another length than the head is a mistake and no table."""
        with pytest.raises(ValueError, match="longer"):
            table((("a", ""), ("b", "n")), [("1",)], caption="x")

    @pytest.mark.parametrize(("ns", "text"), [(0, "0.000"), (999, "0.999"), (1_234_567_890, "1,234,567.890")])
    def test_microseconds(self, ns, text):
        """Nanoseconds are shown as microseconds with three digits."""
        assert us(ns) == text


class TestSummary:
    def test_figures_and_executions(self, page_of):
        """Chip, executions, updates and input files are in the text of the page."""
        text = page_of("a.sqr").read.text
        for word in ("ascend310p3", "in3.npz", "in5.npz", "All are at their default.", "probe.json"):
            assert word in text

    def test_changed_policies(self, page_of):
        """A policy that is not at its default is named outside the folded list."""
        assert "Policies that were changed" in page_of("stale.sqr").read.text

    def test_bar_is_to_scale(self):
        """A quarter of the longest execution is a quarter of the bar."""
        svg = ET.fromstring(bar({Part.KERNELS: 250, Part.TILING: 0, Part.HOST: 500}, 1000))
        assert [(r.get("x"), r.get("width")) for r in svg.iter("rect")] == [("0.0", "250.0"), ("250.0", "500.0")]
        assert svg.get("aria-label") == "kernels 0.250 µs, host, or nothing 0.500 µs"


class TestProblems:
    def test_a_good_run(self, page_of):
        """Without a problem the page says so."""
        assert "No fault, no hazard, no deadlock." in page_of("a.sqr").read.text

    def test_hazards_and_faults_are_explained(self, page_of):
        """Each stands with its id, what to do, and what `sqemu explain` says of it."""
        text = page_of("stale.sqr").read.text
        assert text.index("hazard.stale-prefetch") < text.index("kernel.placeholder-block-dim")
        assert "an entry was rewritten after the scheduler had fetched it" in text
        assert "TS 0x31" in text

    def test_buttons_lead_to_the_timeline(self, page_of):
        """The button of the hazard names its task: stream 0, the third entry behind wait and reset."""
        shows = [a for t, a in page_of("stale.sqr").read.elements if t == "button" and a.get("class") == "link show"]
        assert (shows[0]["data-run"], shows[0]["data-stream"], shows[0]["data-task"]) == ("0", "0", "2")

    def test_a_deadlock_has_cause_and_way_out(self, page_of):
        """The verdict of the wait-for graph is told, and its picture is there."""
        page = page_of("dead.sqr")
        assert "which no entry of any stream sets" in page.read.text
        assert "nobody sets it" in page.text
        assert "deadlock" in page.read.texts["title"][0]


def stuck(stream, *setters, lacks="event 0", is_flag=True):
    """A queue at task 1 that lacks something."""
    return Stuck(stream, f"s{stream}", 1, 1, "event_wait", "", 10, lacks, "why", is_flag, setters)


class TestWaitPicture:
    def test_a_circle_is_strong(self):
        """Two queues that wait for each other: all six links are drawn strong, and lead back."""
        ahead = Setter(1, 3, 3, "event_record", "", SetterState.BEHIND, 1)
        graph = WaitGraph(
            (stuck(0, ahead), stuck(1, replace(ahead, stream=0), lacks="event 1")),
            (Verdict(Cause.CYCLE, (0, 1), "a circle", "break it"),),
        )
        svg = re.search(r"<svg.*</svg>", wait_picture(graph), re.DOTALL)[0]
        links = [e.get("class") for e in ET.fromstring(svg).iter("path") if e.get("class")]
        assert links == ["link strong"] * 6

    def test_nobody_sets_a_flag(self):
        """A flag without a setter leads to nobody; what is no flag leads nowhere."""
        found = texts(re.search(r"<svg.*</svg>", wait_picture(WaitGraph((stuck(0),), ())), re.DOTALL)[0])
        assert found == ["stream 0 (s0)", "task 1 event_wait", "event 0", "since 10 ns", "nobody sets it"]
        lacking = stuck(0, lacks="an active slot", is_flag=False)
        found = texts(re.search(r"<svg.*</svg>", wait_picture(WaitGraph((lacking,), ())), re.DOTALL)[0])
        assert found[-1] == "since 10 ns"

    def test_many_links_are_cut(self):
        """A graph of more links than are drawn says how many are left."""
        graph = WaitGraph(tuple(stuck(n) for n in range(MOST_LINKS + 3)), ())
        assert "3 more links are not drawn." in wait_picture(graph)


@pytest.fixture(scope="module")
def gdn(tmp_path_factory):
    """A folder with a graph of two ChunkGatedDeltaRule nodes of one shape, and inputs."""
    folder = tmp_path_factory.mktemp("gdn")
    shapes = {
        "query": ("float16", (64, 1, 64)), "key": ("float16", (64, 1, 64)), "value": ("float16", (64, 1, 64)),
        "beta": ("float16", (64, 1)), "initial_state": ("float16", (1, 1, 64, 64)),
        "actual_seq_lengths": ("int32", (1,)),
    }  # fmt: skip
    nodes = [
        {"name": f"gdn{k}", "type": "ChunkGatedDeltaRule", "inputs": [*shapes, None], "outputs": [f"o{k}", f"s{k}"],
         "attrs": {"scale_value": 0.5}}
        for k in range(2)
    ]  # fmt: skip
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "gdn", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": n, "dtype": d, "shape": list(s)} for n, (d, s) in shapes.items()],
        "nodes": nodes, "outputs": ["o0", "o1"],
    }  # fmt: skip
    (folder / "gdn.json").write_text(json.dumps(graph))
    arrays = {name: np.zeros(shape, dtype) for name, (dtype, shape) in shapes.items()}
    np.savez(folder / "in.npz", **{**arrays, "actual_seq_lengths": np.array([64], "i4")})
    return folder


class TestUbMaps:
    def test_one_map_for_equal_nodes(self, gdn, sqemu, page_at, tmp_path):
        """Two nodes of one shape share a map: head size 64 has bucket 64, key 0, and all its buffers."""
        run = ("run", gdn / "gdn.json", "--inputs", gdn / "in.npz", "--record", tmp_path / "g.sqr")
        assert sqemu(*run).code == 0
        assert sqemu("report", tmp_path / "g.sqr", "-o", tmp_path / "g.html").code == 0
        page = page_at(tmp_path / "g.html")
        part = re.search(r'<section id="ub".*?</section>', page.text, re.DOTALL)[0]
        assert part.count("<svg") == 1
        assert "gdn0, gdn1" in part
        assert "bucket 64" in part
        assert "tiling key 0" in part
        assert "chunkK" in part
        assert "<style" not in part

    def test_every_class_of_a_map_has_a_style(self, gdn, sqemu, page_at, tmp_path):
        """The page styles each kind of box and text that a drawing uses."""
        run = ("run", gdn / "gdn.json", "--inputs", gdn / "in.npz", "--record", tmp_path / "g.sqr")
        assert sqemu(*run).code == 0
        assert sqemu("report", tmp_path / "g.sqr", "-o", tmp_path / "g.html").code == 0
        part = re.search(r'<section id="ub".*?</section>', page_at(tmp_path / "g.html").text, re.DOTALL)[0]
        for look in {word for text in re.findall(r'class="([^"]*)"', part) for word in text.split()} - {"ub"}:
            assert re.search(rf"\.ub [a-z]*\.{look}\b|\.ub \.{look}\b", STYLE), look


class TestSinkAndHost:
    def test_times_of_both_ways(self, folder, page_of):
        """The comparison has the durations that both records tell, and the same input files."""
        text = page_of("a.sqr", "--host", "FOLDER/host.sqr").read.text
        for name in ("a.sqr", "host.sqr"):
            for run in (0, 1):
                with zipfile.ZipFile(folder / name) as members:
                    report = json.loads(members.read(f"runs/{run}/report.json"))
                took = report["ended"] - report["started"]
                assert f" {took // 1000}.{took % 1000:03} " in text
        assert "The tiling of 1 operator sinks to the device in one record, of 0 in the other." in text
        assert "Recorded with the same input files." in text

    def test_one_way_twice_is_said(self, page_of):
        """Two records of the same way are told from a comparison."""
        assert "they show the same way twice" in page_of("a.sqr", "--host", "FOLDER/a.sqr").read.text


class TestThemes:
    def test_light_and_dark_have_the_same_colours(self):
        """Each of the three lists of colours names the same ones, and both dark lists have the same values."""
        lists = [
            dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
            for block in re.findall(r"\{([^{}]*--page:[^{}]*)\}", STYLE)
        ]
        light, *dark = lists
        assert len(dark) == 2
        assert dark[0] == dark[1]
        assert set(light) == set(dark[0])

    @pytest.mark.parametrize(
        ("ink", "back"),
        [
            ("ink", "page"), ("soft", "page"), ("soft", "raised"), ("accent", "page"), ("good", "good-back"),
            ("warn", "warn-back"), ("bad", "bad-back"), ("mark-ink", "mark"), ("neutral-ink", "neutral"),
        ],
    )  # fmt: skip
    def test_contrast(self, ink, back):
        """Text has a contrast of at least 4.5 to 1 in both themes."""
        for block in re.findall(r"\{([^{}]*--page:[^{}]*)\}", STYLE):
            colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
            high, low = sorted((luminance(colours[name]) for name in (ink, back)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(colour):
    """Relative luminance of an sRGB colour."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
