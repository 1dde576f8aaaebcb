"""UB as bytes: every buffer is a view of one array, and every byte knows through which view it was written last.

Reading a view gives whatever the bytes hold. Where another view wrote them since, or nobody did, that is an overlap:
it is noted with both buffers, offsets and byte counts, and the values stay those that the hardware would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from emu_plugins.cgdr.codecs import Array

NOBODY = "nothing yet"
_NEVER_WRITTEN = 0
_STALE = 0xFF


class Place(NamedTuple):
    """A run of bytes in UB with the name of what lies there."""

    name: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.offset + self.size

    def text(self) -> str:
        """For example `scores [78336, 94720)`."""
        return f"{self.name} [{self.offset}, {self.end})" if self.size else self.name


@dataclass(frozen=True)
class Overlap:
    """Bytes of `reader` that `writer` had overwritten when a step read them; `first` is the first one's offset.

    `bytes` counts those of the first such read. `step` is the step of the chunk, `row` the chunk's first row.
    """

    reader: Place
    writer: Place
    first: int
    bytes: int
    step: str
    row: int

    def text(self) -> str:
        """The overlap on one line."""
        return (
            f"step {self.step} of row {self.row} reads {self.reader.text()}, of which {self.bytes} bytes from "
            f"{self.first} on hold {self.writer.text()}"
        )


class UbOverrunError(Exception):
    """A buffer that passes the end of UB: `place`, and UB's `size`."""

    def __init__(self, place: Place, size: int) -> None:
        super().__init__(place.name)
        self.place = place
        self.size = size


class Tenant:
    """A typed view of UB under the name of what it holds. `place` says where; indices are those of its shape."""

    def __init__(self, ub: UbMemory, place: Place, values: Array, owners: Array, number: int) -> None:
        self.place = place
        self._ub = ub
        self._values = values
        self._owners = owners
        self._number = number

    def read(self, at: Any = ...) -> Array:  # noqa: ANN401 - any numpy index
        """The values at `at`, which are not to be written; foreign bytes among them are noted."""
        foreign = self._owners[at] != self._number
        if foreign.any():
            self._ub.note(self, self._owners[at], foreign)
        found: Array = self._values[at]
        return found

    def write(self, at: Any, values: Any) -> None:  # noqa: ANN401 - any numpy index, anything numpy can assign
        """Overwrite the values at `at`."""
        self._values[at] = values
        self._owners[at] = self._number

    def put(self, values: Any) -> None:  # noqa: ANN401 - as above
        """Overwrite everything."""
        self.write(..., values)

    def edit(self, at: Any = ...) -> Array:  # noqa: ANN401 - any numpy index
        """The values at `at`, to be read and written in place."""
        self.read(at)
        self._owners[at] = self._number
        found: Array = self._values[at]
        return found


class UbMemory:
    """The UB of one core. It starts with all bits set, which is NaN in every float type.

    Attributes:
        size: bytes. overlaps: what was found, once per pair of buffers. step, row: where the kernel is, for reports.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.step = ""
        self.row = 0
        self._bytes = np.full(size, _STALE, np.uint8)
        self._owners = np.full(size, _NEVER_WRITTEN, np.uint16)
        self._places: list[Place] = [Place(NOBODY, 0, 0)]
        self._tenants: dict[tuple[Place, str, tuple[int, ...]], Tenant] = {}
        self._found: dict[tuple[str, str], Overlap] = {}

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """In the order in which they were met."""
        return tuple(self._found.values())

    def tenant(self, name: str, offset: int, shape: tuple[int, ...], dtype: str = "<f4") -> Tenant:
        """The view of `shape` elements at byte `offset`, called `name`.

        Raises:
            UbOverrunError: it passes the end of UB.
        """
        item = np.dtype(dtype).itemsize
        place = Place(name, offset, item * int(np.prod(shape)))
        key = (place, dtype, shape)
        if key not in self._tenants:
            if place.end > self.size:
                raise UbOverrunError(place, self.size)
            area = slice(offset, place.end)
            values, owners = self._bytes[area].view(dtype).reshape(shape), self._owners[area].reshape(*shape, item)
            self._tenants[key] = Tenant(self, place, values, owners, self._number_of(place))
        return self._tenants[key]

    def _number_of(self, place: Place) -> int:
        if place not in self._places:
            self._places.append(place)
        return self._places.index(place)

    def note(self, reader: Tenant, owners: Array, foreign: Array) -> None:
        """Remember that `reader` met `owners` where `foreign` is set; once per pair of names."""
        for number in np.unique(owners[foreign]):
            writer = self._places[int(number)]
            names = (reader.place.name, writer.name)
            if names not in self._found:
                first = self._first(reader.place, int(number))
                count = int(np.count_nonzero(owners == number))
                self._found[names] = Overlap(reader.place, writer, first, count, self.step, self.row)

    def _first(self, place: Place, number: int) -> int:
        inside = self._owners[place.offset : place.end]
        return place.offset + int(np.argmax(inside == number))
