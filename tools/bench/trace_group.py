"""Figures of logs and timelines: R12 and R14, with R13 from the core; both sides write the same content.

| figure | the two sides |
|---|---|
| R12, R12-native | the same events as JSON lines: a structlog logger, called for each; or `Trace.lines` of a device |
| R13 | a log site whose event is off |
| R14 | the same slices: a dict per slice through orjson as Chrome's JSON; or `tools.trace.perfetto` from columns |
| R14-bytes | bytes of the two files that `sqemu trace timeline` writes |
"""

from __future__ import annotations

import importlib
import io
import json
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import structlog

from emu_core.trace import TaskDone
from tools.bench import queues
from tools.bench.core_group import disabled_site
from tools.bench.naive import json_logger
from tools.bench.pairs import Pair, PeerMissingError, Side, UnequalError
from tools.bench.queues import Loaded, Shape
from tools.trace.chrome import chrome_json
from tools.trace.perfetto import END, TYPE, interned, perfetto_trace, slice_packets
from tools.trace.scene import scene_of
from tools.trace.source import RecordedRun, Recording
from tools.trace.wire import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from emu_core.slices import Slices

STREAMS, TASKS, PERIOD = 4, 1_000, 200
QUEUE_TASKS = 4_000
"""Entries of the one queue of R12: the peer is given its events in order, so ours need no merging either."""
PEER_EVENTS = 1_000
SLICES, PEER_SLICES = 200_000, 20_000


def _same(what: str, left: object, right: object) -> None:
    if left != right:
        raise UnequalError(f"{what}: the two sides do not give the same result")


def _ran(streams: int, tasks: int) -> Loaded:
    """A device that ran streams which wait for each other, and kept the end of every entry."""
    shape = Shape(streams, tasks, PERIOD)
    loaded = Loaded([shape.units(stream, queues.layouts()) for stream in range(streams)], (TaskDone,))
    loaded.run()
    return loaded


# ---- R12 -----------------------------------------------------------------------------------------------------------


def _native(out: io.BytesIO) -> Any:  # noqa: ANN401 - structlog's own proxy type
    """The fastest set-up by the documentation of structlog: bytes, orjson, an ISO time stamp."""
    orjson = orjson_module()
    return structlog.wrap_logger(
        structlog.BytesLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(20),
        cache_logger_on_first_use=True,
    ).bind()


def orjson_module() -> Any:  # noqa: ANN401 - an optional peer
    """orjson; `PeerMissingError` when it is not installed."""
    try:
        return importlib.import_module("orjson")
    except ImportError:
        raise PeerMissingError("orjson is not installed; pip install orjson") from None


def event_log(make: Callable[[Any], Any], out: Any) -> tuple[Side, Side]:  # noqa: ANN401 - a text or a byte stream
    """R12: events as JSON lines; `make` gives the peer's logger, which writes to `out`."""
    loaded, logger = _ran(1, QUEUE_TASKS), make(out)
    trace = loaded.device.trace
    ours = trace.lines((TaskDone,))
    lines = ours.splitlines()
    values = [msgspec.json.decode(line) for line in lines[:PEER_EVENTS]]
    said = [{name: value for name, value in each.items() if name not in {"event", "level"}} for each in values]

    def theirs() -> None:
        out.seek(0)
        out.truncate()
        for each in said:
            logger.info("task.done", **each)

    theirs()
    written = [json.loads(line) for line in out.getvalue().splitlines()]
    _same("event log", [{n: v for n, v in each.items() if n != "timestamp"} for each in written], values)
    return Side(theirs, len(said)), Side(lambda: trace.lines((TaskDone,)), len(lines))


# ---- R14 -----------------------------------------------------------------------------------------------------------


def _slices() -> Slices:
    """Slices of a device that ran, as many as `SLICES`: later ones are the same, later."""
    found = _ran(STREAMS, TASKS).device.trace.slices()
    span = int(found.rows["end"].max())
    rows = np.resize(found.rows, SLICES)
    late = np.arange(SLICES) // len(found.rows) * span
    rows["start"] += late
    rows["end"] += late
    return type(found)(rows, found.kinds)


def chrome_of(rows: npt.NDArray[np.void], names: Sequence[str], dumps: Callable[[Any], bytes]) -> bytes:
    """Slices as Chrome's JSON, a dict each, as its users write it."""
    columns = (rows[name].tolist() for name in ("start", "end", "stream", "kind"))
    events = [
        {"name": names[kind], "ph": "X", "ts": start / 1000, "dur": (end - start) / 1000, "pid": 1, "tid": stream}
        for start, end, stream, kind in zip(*columns, strict=True)
    ]
    return dumps({"traceEvents": events})


def perfetto_of(rows: npt.NDArray[np.void], names: Sequence[str]) -> bytes:
    """The same slices as packets of Perfetto; tracks are streams and one more, for 0 is none."""
    packets = slice_packets(rows["start"], rows["end"], rows["stream"] + 1, rows["kind"] + 1)
    return interned({name: iid for iid, name in enumerate(names, 1)}, {}) + packets.tobytes()


def _read(data: bytes, names: Sequence[str]) -> list[tuple[str, int, int, int]]:
    """(name, stream, start, end) of each slice of a trace, by reading its packets field by field."""
    found: list[tuple[str, int, int, int]] = []
    for packet in (dict(fields(body)) for _, body in list(fields(data))[1:]):
        event: Mapping[int, Any] = dict(fields(packet[11]))
        if event[TYPE] == END:
            found[-1] = (*found[-1][:3], packet[8])
        else:
            found.append((names[event[10] - 1], event[11] - 1, packet[8], -1))
    return found


def timeline() -> tuple[Side, Side]:
    """R14: a timeline from columns."""
    dumps = orjson_module().dumps
    found = _slices()
    names = [kind for _, kind in found.kinds]
    few = found.rows[:PEER_SLICES]
    theirs = json.loads(chrome_of(few, names, dumps))["traceEvents"]
    told = [
        (each["name"], each["tid"], round(each["ts"] * 1000), round((each["ts"] + each["dur"]) * 1000))
        for each in theirs
    ]
    _same("timeline", _read(perfetto_of(few, names), names), told)
    return (
        Side(lambda: chrome_of(few, names, dumps), len(few)),
        Side(lambda: perfetto_of(found.rows, names), len(found.rows)),
    )


def timeline_bytes() -> float:
    """Bytes of the file that `sqemu trace timeline` writes for Perfetto, by those of its file in Chrome's JSON."""
    run = RecordedRun(0, 0, tuple(_ran(STREAMS, TASKS).device.trace))
    recording = Recording("", "", (run,))
    scene = scene_of(recording, recording.runs)
    return len(perfetto_trace(scene)) / len(chrome_json(scene))


PAIRS = (
    Pair(
        "R12", "events of a queue as JSON lines", "structlog on standard logging", 60, 110,
        lambda: event_log(json_logger, io.StringIO()), rounds=5,
    ),
    Pair(
        "R12-native", "events of a queue as JSON lines", "structlog, bytes and orjson", 12, 24,
        lambda: event_log(_native, io.BytesIO()), rounds=5,
    ),
    Pair("R13", "a log site that is off", "structlog, filtered call", 12, 22, disabled_site),
    Pair("R14", "slices to a timeline, from columns", "orjson, a dict per slice", 8, 12, timeline, rounds=5),
    Pair("R14-bytes", "bytes of a timeline", "Chrome's JSON", 0.5, 0.45, quotient=timeline_bytes, largest=True),
)  # fmt: skip
