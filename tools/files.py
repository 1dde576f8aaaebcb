"""Files at the edge: whole inputs, and outputs that appear completely or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import IO

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

STDIN = "-"

MOST_STREAMED = 1 << 30
"""Bytes that are read from a pipe, a terminal or a device, whose end nobody knows."""

_CHUNK = 1 << 20
_TWICE = "two outputs of this command have this name"


def input_name(path: str) -> str:
    """An input as messages name it: `-` is standard input."""
    return "standard input" if path == STDIN else safe(path)


@contextmanager
def opened_binary(path: str) -> Iterator[IO[bytes]]:
    """A file, or standard input for `-`, to read bytes from; it stays open only when it was open before.

    Raises:
        InputError: `input.file`: it cannot be opened or read, or the memory does not suffice for it.
    """
    name = input_name(path)
    if path == STDIN and sys.stdin is None:
        raise InputError("is closed", id="input.file", where=name, remedy="give a file name")
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as file:
                yield file
    except OSError as error:
        raise unreadable(path, error) from None
    except MemoryError:
        raise InputError(
            "does not fit into memory", id="input.file", where=name,
            remedy="give a smaller part of it, or use a machine with more memory",
        ) from None  # fmt: skip


def read_bytes(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; raises as `opened_binary` and `read_open`."""
    with opened_binary(path) as file:
        return read_open(file, input_name(path))


def read_open(file: IO[bytes], name: str) -> bytes:
    """The rest of an open file; `InputError` (`input.file`) for more than `MOST_STREAMED` of no regular one."""
    if _is_regular(file):
        return file.read()
    chunks: list[bytes] = []
    size = 0
    while chunk := file.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_STREAMED:
            raise InputError(
                f"holds more than {MOST_STREAMED >> 20} MiB and is no regular file", id="input.file", where=name,
                remedy="write the part that counts to a file first, for example with head -c, and give its name",
            )  # fmt: skip
    return b"".join(chunks)


def _is_regular(file: IO[bytes]) -> bool:
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except OSError:  # it has no descriptor
        return False


def unreadable(path: str, error: OSError) -> InputError:
    """The error for a file that cannot be read."""
    return InputError(
        f"cannot be read: {error.strerror or error}",
        id="input.file",
        where=input_name(path),
        remedy="check the path and permissions",
    )


def unwritable(path: str, why: str) -> InputError:
    """The error for a file that cannot be written."""
    return InputError(
        f"cannot be written: {why}", id="output.file", where=path, remedy="give another path, or check permissions"
    )


def require_folder(folder: Path, target: str) -> None:
    """Refuse an output whose folder does not exist (`InputError`, `output.file`): a mistyped path makes none."""
    if folder.is_dir():
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    if not missing:
        raise unwritable(target, f"{safe(str(folder))} is no folder")
    raise InputError(
        f"cannot be written: the folder {safe(_as_typed(missing[-1], target))} does not exist",
        id="output.file", where=safe(target), remedy="make the folder first, or correct the path",
    )  # fmt: skip


def _as_typed(folder: Path, target: str) -> str:
    """`folder` as part of what was typed, where it is."""
    here = Path(target)
    return next((str(each) for each in here.parents if Path(os.path.realpath(each)) == folder), str(folder))


def check_distinct(targets: Iterable[str]) -> None:
    """Refuse outputs of which two are the same file (`InputError`, `output.file`); empty names are none."""
    seen: set[str] = set()
    for target in targets:
        path = os.path.realpath(target) if target else ""
        if path in seen and (Path(path).is_file() or not Path(path).exists()):
            raise unwritable(target, _TWICE)
        if path:
            seen.add(path)


@dataclass(frozen=True)
class _Begun:
    """A file being written: temporary path, where it goes, and whether that is a device or pipe to be copied to."""

    part: Path
    target: Path
    through: bool


class Outputs:
    """Files written under temporary names and put in place together at the end.

    Use as a context manager: leaving it with an exception removes what was begun; `commit` puts everything in place.
    A symbolic link stays a link, its target is replaced; devices and pipes are written to, not replaced. Folders are
    made only where an option names a folder (`within`), and go again when nothing is put into them.
    """

    def __init__(self, *, never: tuple[str, ...] = ()) -> None:
        self._begun: list[_Begun] = []
        self._made: list[Path] = []
        self._never = tuple(Path(n) for n in never if n != STDIN)

    def __enter__(self) -> Outputs:  # noqa: PYI034 - not meant to be derived from
        return self

    def __exit__(self, kind: object, _error: object, _trace: object) -> None:
        if kind is not None:
            self.discard()

    def check(self, target: str) -> None:
        """Refuse `target` now, before the work is done that it is for; raises as `begin`."""
        path = Path(os.path.realpath(target))
        self._check(target, path)
        require_folder(path.parent, target)

    def begin(self, target: str, *, within: str = "") -> Path:
        """A temporary path for `target`.

        Args:
            target: the file.
            within: the folder that an option names; it is made where it is missing, and so are folders below it.

        Raises:
            InputError: `output.file`: it cannot be written, is a folder, an input, was begun already, or its folder
                does not exist.
        """
        path = Path(os.path.realpath(target))
        self._check(target, path)
        require_folder(Path(os.path.realpath(within)).parent if within else path.parent, target)
        through = path.exists() and not path.is_file()
        folder = Path(tempfile.gettempdir()) if through else path.parent
        part = folder / f".{path.name}.{os.getpid()}.part"
        self._begun.append(_Begun(part, path, through))
        try:
            if within:
                self._make(path.parent)
            part.unlink(missing_ok=True)
            part.touch(exist_ok=False)
            if path.is_file():
                part.chmod(stat.S_IMODE(path.stat().st_mode))
        except OSError as error:
            self._begun.pop()
            raise unwritable(target, error.strerror or str(error)) from None
        return part

    def _make(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)

    def _check(self, target: str, path: Path) -> None:
        if target in ("", STDIN) or target.endswith("/") or path.is_dir():
            raise unwritable(
                target or "(empty)", "this is no file name" if target in ("", STDIN) else "this is a folder"
            )
        if any(b.target == path and not b.through for b in self._begun):
            raise unwritable(target, _TWICE)
        for never in self._never:
            if path.exists() and never.exists() and path.is_file() and path.samefile(never):
                raise unwritable(target, "this is an input of the same command")

    def write(self, target: str, data: bytes, *, within: str = "") -> None:
        """Write a whole file; `within` as in `begin`."""
        self._guarded(target, lambda part: part.write_bytes(data), within=within)

    def write_npz(self, target: str, arrays: Mapping[str, Array]) -> None:
        """Write an npz."""
        from tools.npz import write_npz  # noqa: PLC0415 - numpy only where arrays are written

        self._guarded(target, lambda part: write_npz(part, arrays))

    def _guarded(self, target: str, write: Callable[[Path], object], *, within: str = "") -> None:
        part = self.begin(target, within=within)
        try:
            write(part)
        except OSError as error:
            raise unwritable(target, error.strerror or str(error)) from None

    @contextmanager
    def text(self, target: str) -> Iterator[IO[str]]:
        """A text file to write lines to."""
        with self.begin(target).open("w", encoding="utf-8", newline="\n") as file:
            yield file

    def commit(self) -> None:
        """Put every file in place."""
        for begun in self._begun:
            try:
                if begun.through:
                    with begun.part.open("rb") as source, begun.target.open("wb") as sink:
                        shutil.copyfileobj(source, sink)
                    begun.part.unlink()
                else:
                    begun.part.replace(begun.target)
            except OSError as error:
                self.discard()
                raise unwritable(str(begun.target), error.strerror or str(error)) from None
        self._begun.clear()
        self._made.clear()

    def discard(self) -> None:
        """Remove every file that was begun, and folders that were made for them alone."""
        for begun in self._begun:
            begun.part.unlink(missing_ok=True)
        for folder in reversed(self._made):
            with suppress(OSError):  # somebody put something into it
                folder.rmdir()
        self._begun.clear()
        self._made.clear()
