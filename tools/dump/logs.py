"""Logs of firmware and host in `sqemu dump`: the entries that they hold, in the views of all others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.files import STDIN

if TYPE_CHECKING:
    from tools.capture.model import Capture, CapturedSqe
    from tools.dump.data import Data
    from tools.dump.request import Request

GLANCE = 8192
"""Bytes that are looked at to know a log."""
MOST_PLACES = 16
"""Entries whose lines are told on standard error."""
_MOST_NOTES = 4

_GZIP = b"\x1f\x8b"
_LOG = re.compile(
    rb"\[(?:ERROR|WARNING|INFO|DEBUG|EVENT|TRACE|OPLOG)\] ?[A-Z]\w*\(-?\d+,[^)\n]{0,64}\):\d{4}-\d\d-\d\d"
    rb"|<exception_print>|word\[\d{1,2}\]=0x[0-9a-fA-F]|^sqe\[[08]\] 0x [0-9a-f]{8} ",
    re.MULTILINE,
)


def is_folder(path: str) -> bool:
    """Whether `path` is a folder, which can only hold logs."""
    return path != STDIN and Path(path).is_dir()


def is_log(head: bytes) -> bool:
    """Whether a file that begins with `head` is a log, packed or not."""
    return bool(_LOG.search(_unpacked(head) if head.startswith(_GZIP) else head))


def _unpacked(head: bytes) -> bytes:
    import zlib  # noqa: PLC0415 - most files are not packed

    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, GLANCE)
    except zlib.error:
        return b""


def captured(request: Request, data: Data | None) -> Capture:
    """The log or folder of a request; `data` is what was read of it, which for a pipe is all there is."""
    from io import BytesIO  # noqa: PLC0415 - other files do without all of this

    from tools.capture.build import capture_in, capture_of  # noqa: PLC0415

    if data is not None and (request.file == STDIN or not Path(request.file).is_file()):
        raw = bytes(data.view)
        return capture_in(BytesIO(raw), request.source, packed=raw.startswith(_GZIP))
    return capture_of([request.file])


def entries_of(capture: Capture) -> list[CapturedSqe]:
    """The whole entries, in order of their first mention."""
    return [sqe for sqe in capture.sqes if sqe.whole]


def no_entries(request: Request, notes: tuple[str, ...], *, folder: bool) -> InputError:
    """The error for a log, or a folder, without entries; `notes` say what of it was not read."""
    unread = "".join(f"; {note}" for note in notes[:_MOST_NOTES])
    if folder:
        what = "is a folder, and no file in it is a log with the words of an entry"
        return InputError(
            what + unread, id="input.file", where=request.source,
            remedy="give one of its files; sqemu postmortem says what logs report",
        )  # fmt: skip
    return InputError(
        "is a log, but no line of it has the words of an entry" + unread, id="dump.log", where=request.source,
        remedy="sqemu postmortem says what the log reports; --hex reads other hex text",
    )  # fmt: skip


def tell(request: Request, capture: Capture) -> int:
    """Say on standard error where the entries are from, and what is left out; returns how many entries are cut."""
    whole = entries_of(capture)
    cut = [sqe for sqe in capture.sqes if not sqe.whole]
    click.echo(f"{request.source}: entries of a log; sqemu postmortem says what it reports", err=True)
    for slot, sqe in enumerate(whole[:MOST_PLACES]):
        click.echo(f"  slot {slot}: {_place(sqe)}", err=True)
    if len(whole) > MOST_PLACES:
        click.echo(f"  and {len(whole) - MOST_PLACES} more; sqemu postmortem --json has the lines of each", err=True)
    for sqe in cut[:MOST_PLACES]:
        click.echo(f"skipped a cut entry, {len(sqe.missing)} of 16 words are missing: {_place(sqe)}", err=True)
    for note in capture.notes:
        click.echo(note, err=True)
    return len(cut)


def _place(sqe: CapturedSqe) -> str:
    ids = "" if sqe.stream is None else f"stream {sqe.stream} task {sqe.task}, "
    first, last = sqe.refs[0], sqe.refs[-1]
    end = f"-{last.line}" if last.file == first.file and last.line != first.line else ""
    return f"{ids}{sqe.side}, {first.text()}{end}"
