"""Trace events: kept when on, and drained through structlog into plain JSON."""

from __future__ import annotations

import json

import msgspec
import pytest
import structlog

from emu_core.trace import EVENTS, Doorbell, HazardFound, ModelPhase, TaskDone, Trace, drain

LEVELS = {
    "sq.doorbell": "debug",
    "signal": "debug",
    "cq.entry": "debug",
    "core.pipe": "debug",
    "hazard": "warning",
    "fault": "error",
}
SAMPLES = {int: 7, str: "text", bool: True, int | None: None}


def _sample(kind):
    values = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            values[field.name] = SAMPLES[field.type]
    return kind(**{**values, "time": 12_345_678_901})


def _json_lines(events):
    lines = []

    def keep(_logger, _name, text):
        lines.append(json.loads(text))
        raise structlog.DropEvent

    processors = [structlog.processors.add_log_level, structlog.processors.JSONRenderer(), keep]
    drain(events, structlog.wrap_logger(None, processors=processors))
    return lines


@pytest.mark.parametrize("kind", EVENTS, ids=lambda k: k.name)
def test_every_event_becomes_valid_json_with_integer_times(kind):
    """The event's name and level are there, and nanoseconds stay integers."""
    event = _sample(kind)
    (line,) = _json_lines([event])
    assert line.pop("event") == kind.name
    assert line.pop("level") == LEVELS.get(kind.name, "info")
    assert line == msgspec.structs.asdict(event)
    assert type(line["time"]) is int


def test_event_names_are_unique():
    """A log can be filtered by name."""
    assert len({kind.name for kind in EVENTS}) == len(EVENTS) == 13


def test_events_that_are_off_are_not_kept():
    """Only enabled types are wanted and stored; the rest of the order stays."""
    trace = Trace([TaskDone, ModelPhase])
    assert trace.wants(TaskDone)
    assert not trace.wants(Doorbell)
    for kind in (Doorbell, TaskDone, HazardFound, ModelPhase):
        trace.add(_sample(kind))
    assert [type(e) for e in trace] == [TaskDone, ModelPhase]
    assert len(trace) == 2
    assert trace.since(1) == (_sample(ModelPhase),)


def test_the_users_processors_decide_how_events_look():
    """A processor of the user sees every value and may drop events."""
    seen = []

    def only_hazards(_logger, level, values):
        if level != "warning":
            raise structlog.DropEvent
        seen.append(values)
        raise structlog.DropEvent

    drain([_sample(kind) for kind in EVENTS], structlog.wrap_logger(None, processors=[only_hazards]))
    assert [v["event"] for v in seen] == ["hazard"]
    assert seen[0]["remedy"] == "text"


def test_events_are_frozen():
    """What was recorded cannot be changed afterwards."""
    with pytest.raises(AttributeError):
        _sample(ModelPhase).time = 0
