"""What the JSON members of a run record must hold for this program to show them; more may be there."""

from __future__ import annotations

from typing import Any

import msgspec


class Place(msgspec.Struct, frozen=True):
    """Where something happened."""

    stream: int
    task: int


class Hazard(Place, frozen=True):
    """A hazard of a report."""

    what: str
    remedy: str


class Fault(Place, frozen=True):
    """A fault of a report."""

    id: str
    what: str
    consequences: list[str]


class Report(msgspec.Struct, frozen=True):
    """`report.json`: how an execution ended; times in nanoseconds."""

    ok: bool
    started: int
    ended: int
    deadlock: dict[str, Any] | None
    hazards: list[Hazard]
    faults: list[Fault]


class JournalLine(msgspec.Struct, frozen=True):
    """A line of `journal.jsonl`: a write to an entry, a context or a cell."""

    time: int
    writer: Place
    tiling_key: int | None


class Input(msgspec.Struct, frozen=True):
    """The file of an execution; none when the program has no inputs."""

    file: str | None = None


class Program(msgspec.Struct, frozen=True):
    """The file that was run."""

    file: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """`manifest.json`."""

    format: Any
    version: Any
    sqemu: str = ""
    chip: str = ""
    program: Program = Program()
    inputs: list[Input] = []
