"""What can be shown of a damaged task blob: where its sections are, and task records one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats import FormatError
from formats.blob.layout import NO_TENSOR, SECTIONS, BlobHeader, SectionEntry, StringRecord, TaskRecord
from tools.dump.tasks import task_name
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    Bytes = memoryview[int]

_LONGEST_TEXT = 4096
_EVERY = 1 << 20


@dataclass(frozen=True)
class Area:
    """A section as its table entry says, and what of it is there."""

    name: str
    offset: int
    size: int
    count: int
    record_size: int
    there: int
    reason: str = ""


class Damaged:
    """A look at the pieces of a blob that `decode` refuses.

    Attributes:
        header: header fields; areas: sections, as far as the table is there.

    Raises:
        FormatError: not even the header is there (`blob.truncated`), or its version is unknown (`blob.version`).
    """

    def __init__(self, data: Bytes) -> None:
        self._data = data
        if len(data) < BlobHeader.size:
            what = f"{len(data)} bytes are too few for a header of {BlobHeader.size}: nothing can be shown"
            raise FormatError(what, id="blob.truncated", where="header", offset=len(data))
        self.header = BlobHeader.parse(data)
        self.areas = tuple(self._areas())

    def _areas(self) -> Iterator[Area]:
        start, have = self.header["section_table"], len(self._data)
        for kind, section in enumerate(SECTIONS):
            at = start + kind * SectionEntry.size
            if at + SectionEntry.size > have:
                yield Area(section.name, 0, 0, 0, section.record_size, 0, f"its entry at {at:#x} is behind the end")
                continue
            row = SectionEntry.parse(self._data[at : at + SectionEntry.size])
            there = max(0, min(row["size"], have - row["offset"]))
            yield Area(section.name, row["offset"], row["size"], row["count"], section.record_size, there, _reason(
                row, kind, section.record_size, there
            ))  # fmt: skip

    def area(self, name: str) -> Area:
        """The section called `name`."""
        return next(each for each in self.areas if each.name == name)

    def text(self, index: int) -> str:
        """String `index`, or a mark that says it cannot be read."""
        table, text = self.area("strings"), self.area("text")
        at = table.offset + index * StringRecord.size
        if not 0 <= index < table.there // StringRecord.size:
            return f"?string {index}"
        row = StringRecord.parse(self._data[at : at + StringRecord.size])
        size = min(row["size"], _LONGEST_TEXT)
        if row["offset"] + size > text.there:
            return f"?string {index}"
        start = text.offset + row["offset"]
        return safe(bytes(self._data[start : start + size]).decode("utf-8", "replace"))

    def tasks(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """(index, offset, values) of every whole task record."""
        area = self.area("tasks")
        for k in range(min(area.there // TaskRecord.size, _EVERY)):
            at = area.offset + k * TaskRecord.size
            yield k, at, TaskRecord.parse(self._data[at : at + TaskRecord.size])

    @property
    def lost_tasks(self) -> int:
        """Task records that the section table announces and that are not there."""
        area = self.area("tasks")
        announced = min(max(area.count, int(self.header["task_count"])), _EVERY)
        return max(0, announced - area.there // TaskRecord.size)

    def task_rows(self) -> Iterator[tuple[object, ...]]:
        """One row of text per task record that is there."""
        for k, at, t in self.tasks():
            op = t["op"] if t["has_op"] else ""
            event = t["event_id"] if t["has_event"] else ""
            kernel = t["kernel"] if t["has_kernel"] else ""
            function = self.text(t["kernel_name"])
            told = (self.text(t["args_format"]), function) if function else (self.text(t["args_format"]),)
            yield k, f"{at:#x}", task_name(t["type"]), t["stream_id"], op, event, kernel, _blocks(t), "  ".join(told)

    def records(self) -> Iterator[dict[str, object]]:
        """Header, sections and tasks as JSON objects."""
        named = {f.name: self.header[f.name] for f in BlobHeader.named_fields}
        yield {"section": "header", **named, "chip": self.text(named["chip"]), "name": self.text(named["name"]),
               "damaged": True}  # fmt: skip
        for each in self.areas:
            yield {
                "section": "file", "name": each.name, "offset": each.offset, "size": each.size, "count": each.count,
                "there": each.there, "damage": each.reason or None,
            }  # fmt: skip
        for k, at, t in self.tasks():
            yield {
                "section": "tasks", "index": k, "offset": at, "type": t["type"], "kind": task_name(t["type"]),
                "stream_id": t["stream_id"], "event_id": t["event_id"] if t["has_event"] else None,
                "op_index": t["op"] if t["has_op"] else None, "kernel_index": t["kernel"] if t["has_kernel"] else None,
                "block_dim": t["block_dim"], "args_format": self.text(t["args_format"]),
            }  # fmt: skip


def _blocks(task: dict[str, Any]) -> str:
    return f"{task['block_dim']:#x}" if task["block_dim"] >= NO_TENSOR >> 32 else str(task["block_dim"])


def _reason(row: dict[str, Any], kind: int, record_size: int, there: int) -> str:
    """What is wrong with a section, in a few words; empty when nothing is."""
    tests = (
        (row["kind"] != kind, f"its number is {row['kind']}, not {kind}"),
        (row["record_size"] != record_size, f"records of {row['record_size']} bytes, not {record_size}"),
        (row["size"] != row["count"] * record_size, f"{row['count']} records do not make {row['size']} bytes"),
        (there == 0 and row["size"] > 0, "it lies behind the end of the file"),
        (there < row["size"], f"the file ends after {there} of its {row['size']} bytes"),
    )
    return next((text for failed, text in tests if failed), "")
