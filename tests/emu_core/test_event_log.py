"""Events through structlog with a bound context, filtered; also with processors of a user."""

from __future__ import annotations

import io
import json

import pytest
import structlog
from structlog.testing import CapturingLogger

from emu_core.event_log import EVERYTHING, LogFilter, send
from emu_core.trace import CellWritten, HazardFound, ModelPhase, SignalChanged, TaskWaits

WAIT = TaskWaits(time=7, run=1, stream=3, slot=2, task=2, node="probe0", kind="event_wait", signal="event 0")
SET = SignalChanged(time=9, run=1, signal="event 0", value=1, stream=1, task=4)
CELL = CellWritten(time=5, run=1, address=64, what="key", before=0, after=2, writer_stream=1, writer_task=3, engine="c")
MODEL = ModelPhase(time=0, run=1, model=0, phase="start")
HAZARD = HazardFound(time=9, run=1, id="h", stream=3, slot=2, task=2, what="w", remedy="r")
ALL = (MODEL, CELL, WAIT, SET, HAZARD)


def sent(events, **more):
    """What comes out as JSON lines."""
    out = io.StringIO()
    logger = structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )
    count = send(events, logger, **more)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(lines) == count
    return lines


class TestContext:
    def test_place_and_operator_are_bound(self):
        """Device, model, stream, task and op are bound; the other fields follow, times as integers."""
        (line,) = sent([WAIT], device="ascend310p3", model=0)
        assert line == {
            "device": "ascend310p3", "model": 0, "stream": 3, "task": 2, "op": "probe0", "time": 7, "run": 1, "slot": 2,
            "model_task": -1, "kind": "event_wait", "signal": "event 0", "event": "task.wait", "level": "info",
        }  # fmt: skip
        assert list(line)[:5] == ["device", "model", "stream", "task", "op"]

    def test_no_operator(self):
        """An entry of no graph node has no op, and a model no stream."""
        assert "op" not in sent([HAZARD])[0]
        assert not {"stream", "task", "op"} & set(sent([MODEL])[0])

    def test_cell(self):
        """A write to a cell is about the task that wrote it."""
        line = sent([CELL])[0]
        assert (line["stream"], line["task"], line["writer_stream"]) == (1, 3, 1)

    def test_processors_see_the_bound_context(self):
        """A processor of the user gets the context with the event, and may drop it."""
        seen = []

        def keep(_logger, method, values):
            seen.append((method, values["event"], values.get("stream"), values["device"]))
            raise structlog.DropEvent

        send(ALL, structlog.wrap_logger(CapturingLogger(), processors=[keep]), device="d")
        assert seen == [
            ("info", "model", None, "d"), ("info", "cell.write", 1, "d"), ("info", "task.wait", 3, "d"),
            ("debug", "signal", 1, "d"), ("warning", "hazard", 3, "d"),
        ]  # fmt: skip


class TestFilter:
    @pytest.mark.parametrize(
        ("wanted", "names"),
        [
            (EVERYTHING, ["model", "cell.write", "task.wait", "signal", "hazard"]),
            (LogFilter("info"), ["model", "cell.write", "task.wait", "hazard"]),
            (LogFilter("warning"), ["hazard"]),
            (LogFilter("error"), []),
            (LogFilter(events=frozenset({"signal", "model"})), ["model", "signal"]),
            (LogFilter(streams=frozenset({1})), ["cell.write", "signal"]),
            (LogFilter(streams=frozenset({3})), ["task.wait", "hazard"]),
            (LogFilter("info", frozenset({"signal"}), frozenset({1})), []),
        ],
    )
    def test_level_events_streams(self, wanted, names):
        """Only what passes level, names and streams is sent."""
        assert [line["event"] for line in sent(ALL, wanted=wanted)] == names
