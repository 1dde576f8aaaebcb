"""Bytes of a file without holding them: regular files are mapped, and pages that were shown are given back."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tools.files import input_name, opened_binary, read_open

if TYPE_CHECKING:
    from collections.abc import Iterator


class Data:
    """Bytes of an input.

    Attributes:
        view: all of them.
    """

    def __init__(self, source: bytes | mmap.mmap, descriptor: int | None = None) -> None:
        self._map = source if isinstance(source, mmap.mmap) else None
        self._descriptor = descriptor
        self._page = mmap.PAGESIZE
        self.view: memoryview[int] = memoryview(source)

    def __len__(self) -> int:
        return len(self.view)

    def release(self, start: int, end: int) -> None:
        """Bytes `start` to `end` are not needed again soon: mapped pages leave the process, the file keeps them."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            first = start // self._page * self._page
            self._map.madvise(mmap.MADV_DONTNEED, first, end // self._page * self._page - first)

    def next_data(self, start: int) -> int:
        """The first byte from `start` on that a sparse file has stored, or the end; `start` where nobody knows."""
        if self._descriptor is None or not hasattr(os, "SEEK_DATA"):
            return start
        try:
            return os.lseek(self._descriptor, start, os.SEEK_DATA)
        except OSError as error:
            return len(self) if error.errno == errno.ENXIO else start

    def close(self) -> None:
        """Let go of the file, unless somebody still looks at its bytes."""
        try:
            self.view.release()
            if self._map is not None:
                self._map.close()
        except BufferError:
            pass
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def opened(path: str) -> Iterator[Data]:
    """The bytes of a file, or of standard input for `-`; `InputError` (`input.file`) as `read_bytes`."""
    data = _read(path)
    try:
        yield data
    finally:
        data.close()


def _read(path: str) -> Data:
    with opened_binary(path) as file:
        return _mapped(file.fileno()) or Data(read_open(file, input_name(path)))


def _mapped(descriptor: int) -> Data | None:
    """The whole regular file behind `descriptor` as a map; None when it is something else, empty, or was read from."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not status.st_size or os.lseek(descriptor, 0, os.SEEK_CUR):
        return None
    return Data(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), os.dup(descriptor))
