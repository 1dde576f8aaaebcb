"""`capture_of(paths)`: logs as a `Capture`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING

from emu_core.errors import InputError
from formats import BUILTIN, FormatError
from tools.capture.cores import core_reports
from tools.capture.faults import faults_of, offset_of
from tools.capture.kernel_fields import kernel_fields
from tools.capture.lines import LineReader
from tools.capture.model import SYNC, Capture
from tools.capture.owners import with_cores, with_entries
from tools.capture.shapes import SHAPES
from tools.capture.source import Tally, candidates_in, files_of, read_candidates, shown
from tools.capture.words import KINDS, Assembler, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tools.capture.model import CapturedSqe, Record

MOST_OF_A_SHAPE = 100_000
"""Lines of one shape that are kept; further ones are counted."""
MOST_RECORDS = 300_000
"""Lines that are kept in all."""

_DIALECT = {shape.name: shape.dialect for shape in SHAPES}
_HEADER = BUILTIN.get("v100", "SqeHeader")


@dataclass
class _Reading:
    """Records as they are read, within limits."""

    records: list[Record] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    left: int = 0

    def add(self, record: Record) -> None:
        """Keep `record`, unless its very line was read in another file, or there are too many."""
        key = _identity(record)
        if key is not None:
            if key in self.seen:
                self.twice += 1
                return
            self.seen.add(key)
        self.counts[record.shape] += 1
        if self.counts[record.shape] > MOST_OF_A_SHAPE or len(self.records) >= MOST_RECORDS:
            self.left += 1
            return
        self.records.append(record)


def _identity(record: Record) -> tuple[object, ...] | None:
    """What tells a line of the firmware from all others: it counts its lines; None for lines without a number."""
    if not record.stamped or not record.seq:
        return None
    return record.stamp, record.seq, record.shape, record.device, tuple(sorted(record.values.items(), key=str))


def capture_of(paths: Iterable[str], *, step: Callable[[], object] | None = None) -> Capture:
    """Read log files and folders; `step` is called after each file.

    Raises:
        InputError: `input.file`: a file that is named cannot be read; one of a folder is noted instead.
    """
    given = list(paths)
    listing = files_of(given)
    reading, notes, lines, read = _Reading(), list(listing.notes), 0, []
    for path in listing.files:
        tally = Tally()
        reader = LineReader(shown(path))
        try:
            for number, line in read_candidates(path, tally, any_kind=path in given):
                for record in reader.read(number, line):
                    reading.add(record)
        except InputError as error:
            if path in given:
                raise
            tally.trouble = error.what  # one of many in a folder
        lines += tally.lines
        read.append(shown(path))
        notes += [f"{shown(path)} {tally.trouble}"] if tally.trouble else []
        if step is not None:
            step()
    return _built(tuple(read), reading, notes, lines)


def capture_in(file: IO[bytes], name: str, *, packed: bool = False) -> Capture:
    """Read one open file called `name`; `packed` says that it is gzip."""
    reading, tally, reader = _Reading(), Tally(), LineReader(name)
    for number, line in candidates_in(file, tally, packed=packed):
        for record in reader.read(number, line):
            reading.add(record)
    return _built((name,), reading, [f"{name} {tally.trouble}"] if tally.trouble else [], tally.lines)


def _built(files: tuple[str, ...], reading: _Reading, notes: list[str], lines: int) -> Capture:
    order = {name: k for k, name in enumerate(files)}
    records = sorted(reading.records, key=lambda r: _when(r, order))
    dialect = _dialect(records)
    sqes = [_with_ids(sqe, dialect) for sqe in _entries(records)]
    cores = core_reports(records)
    faults = faults_of(records)
    offset = offset_of(faults)
    faults = with_entries(faults, sqes, offset)
    faults = with_cores(faults, cores, addresses_of(family_of(sqes, dialect)))
    if reading.twice:
        notes.append(f"{reading.twice} lines were in several files, and count once")
    if reading.left:
        notes.append(f"{reading.left} lines beyond the first {MOST_OF_A_SHAPE} of a shape were only counted")
    return Capture(
        files, tuple(records), tuple(sqes), tuple(cores), tuple(faults), dialect, offset, dict(reading.counts),
        tuple(notes), lines,
    )  # fmt: skip


def _when(record: Record, order: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Order of time on each side, then the firmware's count, then the order of files and lines."""
    return record.stamp or 0, record.seq, order[record.ref.file], record.ref.line


def _dialect(records: Iterable[Record]) -> str:
    found = {_DIALECT[r.shape] for r in records} - {""}
    return next((each for each in ("950", "hwts", "stars") if each in found), "")


def _entries(records: Iterable[Record]) -> list[CapturedSqe]:
    assembler = Assembler()
    found = [sqe for record in records if record.kind in KINDS for sqe in assembler.take(record)]
    return merged([*found, *assembler.finish()])


def family_of(sqes: Iterable[CapturedSqe], dialect: str) -> str:
    """The family of entries: by the wording of the log when it says, else the one whose layouts fit best."""
    if dialect == "950":
        return "v200"
    whole = b"".join(sqe.raw for sqe in sqes if sqe.whole)
    return BUILTIN.guess_family(whole).family if whole else "v100"


def _with_ids(sqe: CapturedSqe, dialect: str) -> CapturedSqe:
    """An entry whose lines name no stream takes what its own header has: ids on v100, a serial number on v200."""
    if sqe.stream is not None or {0, 1} & set(sqe.missing):
        return sqe
    family = family_of([sqe], dialect)
    if family == "v100":
        header = _HEADER.parse(sqe.raw[: _HEADER.size])
        return replace(sqe, stream=int(header["rt_stream_id"]) & ~SYNC, task=int(header["task_id"]))
    return replace(sqe, serial=int.from_bytes(sqe.raw[4:8], "little")) if family == "v200" else sqe


def addresses_of(family: str) -> Callable[[CapturedSqe], tuple[int | None, int | None]]:
    """A function that gives the start and argument address of a kernel entry; None where there are none."""

    def addresses(sqe: CapturedSqe) -> tuple[int | None, int | None]:
        try:
            fields = kernel_fields(family, sqe.raw)
        except FormatError:
            return None, None
        return (None, None) if fields is None else (fields.start, fields.args)

    return addresses
