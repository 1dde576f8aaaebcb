"""`sqemu check`: exit codes, the table of limits, findings, JSON, and what it does with programs that do not fit."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from formats.blob import BlobStream, BlobTask, TaskType, decode, encode

PLUGIN = '''
"""A check that finds fault with every program."""
from emu_core.checks import CheckSpec, Finding, Level
from emu_core.hookspecs import hookimpl

def run(blob, chip, policies, host):
    yield Finding(Level.WARNING, "mine.name", f"graph {blob.name}", f"is called {blob.name}", "call it otherwise")

@hookimpl
def sqemu_checks():
    return (CheckSpec("naming", "the graph has a good name", run),)
'''


@pytest.fixture
def graph(probe):
    """The probe graph."""
    return probe / "probe.json"


@pytest.fixture
def blob(sqemu, probe, graph):
    """The probe compiled for the default chip, as a path."""
    assert sqemu("compile", graph, "-o", probe / "p.sqt", "--online").code == 0
    return probe / "p.sqt"


@pytest.fixture
def write(probe, blob):
    """Writes the blob with some changes; gives the path."""

    def change(**changes):
        path = probe / "changed.sqt"
        path.write_bytes(encode(replace(decode(blob.read_bytes()), **changes)))
        return path

    return change


def by_type(found):
    """JSON objects of an outcome by their type."""
    kinds = {}
    for each in found.objects:
        kinds.setdefault(each["type"], []).append(each)
    return kinds


class TestCleanPrograms:
    def test_graph_and_blob(self, sqemu, graph, blob):
        """Both are exit 0, with a row per limit and a line per check."""
        for program in (graph, blob):
            found = sqemu("check", program)
            assert found.code == 0
            head = "probe on ascend310p3: 11 tasks, 2 streams, 1 event, 1 operator, 1 with tiling on the device"
            assert head in " ".join(found.out.split())
            assert re.search(r"tasks on stream 0 \(main_0\) +9 +2042 +0\.4 %\s+probe0 8, end of graph 1", found.out)
            assert re.search(r"events +1 +1023 +< 0\.1 %\s+probe0", found.out)
            for name in ("references", "fit", "supplied", "sink", "distance", "events", "races"):
                assert re.search(rf"^  {name} +ok ", found.out, re.MULTILINE)
            assert re.search(r"\n0 errors, 0 warnings, 0 notes in \d+ checks\n$", found.out)

    def test_json(self, sqemu, blob):
        """Numbers stay integers, users are listed, and a summary ends the lines."""
        kinds = by_type(sqemu("check", blob, "--json"))
        assert kinds["program"] == [
            {"type": "program", "program": str(blob), "chip": "ascend310p3", "name": "probe", "tasks": 11, "streams": 2,
             "events": 1, "operators": 1, "sinking": 1}
        ]  # fmt: skip
        assert [(x["figure"], x["used"], x["available"]) for x in kinds["limit"]][:3] == [
            ("usable_tasks", 9, 2042), ("usable_tasks", 3, 2042), ("max_streams", 3, 992),
        ]  # fmt: skip
        assert kinds["limit"][0]["users"] == [{"name": "probe0", "count": 8}, {"name": "end of graph", "count": 1}]
        assert kinds["summary"] == [{"type": "summary", "errors": 0, "warnings": 0, "infos": 0, "ok": True}]

    def test_standard_input(self, sqemu, graph, monkeypatch):
        """`-` is standard input."""
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(graph.read_bytes())))
        assert sqemu("check", "-").code == 0

    def test_a_blob_is_checked_for_its_own_chip(self, sqemu, probe, graph):
        """Without --chip the chip is the blob's own."""
        sqemu("compile", graph, "-o", probe / "b.sqt", "--chip", "ascend910b4-1")
        assert "on ascend910b4-1" in sqemu("check", probe / "b.sqt").out

    def test_host_scheduled(self, sqemu, probe, graph):
        """Without the sink only streams and memory are limited."""
        kinds = by_type(sqemu("check", graph, "--tiling_schedule_optimize", "0", "--json"))
        assert [x["figure"] for x in kinds["limit"]] == ["max_streams", "memory_bytes"]
        assert "host scheduled" in sqemu("check", graph, "--tiling_schedule_optimize", "0").out

    def test_without_the_loader(self, sqemu, blob):
        """The plugin that loads programs is not needed to check them."""
        assert sqemu("check", blob, "--no-plugin", "runtime").code == 0

    def test_assumed_figures_are_marked(self, sqemu, graph):
        """A figure that no source states is marked, and where to read about it is said."""
        found = sqemu("check", graph, "--chip", "ascend910b2c")
        assert re.search(r"memory .* assumed$", found.out, re.MULTILINE)
        assert "sqemu chips ascend910b2c says" in found.out

    def test_policies_a_blob_brings_from_elsewhere(self, sqemu, write):
        """A recorded policy that no plugin knows any more decides nothing, and is no error."""
        assert sqemu("check", write(policies={"gone": "1", "nop_count": "never"})).code == 0


class TestFindings:
    def test_an_error_is_exit_1(self, sqemu, graph):
        """S23 before the run: zero NOPs on a 910B4-1."""
        found = sqemu("check", graph, "--chip", "ascend910b4-1", "--policy", "nop_count=platform")
        assert found.code == 1
        assert "error check.nop-distance: task #2 (ALL_KERNEL of probe0)" in found.out
        assert "do: the smallest safe count is 7: compile with --policy nop_count=7" in " ".join(found.out.split())
        assert re.search(r"\n1 error, 0 warnings, 0 notes in \d+ checks\n$", found.out)

    def test_device_policies_count(self, sqemu, blob):
        """The default 5 NOPs of a 310P are too few for the platform's depth 10, and enough without any prefetch."""
        assert sqemu("check", blob, "--policy", "prefetch_depth=platform").code == 1
        assert sqemu("check", blob, "--policy", "prefetch_depth=0").code == 0

    def test_findings_as_json(self, sqemu, blob):
        """Each finding is an object with level, id, place, sentence and remedy."""
        found = by_type(sqemu("check", blob, "--policy", "prefetch_depth=platform", "--json"))
        assert {k: found["finding"][0][k] for k in ("check", "level", "id")} == {
            "check": "distance", "level": "error", "id": "check.nop-distance",
        }  # fmt: skip
        assert found["summary"][0]["ok"] is False
        assert {x["check"]: x["findings"] for x in found["check"]}["distance"] == 1

    def test_strict(self, sqemu, blob):
        """A note is exit 0, and 1 with --strict."""
        notes = ("check", blob, "--policy", "prefetch_depth=platform", "--policy", "stale_prefetch=refetch")
        assert sqemu(*notes).code == 0
        assert sqemu(*notes, "--strict").code == 1

    def test_another_chip(self, sqemu, blob):
        """A blob of another chip is an error-level finding, not a refusal to look."""
        found = sqemu("check", blob, "--chip", "ascend910b3")
        assert found.code == 1
        assert "error blob.chip: graph probe" in found.out

    def test_checks_of_plugins(self, sqemu, probe, blob):
        """A plugin's check is run and listed like our own; --no-plugin checks leaves ours out."""
        (probe / "mine.py").write_text(PLUGIN)
        found = sqemu("check", blob, "--plugin", probe / "mine.py")
        assert found.code == 0
        assert re.search(r"naming +1 warning +the graph has a good name", found.out)
        assert "warning mine.name: graph probe" in found.out
        assert sqemu("check", blob, "--plugin", probe / "mine.py", "--strict").code == 1
        only = by_type(sqemu("check", blob, "--plugin", probe / "mine.py", "--no-plugin", "checks", "--json"))
        names = [x["check"] for x in only["check"]]
        assert names[:1] + names[-1:] == ["references", "naming"]
        assert not {"fit", "sink", "races"} & set(names)

    def test_many_findings(self, sqemu, write, blob):
        """Fifty are printed, the others counted; --json has all of them."""
        tasks = decode(blob.read_bytes()).tasks
        path = write(tasks=(*tasks[:-1], *[BlobTask(99, 0)] * 60, tasks[-1]))
        assert "10 more are not shown" in sqemu("check", path).out
        assert len(by_type(sqemu("check", path, "--json"))["finding"]) == 60

    def test_every_id_is_explained(self, sqemu):
        """`sqemu explain` knows the ids of the checks."""
        for id_ in ("check.nop-distance", "check.value-race", "check.sink-order", "chip.no-engines"):
            assert sqemu("explain", id_).code == 0


class TestProgramsThatDoNotFit:
    def test_a_full_stream(self, sqemu, write, blob):
        """The table shows the limit that is exceeded, the finding who used it up."""
        made = decode(blob.read_bytes())
        path = write(tasks=(*[BlobTask(TaskType.NOP, 0, node="filler")] * 2034, *made.tasks))
        found = sqemu("check", path)
        assert found.code == 1
        assert re.search(
            r"tasks on stream 0 \(main_0\) +2043 +2042 +100\.0 % +too much\s+filler 2034, probe0 8", found.out
        )
        assert "error EE1019: graph probe" in found.out

    @staticmethod
    def _many(nodes, graph):
        many = json.loads(graph.read_text())
        many["nodes"] = [{**many["nodes"][0], "name": f"p{i}", "outputs": [f"y{i}"]} for i in range(nodes)]
        many["outputs"] = ["y0"]
        return many

    def test_a_graph_that_is_too_large(self, sqemu, probe, graph):
        """A graph that the compiler refuses for its size is measured all the same."""
        (probe / "many.json").write_text(json.dumps(self._many(260, graph)))
        found = sqemu("check", probe / "many.json", "--json", "--policy", "stream_split=off")
        kinds = by_type(found)
        assert found.code == 1
        # 260 x (wait and reset, 5 NOPs, kernel) and the end
        assert (kinds["limit"][0]["used"], kinds["limit"][0]["available"]) == (2081, 2042)
        assert [x["id"] for x in kinds["finding"]] == ["EE1019"]
        assert "--policy stream_split=on" in kinds["finding"][0]["remedy"]

    def test_it_is_measured_as_the_compiler_splits_it(self, sqemu, probe, graph):
        """A graph that is refused for its events: no stream is too long, and the events are those of the refusal.

        Main stream: (2042 - 27) // 8 = 251 operators in the first part, 5 parts for 1100; tiling stream: 3 entries
        each, 671 operators in the first part, 2 parts. So 5 events join parts, beside one per operator.
        """
        (probe / "many.json").write_text(json.dumps(self._many(1100, graph)))
        kinds = by_type(sqemu("check", probe / "many.json", "--json"))
        refusal = sqemu("compile", probe / "many.json", "-o", probe / "p.sqt", "--online")
        assert [x["id"] for x in kinds["finding"]] == ["207007"]
        assert "the program takes 1105" in kinds["finding"][0]["what"]
        assert "the program takes 1105" in refusal.err
        assert "joins of split streams 5, " in kinds["finding"][0]["what"]
        assert "stream_split" in kinds["finding"][0]["remedy"]
        assert not any(x["exceeded"] for x in kinds["limit"] if x["figure"] == "usable_tasks")
        assert (kinds["program"][0]["streams"], kinds["program"][0]["events"]) == (7, 1105)

    def test_an_operator_that_is_too_long_for_a_ring(self, sqemu, probe, graph):
        """Streams are split between operators; what is too long alone is named, and so is the other way out."""
        (probe / "two.json").write_text(json.dumps(self._many(2, graph)))
        kinds = by_type(sqemu("check", probe / "two.json", "--json", "--policy", "nop_count=2100"))
        findings = [x for x in kinds["finding"] if x["id"] == "EE1019"]
        assert len(findings) == 2
        # wait and reset, 2100 NOPs, kernel; the first part ends with a record
        assert "the program takes 2104: p0 2103, joins of split streams 1" in findings[0]["what"]
        assert "policy nop_count" in findings[0]["remedy"]

    def test_from_standard_input(self, sqemu, graph, monkeypatch):
        """What comes through a pipe is measured like a file."""
        text = json.dumps(self._many(260, graph)).encode()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        found = sqemu("check", "-", "--policy", "stream_split=off")
        assert found.code == 1
        assert re.search(r"tasks on stream 0 \(main_0\) +2081 +2042 +101\.9 % +too much", found.out)
        assert "error EE1019" in found.out

    def test_many_streams(self, sqemu, write, blob):
        """The eight fullest streams have rows, the others a line."""
        made = decode(blob.read_bytes())
        path = write(streams=(*made.streams, *(BlobStream(i, f"s{i}") for i in range(2, 1000))))
        found = sqemu("check", path)
        assert found.code == 1
        assert "and 992 more streams with at most 0 tasks each" in found.out
        assert "error 207008" in found.out


class TestUnreadable:
    @pytest.mark.parametrize(
        "arguments", [("nothing.json",), ("--chip", "ascend9", "probe.json"), ("--policy", "what=1", "probe.json")]
    )
    def test_exit_2(self, sqemu, probe, monkeypatch, arguments):
        """No such file, chip or policy."""
        monkeypatch.chdir(probe)
        assert sqemu("check", *arguments, "--json").code == 2

    def test_damaged_blob(self, sqemu, blob):
        """A changed byte is found by the checksum; exit 2 with the file named."""
        raw = bytearray(blob.read_bytes())
        raw[200] ^= 1
        blob.write_bytes(raw)
        found = sqemu("check", blob, "--json")
        assert (found.code, found.error["error"]) == (2, "blob.crc")

    def test_not_a_graph(self, sqemu, probe):
        """Text that is no graph is exit 2."""
        (probe / "bad.json").write_text("{}")
        assert sqemu("check", probe / "bad.json").code == 2

    def test_compile_policies_of_a_blob(self, sqemu, blob):
        """What was decided at compile time cannot be given for a blob."""
        assert sqemu("check", blob, "--policy", "nop_count=3", "--json").error["error"] == "option.compiled"

    def test_a_check_that_raises(self, sqemu, probe, blob):
        """A broken check is named, without a traceback."""
        (probe / "broken.py").write_text(PLUGIN.replace("yield Finding", "yield 1 // 0, Finding"))
        found = sqemu("check", blob, "--plugin", probe / "broken.py", "--json")
        assert (found.code, found.error["error"]) == (2, "plugin.check-raised")


class TestWidths:
    @pytest.mark.parametrize("columns", [60, 80, 100, 160])
    def test_nothing_is_too_wide_and_nothing_is_dropped(self, sqemu, graph, monkeypatch, columns):
        """On a terminal no line is too long, and every word of the unlimited output is there."""
        call = ("check", graph, "--chip", "ascend910b4-1", "--policy", "nop_count=platform")
        words = set(re.findall(r"[\w.%-]+", sqemu(*call).out))
        monkeypatch.setattr("tools.show.width", lambda: columns)
        out = sqemu(*call).out
        assert max(len(line) for line in out.splitlines()) <= columns
        table_only = {"limit", "used", "available", "share", "largest", "users", "stand", "below", "each", "the"}
        missing = {w for w in words - set(re.findall(r"[\w.%-]+", out)) if not re.fullmatch("-+", w)}
        assert missing <= table_only
