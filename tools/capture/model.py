"""What a capture holds: plain values, each with the log lines it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = int | str

SYNC = 0x8000
"""Bit of a stream id in an entry: somebody waits for its completion."""
DEVICE, HOST = "device", "host"
"""Who wrote a line: firmware, or the runtime of the host."""


@dataclass(frozen=True, order=True)
class Ref:
    """A line: name of its file, number from 1."""

    file: str
    line: int

    def text(self) -> str:
        """`FILE:LINE`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Record:
    """What one line says.

    Attributes:
        shape, kind: name of the row of the grammar, and what sort of fact it yields.
        values: numbers and texts by name. side: `DEVICE` or `HOST`.
        stamp: nanoseconds since 1970 by the clock of whoever wrote it; a line without one has that of the device
            line before it; None when there was none. seq: number of the line in the firmware's own count, 0 without.
        device: device number that the line or the path of its file names.
        stamped: the line has a stamp itself.
    """

    shape: str
    kind: str
    values: Mapping[str, Value]
    ref: Ref
    side: str = HOST
    stamp: int | None = None
    seq: int = 0
    device: int | None = None
    stamped: bool = False

    def number(self, name: str) -> int | None:
        """The value `name` when it is a number."""
        found = self.values.get(name)
        return found if isinstance(found, int) else None

    def text(self, name: str) -> str:
        """The value `name` when it is a text; empty without."""
        found = self.values.get(name)
        return found if isinstance(found, str) else ""


@dataclass(frozen=True)
class CapturedSqe:
    """An entry of 64 bytes read from a log.

    Attributes:
        stream, task: ids by its lines, else by its own header (v100); None when nothing says.
        raw: the bytes; words that the log does not have are 0. missing: numbers of those words.
        label: name that the host gave it. slot: ring position, if said.
        serial: serial number of the task in the header of a v200 entry, whose stream only the lines can tell.
    """

    stream: int | None
    task: int | None
    raw: bytes
    side: str
    refs: tuple[Ref, ...]
    stamp: int | None = None
    missing: tuple[int, ...] = ()
    label: str = ""
    slot: int | None = None
    device: int | None = None
    serial: int | None = None

    @property
    def whole(self) -> bool:
        """All 16 words were there."""
        return not self.missing


@dataclass(frozen=True)
class CoreReport:
    """What is said of one core: registers by name, and error text of the host.

    Attributes:
        pc_start, pc, para_base: addresses, 48 bits; None when not said. error_pc: as the firmware corrected it.
        core, sort: number, and `aicore` or `aivec`; empty when not said.
    """

    refs: tuple[Ref, ...]
    side: str
    registers: Mapping[str, int] = field(default_factory=dict)
    core: int | None = None
    sort: str = ""
    sq: int | None = None
    stamp: int | None = None
    error_pc: int | None = None
    text: str = ""
    device: int | None = None

    def _address(self, name: str) -> int | None:
        found = self.registers.get(name)
        return None if found is None else found & (1 << 48) - 1

    @property
    def pc_start(self) -> int | None:
        """Where the kernel begins."""
        return self._address("PC_START")

    @property
    def pc(self) -> int | None:
        """Where the core was."""
        return self._address("CURRENT_PC")

    @property
    def para_base(self) -> int | None:
        """Where its arguments lie."""
        return self._address("PARA_BASE")


@dataclass(frozen=True)
class Fault:
    """A task that failed, once.

    Attributes:
        device, stream, task: which; `task` is the ring position in 950 wordings.
        records: its lines, device first, each side in order of time.
        sqe: its entry, as the firmware saw it if it says, else as the host built it. cores: reports that belong to it.
        repeats: how many of its reports only say the same again.
        joined: its two sides were put together by their order alone, not by an address.
    """

    stream: int
    task: int
    records: tuple[Record, ...]
    device: int | None = None
    sqe: CapturedSqe | None = None
    cores: tuple[CoreReport, ...] = ()
    repeats: int = 0
    joined: bool = False

    def first(self, *kinds: str) -> Record | None:
        """The first record of one of the kinds."""
        return next((r for r in self.records if r.kind in kinds), None)

    @property
    def sides(self) -> frozenset[str]:
        """Who reports it."""
        return frozenset(r.side for r in self.records)

    def stamp(self, side: str) -> int | None:
        """Its first stamp by the clock of `side`, its cores included."""
        told = [(r.side, r.stamp) for r in self.records] + [(c.side, c.stamp) for c in self.cores]
        return min((stamp for by, stamp in told if by == side and stamp is not None), default=None)


@dataclass(frozen=True)
class Capture:
    """Everything that was understood of some logs.

    Attributes:
        files: names of the files that were read. records: lines that were understood, in order of time.
        sqes, cores, faults: put together from them. dialect: `stars`, `hwts`, `950` or empty.
        device_offset: host clock minus device clock in nanoseconds, as far as joined faults show it; an upper bound.
        counts: lines by shape, those beyond the limit included. notes: what was left out, in words.
        lines: lines of all files.
    """

    files: tuple[str, ...]
    records: tuple[Record, ...]
    sqes: tuple[CapturedSqe, ...]
    cores: tuple[CoreReport, ...]
    faults: tuple[Fault, ...]
    dialect: str = ""
    device_offset: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lines: int = 0

    def of(self, *kinds: str) -> tuple[Record, ...]:
        """The records of some kinds, in order of time."""
        return tuple(r for r in self.records if r.kind in kinds)

    @property
    def streams(self) -> Mapping[int, tuple[int, ...]]:
        """Tasks that are named, by stream, ascending."""
        found: dict[int, set[int]] = {}
        for record in self.records:
            stream = record.number("stream")
            if stream is not None and record.kind == "position":
                stream &= ~SYNC
            if stream is not None:
                task = record.number("task")
                found.setdefault(stream, set()).update(() if task is None else (task,))
        for sqe in self.sqes:
            if sqe.stream is not None:
                found.setdefault(sqe.stream, set()).update(() if sqe.task is None else (sqe.task,))
        return {stream: tuple(sorted(found[stream])) for stream in sorted(found)}
