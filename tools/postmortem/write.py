"""A report on standard output: text of at most 80 columns, or JSON lines."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from tools.dump.items import entries
from tools.dump.sqes import record as entry_record
from tools.postmortem.words import counted
from tools.show import columns, heading, json_line, lines
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import Registry
    from tools.capture.model import Capture, Fault, Ref
    from tools.postmortem.report import Report, Statement

SURE, INFERRED = "=", "~"
LEGEND = f"{SURE} the logs say it   {INFERRED} inferred from what they say"
DIALECTS = {"stars": "STARS", "hwts": "HWTS", "950": "950"}


def as_text(report: Report, capture: Capture) -> None:
    """Print a report for people."""
    limit = columns()
    lines(wrapped(title(capture), limit, first="", others="  "))
    if report.kind == "nothing":
        click.echo()
        lines(wrapped(nothing(capture), limit, first="", others=""))
    short = _short(capture.files)
    for section in report.sections:
        heading(section.title)
        for statement in section.statements:
            lines(_wrapped(statement, limit, short))
    for note in capture.notes:
        lines(wrapped(f"note: {note}", limit, first="", others="  "))
    if report.sections:
        click.echo("\n" + LEGEND)


def title(capture: Capture) -> str:
    """What was read."""
    count = len(capture.files)
    wording = DIALECTS.get(capture.dialect)
    files = capture.files[0] if count == 1 else f"{count} files"
    told = (
        f"{files}: {counted(capture.lines, 'line')}, {counted(len(capture.records), 'fact')}, "
        f"{counted(len(capture.sqes), 'entry')}"
    )
    return told + (f", wording of {wording}" if wording else "")


def nothing(capture: Capture) -> str:
    """That no fault was found, and what was."""
    if capture.records:
        return (
            "No fault was found: the lines that were understood report no failed task, no time-out and no resource "
            "that ran out. The cause may be in another log (other ranks, the device's folder, an older rotated file)."
        )
    return (
        "No line of these logs has a shape that is known here: they may be of a level that leaves faults out, or of "
        "another program."
    )


def _short(files: Iterable[str]) -> dict[str, str]:
    """Names of files without folders, where that tells them apart."""
    counts = Counter(PurePath(name).name for name in files)
    return {name: PurePath(name).name if counts[PurePath(name).name] == 1 else name for name in files}


def _places(refs: Iterable[Ref], short: dict[str, str]) -> str:
    """`a.log:3-5, b.log:7`."""
    by_file: dict[str, list[int]] = {}
    for ref in refs:
        by_file.setdefault(ref.file, []).append(ref.line)
    return ", ".join(f"{short.get(file, file)}:{_runs(numbers)}" for file, numbers in by_file.items())


def _runs(numbers: Iterable[int]) -> str:
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def _wrapped(statement: Statement, limit: int, short: dict[str, str]) -> Iterator[str]:
    mark = SURE if statement.sure else INFERRED
    places = _places(statement.refs, short)
    text = statement.text + (f" ({places})" if places else "")
    yield from wrapped(text, limit, first=f"  {mark} ", others="    ")


def as_json(report: Report, capture: Capture, registry: Registry, family: str) -> None:
    """One JSON object per line: `capture`, then each statement, fault and entry."""
    json_line({
        "section": "capture", "files": list(capture.files), "lines": capture.lines, "facts": len(capture.records),
        "dialect": capture.dialect or None, "family": family, "device_offset_ns": capture.device_offset,
        "streams": {str(k): list(v) for k, v in capture.streams.items()}, "counts": dict(capture.counts),
        "notes": list(capture.notes), "kind": report.kind,
        "cause": None if report.cause is None else _ids(report.cause),
    })  # fmt: skip
    for section in report.sections:
        for statement in section.statements:
            places = [{"file": ref.file, "line": ref.line} for ref in statement.refs]
            json_line({"section": section.name, "sure": statement.sure, "text": statement.text, "lines": places})
    for fault in capture.faults:
        json_line({"section": "faults", **_fault(fault)})
    for sqe in capture.sqes:
        entry = next(iter(entries(registry, family, sqe.raw)))
        values = entry_record(entry)
        json_line({
            **values, "section": "sqes", "stream_id": sqe.stream, "task_id": sqe.task, "slot": sqe.slot,
            "side": sqe.side, "label": sqe.label or None, "missing": list(sqe.missing),
            "lines": [{"file": ref.file, "line": ref.line} for ref in sqe.refs],
        })  # fmt: skip


def _ids(fault: Fault) -> dict[str, object]:
    return {"device": fault.device, "stream": fault.stream, "task": fault.task}


def _fault(fault: Fault) -> dict[str, object]:
    return {
        **_ids(fault), "repeats": fault.repeats, "joined_by_order": fault.joined, "sides": sorted(fault.sides),
        "cores": [
            {"core": c.core, "sort": c.sort or None, "side": c.side, "registers": dict(c.registers),
             "text": c.text or None,
             "error_pc": c.error_pc, "lines": [{"file": r.file, "line": r.line} for r in c.refs]}
            for c in fault.cores
        ],
        "lines": [
            {"file": r.ref.file, "line": r.ref.line, "shape": r.shape, "side": r.side, "stamp_ns": r.stamp,
             "values": dict(r.values)}
            for r in fault.records
        ],
    }  # fmt: skip
