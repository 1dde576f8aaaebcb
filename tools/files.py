"""Files at the edge: whole inputs, and outputs that appear completely or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from contextlib import AbstractContextManager, contextmanager, suppress
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

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
KERNEL = ("/proc", "/sys")
"""Folders whose files are views of the running kernel."""

_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Names of pipes that are open in this process, as `<(command)` of a shell gives them."""


def input_name(path: str) -> str:
    """An input as messages name it: `-` is standard input."""
    return "standard input" if path == STDIN else safe(path)


@contextmanager
def opened_binary(path: str) -> Iterator[IO[bytes]]:
    """A file, or standard input for `-`, to read bytes from; it stays open only when it was open before.

    Raises:
        InputError: `input.file`: it cannot be opened or read, `refuse_endless` refuses it, or the memory does not
                suffice for it.
    """
    name = input_name(path)
    if path == STDIN and sys.stdin is None:
        raise InputError("is closed", id="input.file", where=name, remedy="give a file name")
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            refuse_endless(path)
            with Path(path).open("rb") as file:
                yield file
    except OSError as error:
        raise unreadable(path, error) from None
    except MemoryError:
        raise InputError(
            "does not fit into memory", id="input.file", where=name,
            remedy="give a smaller part of it, or use a machine with more memory",
        ) from None  # fmt: skip


def refuse_endless(path: str) -> None:
    """Refuse names of what may make a reader wait for ever (`InputError`, `input.file`).

    A named pipe waits for somebody who writes to it. Files of the kernel (/proc, /sys) have no size, some no end, and
    some wait for events. Standard input and pipes that are open already, `<(command)` of a shell, are read.
    """
    if path == STDIN or path.startswith(_OPEN_ALREADY):
        return
    what = remedy = ""
    if Path(path).is_fifo():
        what, remedy = "is a named pipe, which is not waited for", "connect it to standard input: - < PIPE"
    elif any(Path(os.path.realpath(path)).is_relative_to(each) for each in KERNEL):
        what, remedy = "is a view of the running kernel", "copy what counts to a file, for example with cat"
    if what:
        raise InputError(what, id="input.file", where=input_name(path), remedy=remedy)


def read_bytes(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; raises as `opened_binary` and `read_open`."""
    with opened_binary(path) as file:
        return read_open(file, input_name(path))


def read_open(file: IO[bytes], name: str) -> bytes:
    """The rest of an open file; `InputError` (`input.file`) for more than `MOST_STREAMED` of no regular one."""
    if _has_size(file):
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


def _has_size(file: IO[bytes]) -> bool:
    """Whether the file is a regular one that knows where it ends."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # it has no descriptor
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > 0


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


def _refused(path: str, error: OSError) -> InputError:
    """The error for what the operating system says of writing `path`."""
    why = error.strerror or str(error)
    if error.errno not in _FULL:
        return unwritable(path, why)
    remedy = "make room there, or give another path; what was there before is kept"
    return InputError(f"cannot be written: {why}", id="output.file", where=safe(path), remedy=remedy)


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


class TextOutput:
    """A text file of `Outputs` that is written piece by piece; what cannot be written is an error that names it."""

    def __init__(self, file: IO[str], guard: Callable[[], AbstractContextManager[None]]) -> None:
        self._file = file
        self._guard = guard

    def write(self, text: str) -> None:
        """Write a piece; `InputError` (`output.file`) when there is no room for it."""
        with self._guard():
            self._file.write(text)

    def close(self) -> None:
        """Write what is left and close the file; raises as `write`."""
        with self._guard():
            self._file.close()

    def abandon(self) -> None:
        """Close the file, which is not to be put in place."""
        with suppress(OSError):
            self._file.close()


class Outputs:
    """Files written under temporary names and put in place together at the end.

    Use as a context manager: leaving it with an exception removes what was begun; `commit` puts everything in place.

    Attributes:
        failed: one of the files could not be written; they are not to be put in place.

    A symbolic link stays a link, its target is replaced; devices and pipes are written to, not replaced. Folders are
    made only where an option names a folder (`within`), and go again when nothing is put into them.
    """

    def __init__(self, *, never: tuple[str, ...] = ()) -> None:
        self._begun: list[_Begun] = []
        self._made: list[Path] = []
        self._never = tuple(Path(n) for n in never if n != STDIN)
        self.failed = False

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
            raise _refused(target, error) from None
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
        try:
            part = self.begin(target, within=within)
        except InputError:
            self.failed = True
            raise
        with self.writing(target):
            write(part)

    @contextmanager
    def writing(self, target: str) -> Iterator[None]:
        """What the operating system refuses inside is an `InputError` (`output.file`) on `target`, and a failure."""
        try:
            yield
        except OSError as error:
            self.failed = True
            raise _refused(target, error) from None

    @contextmanager
    def text(self, target: str) -> Iterator[TextOutput]:
        """A text file to write lines to; closed at the end, in silence after an error."""
        part = self.begin(target)
        with self.writing(target):
            file = part.open("w", encoding="utf-8", newline="\n")
        output = TextOutput(file, lambda: self.writing(target))
        try:
            yield output
        except BaseException:
            output.abandon()
            raise
        output.close()

    def commit(self) -> None:
        """Put every file in place; devices and pipes, which may refuse, come first."""
        for begun in sorted(self._begun, key=lambda each: not each.through):
            try:
                if begun.through:
                    with begun.part.open("rb") as source, begun.target.open("wb") as sink:
                        shutil.copyfileobj(source, sink)
                    begun.part.unlink()
                else:
                    begun.part.replace(begun.target)
            except OSError as error:
                self.discard()
                raise _refused(str(begun.target), error) from None
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
