"""What a page is about: a recording that is a record, its machine, and the tasks of each execution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from emu_core.errors import InputError
from tools.report.columns import exact
from tools.trace.source import read_recording
from tools.trace.tasks import Tasks
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from tools.record.reader import Record, Run
    from tools.trace.source import RecordedRun, Recording
    from tools.trace.writes import Write


@dataclass(frozen=True)
class Execution:
    """One execution: its events, its members in the record, its tasks, what was written."""

    told: RecordedRun
    kept: Run
    tasks: Tasks
    writes: tuple[Write, ...]

    @property
    def index(self) -> int:
        """From 0, as in the record."""
        return self.kept.index

    @property
    def outcome(self) -> str:
        """`ok`, `failed` or `deadlock`."""
        report = self.kept.outcome
        return "deadlock" if report.deadlock else "ok" if report.ok else "failed"

    @property
    def took(self) -> int:
        """Virtual nanoseconds."""
        return max(self.kept.outcome.ended - self.kept.outcome.started, 0)

    @property
    def updates(self) -> int:
        """Task updates that patched something."""
        return len({(w.time, w.by_stream, w.by_task) for w in self.writes if w.tiling_key is not None})


@dataclass(frozen=True)
class Subject:
    """A record, read with the plugins of `host`."""

    recording: Recording
    record: Record
    host: PluginHost

    @classmethod
    def read(cls, path: str, host: PluginHost) -> Subject:
        """The record in a file.

        Raises:
            InputError: it cannot be read, or is a trace (`report.input`), which has no rings.
            FormatError: it is damaged (`record.*`, `trace.*`).
        """
        recording = read_recording(path)
        if recording.record is None:
            raise InputError(
                "is a trace, and a page needs a whole run record", id="report.input", where=recording.source,
                remedy="record the run: sqemu run PROGRAM --record F.sqr",
            )  # fmt: skip
        return cls(recording, recording.record, host)

    @cached_property
    def chip(self) -> Chip:
        """The chip of the run."""
        return self.host.chip(self.record.about.chip)

    @cached_property
    def runs(self) -> Sequence[Execution]:
        """Every execution."""
        return [self._execution(told) for told in self.recording.runs]

    def _execution(self, told: RecordedRun) -> Execution:
        where = f"{self.recording.source}: runs/{told.index}"
        kept = self.record.run(told.index)
        times = [event.time for event in told.events] + [kept.outcome.started, kept.outcome.ended]
        for value in (max(times), min(times)):
            exact(value, where)
        return Execution(told, kept, Tasks(told.events), tuple(writes_of(told.events)))

    @cached_property
    def stream_names(self) -> dict[int, str]:
        """Names of the streams of the model; the caller's has none."""
        return {stream.id: stream.name for stream in self.record.blob.streams}

    @property
    def values(self) -> dict[str, Any]:
        """The manifest."""
        return dict(self.record.manifest)
