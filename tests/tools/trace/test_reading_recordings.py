"""What `sqemu trace` takes: records, JSON lines, standard input; and what it refuses, naming the line."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import pytest

from formats import FormatError
from tools.trace.source import Foreign, level_of, name_of, read_recording, values_of

PHASE = {"event": "model", "level": "info", "time": 5, "run": 1, "model": 0, "phase": "start"}


def written(tmp_path, *values):
    """A file of JSON lines."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(each) if isinstance(each, dict) else each for each in values) + "\n")
    return str(path)


class TestRecordings:
    def test_record(self, record):
        """A record gives its executions with their reports, and its chip."""
        found = read_recording(str(record))
        assert [(run.index, run.number, run.report["ok"]) for run in found.runs] == [(0, 1, True), (1, 2, True)]
        assert found.chip == "ascend310p3"
        assert (found.runs[1].started, found.runs[1].ended) == (22603, 45205)

    def test_lines(self, lines):
        """JSON lines are split by the number of the execution; loading belongs to the first."""
        found = read_recording(str(lines))
        assert [(run.index, run.number, dict(run.report)) for run in found.runs] == [(0, 1, {}), (1, 2, {})]
        assert [name_of(event) for event in found.runs[0].events[:2]] == ["model", "model"]

    def test_standard_input(self, sqemu, lines, monkeypatch):
        """`-` reads standard input."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.read_bytes())))
        assert "execution 0 of 2" in sqemu("trace", "summary", "-").out

    def test_events_of_others(self, tmp_path):
        """An event that nobody declares is kept with all its values; blank lines are none."""
        found = read_recording(
            written(tmp_path, PHASE, "", {"event": "x.y", "level": "debug", "time": 6, "run": 1, "a": 2})
        )
        foreign = found.runs[0].events[1]
        assert isinstance(foreign, Foreign)
        assert (name_of(foreign), level_of(foreign), foreign.time, values_of(foreign)) == ("x.y", "debug", 6, {"a": 2})

    def test_keys_of_a_log(self, tmp_path):
        """Lines with further keys, as a log binds them, are read as well."""
        found = read_recording(written(tmp_path, {**PHASE, "device": "d"}))
        assert found.runs[0].events[0].phase == "start"

    def test_execution_that_is_not_there(self, sqemu, record):
        """An execution beyond the last is refused with their number."""
        found = sqemu("trace", "why", record, "0:7", "--run", "2", "--json")
        assert (found.code, found.error["error"]) == (2, "record.run")
        assert found.error["remedy"] == "it has 2, counted from 0"


class TestRefused:
    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("{", "line 2 is no JSON"),
            ("3", "line 2 is no object with the name of an event under event"),
            ('{"event": 3}', "line 2 is no object with the name"),
            ('{"event": "model", "time": 1}', "line 2 is no 'model' event: Object missing required field"),
            ('{"event": "model", "time": "1", "model": 0, "phase": "x"}', "line 2 is no 'model' event: Expected `int`"),
            ('{"event": "x.y"}', "line 2 is no 'x.y' event"),
            ('{"event": "x.y", "time": -1}', "line 2 has time -1, which is none"),
            ('{"event": "x.y", "time": 1, "task": 4294967296}', "line 2 has task 4294967296"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, what):
        """A line that is no event is named by its number, with what is wrong."""
        with pytest.raises(FormatError, match=what) as found:
            read_recording(written(tmp_path, PHASE, line))
        assert found.value.id == "trace.line"

    def test_deep_line(self, tmp_path):
        """A line nested too deep for a reader is refused like any other."""
        with pytest.raises(FormatError, match="line 1 is no"):
            read_recording(written(tmp_path, "[" * 200_000))

    @pytest.mark.parametrize("data", [b"", b"\n\n"])
    def test_empty(self, tmp_path, data):
        """A file without an event is refused."""
        (tmp_path / "t").write_bytes(data)
        with pytest.raises(FormatError) as found:
            read_recording(str(tmp_path / "t"))
        assert found.value.id == "trace.empty"

    def test_record_with_a_bad_line(self, sqemu, record, tmp_path):
        """A record whose trace was changed is refused with the member's name."""
        import zipfile

        path = tmp_path / "bad.sqr"
        with zipfile.ZipFile(record) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                target.writestr(name, b'{"event": "model"}\n' if name == "runs/1/trace.jsonl" else data)
        found = sqemu("trace", "summary", path, "--json")
        assert found.code == 2
        assert found.error["error"] == "trace.line"
        assert found.error["where"].endswith("runs/1/trace.jsonl")

    def test_missing_file(self, sqemu, tmp_path):
        """A file that is not there is an input error."""
        assert sqemu("trace", "patches", tmp_path / "no.sqr", "--json").error["error"] == "input.file"


class TestDamagedRecords:
    @pytest.mark.parametrize(
        ("member", "change"),
        [
            ("report.json", lambda report: {**report, "run": "one"}),
            ("report.json", lambda report: {**report, "run": None}),
        ],
    )
    def test_values_that_cannot_be(self, record, tmp_path, member, change):
        """A number of an execution that is none is damage that is named, not a traceback."""
        path = tmp_path / "bad.sqr"
        with zipfile.ZipFile(record) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                if name == f"runs/0/{member}":
                    first, *others = data.splitlines() if member.endswith("l") else [data]
                    data = b"\n".join([json.dumps(change(json.loads(first))).encode(), *others])
                target.writestr(name, data)
        with pytest.raises(FormatError, match=r"runs/0"):
            read_recording(str(path))
