"""Reading bytes front to back: every length is compared with what is there before anything is taken."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats import CStruct

AGAIN = "copy the file again, or convert the model again"


def om_error(id: str, what: str, where: str = "", offset: int | None = None, remedy: str = AGAIN) -> FormatError:  # noqa: A002 - as in FormatError
    """The error of a file that cannot be read."""
    return FormatError(what, id=id, where=where, offset=offset, remedy=remedy)


def text_of(data: bytes | memoryview[int]) -> str:
    """Bytes as text: up to the first zero, undecodable ones as backslash escapes."""
    return bytes(data).partition(b"\0")[0].decode("utf-8", "backslashreplace")


class Cursor:
    """A place in `data`, which begins at byte `base` of the file and is called `where` in messages."""

    def __init__(self, data: memoryview[int], where: str, *, base: int = 0, id: str = "om.partition") -> None:  # noqa: A002 - as in FormatError
        self.data, self.where, self.base, self.at = data, where, base, 0
        self._id = id

    @property
    def left(self) -> int:
        """Bytes behind the place."""
        return len(self.data) - self.at

    def error(self, what: str) -> FormatError:
        """An error at this place."""
        return om_error(self._id, what, self.where, self.base + self.at)

    def take(self, size: int, what: str) -> memoryview[int]:
        """The next `size` bytes, without a copy.

        Raises:
            FormatError: there are fewer.
        """
        if size > self.left:
            raise self.error(f"{what} has {size} bytes, {self.left} are left")
        found = self.data[self.at : self.at + size]
        self.at += size
        return found

    def struct(self, layout: CStruct) -> Mapping[str, Any]:
        """The next bytes as a struct; raises as `take`."""
        values: Mapping[str, Any] = layout.parse(bytes(self.take(layout.size, layout.struct_name)))
        return values

    def u32(self, what: str) -> int:
        """The next 32-bit number; raises as `take`."""
        return int.from_bytes(self.take(4, what), "little")

    def count(self, what: str, least: int) -> int:
        """A 32-bit count of things of at least `least` bytes each; raises as `take`, or when they cannot be there."""
        found = self.u32(f"the number of {what}")
        if found * least > self.left:
            raise self.error(f"{found} {what} need at least {found * least} bytes, {self.left} are left")
        return found

    def i64s(self, size: int, what: str) -> tuple[int, ...]:
        """The next `size` bytes as signed 64-bit numbers; raises as `take`, or when they are no whole numbers."""
        if size % 8:
            raise self.error(f"{what} has {size} bytes, which are no whole 64-bit numbers")
        return struct.unpack(f"<{size // 8}q", self.take(size, what))
