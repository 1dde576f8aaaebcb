"""Reading a run record; whatever is wrong with it is a `FormatError` with the member's name."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from formats import FormatError
from formats.blob import decode
from tools.record import BLOB, FORMAT, MANIFEST, VERSION
from tools.record.shapes import JournalLine, Manifest, Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.blob import Blob

ZIP_START = b"PK\x03\x04"
_Shape = TypeVar("_Shape")
_PARTS = ("before", "after", "executed")
LARGEST = 1 << 30
"""Bytes that a member may unpack to."""
MOST_MEMBERS = 1_000_000
_RUN = re.compile(r"runs/(\d{1,9})/report\.json")
_RING = re.compile(r"runs/(\d{1,9})/rings/sq(\d{1,9})/(before|after|executed)\.bin")


def is_record(data: memoryview[int] | bytes) -> bool:
    """Whether `data` is a zip whose first member is that of a record."""
    start = bytes(data[:64])
    return start[:4] == ZIP_START and start[30 : 30 + len(BLOB)] == BLOB.encode()


@dataclass(frozen=True)
class Run:
    """One execution of a record: number from 0, report, what it says, rings by SQ (`before`, `after`, `executed`)."""

    index: int
    report: Mapping[str, Any]
    outcome: Report
    rings: Mapping[int, Mapping[str, bytes]]


class Record:
    """A record.

    Raises:
        FormatError: no record (`record.format`), another version (`record.version`), or a damaged member
            (`record.damaged`), which the error names.
    """

    def __init__(self, data: bytes, source: str) -> None:
        self._source = source
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:  # noqa: BLE001 - readers of damaged zips raise almost anything
            raise self._error("record.damaged", f"is a damaged zip: {error}", "") from None
        if len(self._zip.namelist()) > MOST_MEMBERS:
            raise self._error("record.damaged", "has too many members", "")
        self.manifest = self._manifest()
        self.about = self._shaped(self.manifest, Manifest, MANIFEST)

    def _manifest(self) -> Mapping[str, Any]:
        if MANIFEST not in self._zip.namelist():
            raise self._error("record.format", "has no manifest: it was not finished, or is no run record", MANIFEST)
        found = self._json(MANIFEST)
        if found.get("format") != FORMAT:
            raise self._error("record.format", f"says format {found.get('format')!r}", MANIFEST)
        if found.get("version") != VERSION:
            raise self._error("record.version", f"has version {found.get('version')!r}, this reads {VERSION}", MANIFEST)
        return found

    @property
    def blob_bytes(self) -> bytes:
        """The task blob as a file."""
        return self._member(BLOB)

    @cached_property
    def blob(self) -> Blob:
        """The task blob."""
        return decode(self.blob_bytes)

    @cached_property
    def run_numbers(self) -> tuple[int, ...]:
        """Executions in the record, from 0."""
        found = (_RUN.fullmatch(name) for name in self._zip.namelist())
        return tuple(sorted(int(m[1]) for m in found if m))

    def run(self, index: int) -> Run:
        """Execution `index`; `FormatError` (`record.run`) lists those there are."""
        if index not in self.run_numbers:
            raise FormatError(
                f"has no execution {index}",
                id="record.run",
                where=self._source,
                remedy=f"it has {len(self.run_numbers)}, counted from 0",
            )
        member = f"runs/{index}/report.json"
        report = self._json(member)
        matches = (_RING.fullmatch(name) for name in self._zip.namelist())
        queues = sorted({int(m[2]) for m in matches if m and int(m[1]) == index})
        folder = f"runs/{index}/rings"
        rings = {sq: {part: self._member(f"{folder}/sq{sq}/{part}.bin") for part in _PARTS} for sq in queues}
        return Run(index, report, self._shaped(report, Report, member), rings)

    def journal(self, index: int) -> list[JournalLine]:
        """The writes of execution `index` to entries, contexts and cells."""
        member = f"runs/{index}/journal.jsonl"
        return [self._shaped(line, JournalLine, member) for line in self.lines(index, "journal")]

    def lines(self, index: int, name: str) -> list[Mapping[str, Any]]:
        """The objects of `trace` or `journal` of execution `index`."""
        member = f"runs/{index}/{name}.jsonl"
        try:
            return [json.loads(line) for line in self._member(member).splitlines()]
        except (ValueError, RecursionError) as error:
            raise self._error("record.damaged", f"is no JSON: {error}", member) from None

    def _json(self, member: str) -> Mapping[str, Any]:
        try:
            found = json.loads(self._member(member))
        except (ValueError, RecursionError) as error:
            raise self._error("record.damaged", f"is no JSON: {error}", member) from None
        if not isinstance(found, dict):
            raise self._error("record.damaged", "is no JSON object", member)
        return found

    def _shaped(self, found: object, shape: type[_Shape], member: str) -> _Shape:
        try:
            return msgspec.convert(found, shape)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise self._error("record.damaged", f"does not hold what it should: {error}", member) from None

    def _member(self, name: str) -> bytes:
        if name not in self._zip.namelist():
            raise self._error("record.damaged", "is missing", name)
        if self._zip.getinfo(name).file_size > LARGEST:
            raise self._error("record.damaged", f"unpacks to more than {LARGEST} bytes", name)
        try:
            return self._zip.read(name)
        except Exception as error:  # noqa: BLE001 - as above
            raise self._error("record.damaged", f"cannot be unpacked: {error}", name) from None

    def _error(self, error_id: str, what: str, member: str) -> FormatError:
        where = f"{self._source}: {member}" if member else self._source
        return FormatError(what, id=error_id, where=where, remedy="record the run again with sqemu run --record")
