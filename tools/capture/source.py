"""Log files as candidate lines: plain or gzip, any size in bounded memory; folders with all their files."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tools.capture.anchors import candidates
from tools.capture.lines import LONGEST
from tools.files import KERNEL, STDIN, input_name, opened_binary, refuse_endless, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHUNK = 1 << 18
"""Bytes looked at together."""
MOST_UNPACKED = 4 << 30
"""Bytes that a gzip file may unpack to, or a pipe or device may give; what is behind them is not read."""
MOST_FILES = 100_000
"""Files of a folder."""

_GZIP = b"\x1f\x8b"
_OTHERS = (b"\x7fELF", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"IMOD", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
"""First bytes of files in a folder that are no text."""


@dataclass
class Tally:
    """What reading a file came to: lines, bytes, and in words what was not read."""

    lines: int = 0
    size: int = 0
    trouble: str = ""


def is_gzip(start: bytes) -> bool:
    """Whether a file that begins with `start` is gzip."""
    return start[:2] == _GZIP


@dataclass(frozen=True)
class Listing:
    """What is to be read: `files`; and `notes` on what is not."""

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


def files_of(paths: Iterable[str]) -> Listing:
    """The files behind names of files and folders; each once, those of a folder in order of their names.

    Of folders only regular files count: symbolic links in them are not followed, neither to files nor to folders;
    what they point to inside the folder is read anyway, links that leave it are noted.

    Raises:
        InputError: `input.file`: a name that `refuse_endless` refuses, or a folder that cannot be listed.
    """
    found: dict[str, None] = {}
    notes: list[str] = []
    for path in paths:
        refuse_endless(path)
        if path != STDIN and Path(path).is_dir():
            files, leaving = _folder(path)
            found.update(dict.fromkeys(files))
            notes += [f"{shown(path)}: links out of it were not followed: {leaving}"] if leaving else []
        else:
            found.setdefault(path)
    return Listing(tuple(found), tuple(notes))


def _folder(path: str) -> tuple[list[str], int]:
    """The regular files of a folder, and how many symbolic links in it lead elsewhere."""
    found: list[str] = []
    leaving = 0
    inside = Path(os.path.realpath(path))
    try:
        os.scandir(path).close()  # os.walk passes over what it cannot list
        for folder, folders, names in os.walk(path):
            if os.path.realpath(folder) in KERNEL:
                folders.clear()
                continue
            folders.sort()
            for each in (Path(folder, name) for name in (*folders, *sorted(names))):
                mode = _mode(each)
                leaving += stat.S_ISLNK(mode) and not Path(os.path.realpath(each)).is_relative_to(inside)
                found += [str(each)] if stat.S_ISREG(mode) else []
            if len(found) >= MOST_FILES:
                break
    except OSError as error:
        raise unreadable(path, error) from None
    return sorted(found[:MOST_FILES], key=_rotated), leaving


def _mode(path: Path) -> int:
    """What `path` itself is, links not followed; 0 when it is gone meanwhile, or nobody may know."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _rotated(name: str) -> tuple[str, int, str]:
    """A key that puts `a.log.10`, `a.log.2`, `a.log.1`, `a.log` in this order: higher numbers are older."""
    stem = name.removesuffix(".gz")
    head, _, tail = stem.rpartition(".")
    if head and tail.isascii() and tail.isdigit() and len(tail) < 6:
        return head, -int(tail), name
    return stem, 0, name


def is_text_file(start: bytes) -> bool:
    """Whether a file of a folder that begins with `start` is worth reading."""
    return not start.startswith(_OTHERS)


def read_candidates(path: str, tally: Tally, *, any_kind: bool = True) -> Iterator[tuple[int, bytes]]:
    """(line number, line) of every candidate line of a file; `tally` is filled meanwhile.

    With `any_kind` false, files that are known not to be text give nothing.

    Raises:
        InputError: `input.file`: it cannot be read.
    """
    with opened_binary(path) as raw:
        start = raw.peek(8)[:8] if isinstance(raw, BufferedReader) else b""
        if any_kind or is_text_file(start):
            status = os.fstat(raw.fileno())
            endless = not (stat.S_ISREG(status.st_mode) and status.st_size)
            yield from candidates_in(raw, tally, packed=is_gzip(start), endless=endless)


def candidates_in(
    file: IO[bytes], tally: Tally, *, packed: bool = False, endless: bool = False
) -> Iterator[tuple[int, bytes]]:
    """As `read_candidates`, of an open file; `packed` says that it is gzip, `endless` that it may have no end.

    Damage is told in `tally`.
    """
    if not packed:
        yield from _candidates(file, tally, MOST_UNPACKED if endless else None)
        return
    with gzip.GzipFile(fileobj=file) as unpacked:
        try:
            yield from _candidates(unpacked, tally, MOST_UNPACKED)
        except (EOFError, OSError, zlib.error) as error:
            tally.trouble = f"is damaged behind line {tally.lines}: {error}"


def _candidates(file: IO[bytes] | gzip.GzipFile, tally: Tally, most: int | None) -> Iterator[tuple[int, bytes]]:
    rest, skipping = b"", False
    read = file.read1 if isinstance(file, gzip.GzipFile) else file.read  # read1 gives what comes before damage
    while True:
        data = read(CHUNK)
        tally.size += len(data)
        if most is not None and tally.size > most:
            tally.trouble = f"holds more than {most >> 30} GiB of text; what is behind was not read"
            data = b""
        if not data:
            break
        end = data.rfind(b"\n") + 1
        if not end:
            if not skipping:
                rest = (rest + data)[:LONGEST]  # a line without end: its beginning is all that is ever looked at
            skipping = True
            continue
        if skipping:
            first = data.find(b"\n") + 1
            yield from _of_chunk(rest + b"\n", tally)
            rest, data, end, skipping = b"", data[first:], end - first, False
        yield from _of_chunk(rest + data[:end], tally)
        rest = data[end:]
    if rest:
        yield from _of_chunk(rest + b"\n", tally)


def _of_chunk(chunk: bytes, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Candidates of whole lines."""
    at, number = 0, tally.lines + 1
    for start in candidates(chunk):
        number += chunk.count(b"\n", at, start)
        at = start
        end = chunk.find(b"\n", start)
        yield number, chunk[start : min(end, start + LONGEST)]
    tally.lines += chunk.count(b"\n")


def shown(path: str) -> str:
    """A file as messages name it."""
    return input_name(path)
