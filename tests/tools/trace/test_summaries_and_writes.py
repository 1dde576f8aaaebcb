"""`sqemu trace events`, `summary`, `patches`, `journal` of the probe, with figures worked out by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.trace.show_summary import covered


def flat(text):
    """Text without line breaks."""
    return " ".join(text.split())


class TestEvents:
    def test_all(self, sqemu):
        """Every event is listed with its level; no line is wider than 80 columns."""
        found = sqemu("trace", "events")
        for name in ("model", "sqe.patch", "task.wait", "hazard", "core.pipe", "cq.entry"):
            assert f"\n{name}  level " in found.out
        assert "Fields of all events:" in found.out
        assert max(map(len, found.out.splitlines())) <= 80

    def test_one(self, sqemu):
        """A name gives this event alone."""
        (only,) = sqemu("trace", "events", "cell.write", "--json").objects
        assert (only["name"], only["level"], [f["name"] for f in only["fields"]][:2]) == (
            "cell.write", "info", ["address", "what"],
        )  # fmt: skip

    def test_unknown(self, sqemu):
        """A mistyped name is answered with near ones."""
        found = sqemu("trace", "events", "task.don", "--json")
        assert (found.code, found.error["error"]) == (2, "trace.event")
        assert "task.done" in found.error["remedy"]

    def test_schema_covers_a_trace(self, sqemu, lines):
        """Every line that a run writes matches the schema that the command prints."""
        jsonschema = pytest.importorskip("jsonschema", reason="the dev extra has it")
        validator = jsonschema.Draft202012Validator(json.loads(sqemu("trace", "events", "--schema").out))
        for line in lines.read_text().splitlines():
            validator.validate(json.loads(line))

    def test_plugin(self, sqemu, tmp_path):
        """An event that a plugin declares is listed with the annotations of its fields."""
        plugin = tmp_path / "warm.py"
        plugin.write_text(
            "from typing import Annotated, ClassVar\n"
            "import msgspec\n"
            "from emu_core.hookspecs import hookimpl\n"
            "from emu_core.trace import Event\n"
            "class Warm(Event, frozen=True, gc=False, kw_only=True):\n"
            '    """It is warm."""\n'
            '    name: ClassVar[str] = "warm.core"\n'
            '    heat: Annotated[int, msgspec.Meta(description="how warm", extra={"unit": "mK"})]\n'
            "@hookimpl\n"
            "def sqemu_explanations():\n"
            "    return {}\n"
        )
        found = sqemu("trace", "events", "warm.core", "--plugin", plugin)
        assert found.code == 0
        assert flat(found.out).endswith("heat int mK how warm")


class TestSummary:
    def test_figures(self, sqemu, record):
        """The tiling stream is busy 15000 + 2000 + 500 of 22603 ns; the main stream waits 17500."""
        found = sqemu("trace", "summary", record, "--run", "0", "--json").objects[0]
        streams = {row["name"]: row for row in found["streams"]}
        assert (streams["1"]["busy"], streams["1"]["entries"], streams["1"]["share"]) == (17500, 3, 77.4)
        assert (streams["0"]["waits"], streams["0"]["waited"]) == (1, 17500)
        assert streams["0"]["busy"] == 100 + 5 * 100 + 3003 + 500
        engines = {row["name"]: row["busy"] for row in found["engines"]}
        assert (engines["ai_cpu"], engines["ai_core"], engines["task_update"]) == (15000, 3003, 2000)
        kinds = {row["name"]: (row["entries"], row["longest"]) for row in found["kinds"]}
        assert kinds["nop"] == (5, 100)
        assert found["events"]["sqe.patch"] == 3

    def test_failures_are_counted(self, sqemu, stale):
        """An entry that failed counts for its stream."""
        found = sqemu("trace", "summary", stale, "--json").objects[0]
        assert {row["name"]: row["failed"] for row in found["streams"]} == {"0": 1, "1": 0, "2": 1}

    def test_text(self, sqemu, record):
        """Both executions are told, within 80 columns."""
        found = sqemu("trace", "summary", record)
        assert "execution 1 of 2: 22603 to 45205 ns, 22.6 µs" in found.out
        assert max(map(len, found.out.splitlines())) <= 80

    @given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12))
    def test_covered_time(self, spans):
        """Covered time is the number of nanoseconds that lie in a span."""
        spans = [(start, start + length) for start, length in spans]
        assert covered(spans) == len({at for start, end in spans for at in range(start, end)})


class TestPatches:
    def test_values(self, sqemu, record):
        """An update of a plain kernel writes three fields; the second execution reads key 2, row 2, block dim 5."""
        found = sqemu("trace", "patches", record, "--run", "1", "--json").objects
        assert [each["field"] for each in found] == ["pc_addr_low", "pc_addr_high", "block_dim"]
        last = found[-1]
        assert (last["before"], last["after"], last["tiling_key"], last["table_row"]) == (3, 5, 2, 2)
        assert (last["stream"], last["slot"], last["task"], last["bit_offset"], last["bit_width"]) == (0, 7, 7, 16, 16)
        assert (last["by_stream"], last["by_task"], last["engine"], last["run"]) == (1, 1, "task_update", 1)

    def test_text(self, sqemu, record):
        """The table has a row per write within 80 columns, and says what its columns are."""
        found = sqemu("trace", "patches", record)
        assert max(map(len, found.out.splitlines())) <= 80
        assert "offset and width" in flat(found.out)
        one = sqemu("trace", "patches", record, "--run", "0").out
        assert "run  time" not in one
        assert "16+16  0xffff" in one

    def test_none(self, sqemu, tmp_path):
        """A trace without patches says so."""
        path = tmp_path / "t.jsonl"
        path.write_text('{"event": "model", "time": 0, "run": 1, "model": 0, "phase": "start"}\n')
        assert sqemu("trace", "patches", path).out == "no entry and no context was patched\n"


class TestJournal:
    def test_history_and_last_writer(self, sqemu, record):
        """The block dim of the kernel went 0xffff, 3, 5; the last writer is the update of the second execution."""
        found = sqemu("trace", "journal", record, "--field", "block_dim", "--task", "0:7")
        assert "0:7 AicoreKernelSqe.block_dim is 5: last written in execution 1 at 40603 ns by 1:1 task_update" in flat(
            found.out
        )
        values = sqemu("trace", "journal", record, "--field", "AicoreKernelSqe.block_dim", "--json").objects
        assert [(each["before"], each["after"]) for each in values] == [(0xFFFF, 3), (3, 5)]

    def test_cell(self, sqemu, record):
        """A tiling cell is named by its label."""
        found = sqemu("trace", "journal", record, "--field", "tiling key of probe0")
        assert "tiling key of probe0 is 2: last written in execution 1 at 38603 ns by 1:0 ai_cpu" in flat(found.out)

    def test_everything_of_an_entry(self, sqemu, record):
        """Without a field every write to the entry is told."""
        assert len(sqemu("trace", "journal", record, "--task", "0:7", "--run", "0", "--json").objects) == 3

    def test_as_it_was_loaded(self, sqemu, record):
        """A field that nobody wrote has the value that the ring of the record shows: NOPs are place holders, type 3."""
        found = sqemu("trace", "journal", record, "--field", "type", "--task", "0:3", "--json")
        assert (found.code, found.objects[0]["value"], found.objects[0]["entry"]) == (0, 3, "0:3")
        struct = found.objects[0]["struct"]
        text = sqemu("trace", "journal", record, "--field", f"{struct}.type", "--task", "0:3").out
        assert flat(text) == f"0:3 {struct}.type is 3 since it was loaded: nobody wrote it"

    def test_lines_have_no_rings(self, sqemu, lines):
        """JSON lines do not tell how an entry was loaded."""
        found = sqemu("trace", "journal", lines, "--field", "type", "--task", "0:3", "--json")
        assert found.error["error"] == "trace.field"

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--field", "block_dimm"), ("--task", "0:3"), ("--field", "x", "--task", "0:7"),
            ("--field", "type", "--task", "2:0"), ("--field", "X.type", "--task", "0:3"),
            ("--field", "type", "--task", "0:99"),
        ],
    )  # fmt: skip
    def test_never_written(self, sqemu, record, arguments):
        """What nobody wrote is refused, and says that it keeps the value that was loaded."""
        found = sqemu("trace", "journal", record, *arguments, "--json")
        assert (found.code, found.error["error"]) == (2, "trace.field")
        assert "the value it was loaded with" in found.error["what"]
