"""Files at the edge: whole inputs, arrays, and outputs that appear completely or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from emu_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO

    import numpy.typing as npt

    Arrays = Mapping[str, npt.NDArray[np.generic]]
    """Arrays by name."""

STDIN = "-"


def read_bytes(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: str, error: OSError) -> InputError:
    """The error for a file that cannot be read."""
    return InputError(
        f"cannot be read: {error.strerror or error}",
        id="input.file",
        where=path,
        remedy="check the path and permissions",
    )


def read_npz(path: str) -> dict[str, npt.NDArray[np.generic]]:
    """All arrays of an npz file; pickled objects are refused.

    Raises:
        InputError: the file cannot be read (`input.file`) or is no npz with plain arrays (`input.npz`).
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise InputError(
                    "is one array, not an npz", id="input.npz", where=path, remedy="write it with numpy.savez"
                )
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, SyntaxError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"is not a readable npz: {what}",
            id="input.npz",
            where=path,
            remedy="write it with numpy.savez, without objects",
        ) from None


class Outputs:
    """Files written under temporary names beside their targets and renamed together at the end.

    Use as a context manager: leaving it with an exception removes what was begun; `commit` renames.
    """

    def __init__(self) -> None:
        self._begun: list[tuple[Path, Path]] = []

    def __enter__(self) -> Outputs:  # noqa: PYI034 - not meant to be derived from
        return self

    def __exit__(self, kind: object, _error: object, _trace: object) -> None:
        if kind is not None:
            self.discard()

    def begin(self, target: str) -> Path:
        """A temporary path for `target`; `InputError` when its folder cannot be written."""
        path = Path(target)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        except OSError as error:
            raise unwritable(target, error) from None
        os.close(handle)
        os.chmod(name, 0o666 & ~_umask())  # noqa: PTH101 - mkstemp makes files private
        self._begun.append((Path(name), path))
        return Path(name)

    def write(self, target: str, data: bytes) -> None:
        """Write a whole file."""
        self.begin(target).write_bytes(data)

    def write_npz(self, target: str, arrays: Arrays) -> None:
        """Write an npz."""
        with self.begin(target).open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @contextmanager
    def text(self, target: str) -> Iterator[IO[str]]:
        """A text file to write lines to."""
        with self.begin(target).open("w", encoding="utf-8", newline="\n") as file:
            yield file

    def commit(self) -> None:
        """Give every file its real name."""
        for part, target in self._begun:
            try:
                part.replace(target)
            except OSError as error:
                self.discard()
                raise unwritable(str(target), error) from None
        self._begun.clear()

    def discard(self) -> None:
        """Remove every file that was begun."""
        for part, _ in self._begun:
            part.unlink(missing_ok=True)
        self._begun.clear()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def unwritable(path: str, error: OSError) -> InputError:
    """The error for a file that cannot be written."""
    return InputError(
        f"cannot be written: {error.strerror or error}",
        id="output.file",
        where=path,
        remedy="check the folder and permissions",
    )
