"""Device memory: two address spaces of sorted allocations, reached by intent.

| space | base address | holds |
|---|---|---|
| `HBM` | 0x12C0_4000_0000 | tensors, arguments, kernels, strings |
| `TS` | 0x1240_0000_0000 | rings, sink buffers, tiling tables: what the task scheduler reads |

Every allocation is an array of its own, zero-filled and backed by pages only when touched. Addresses are never
used again and a guard gap follows each allocation, so an access past an end or after a free is always found.
Some ranges (rings, contexts, tiling cells) are *protected*: only `poke` writes them, because such writes are
journalled.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

from emu_core.errors import DeviceFault, LimitError
from emu_core.intervals import IntervalSet
from emu_core.ordering.records import POLL, READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt
    from _typeshed import ReadableBuffer

    Bytes = npt.NDArray[np.uint8]
    Buffer: TypeAlias = ReadableBuffer | npt.NDArray[Any]

GUARD = 4096
"""Bytes between two allocations that belong to nobody."""


class Space(Enum):
    """Address spaces; the value is the base address."""

    HBM = 0x12C0_4000_0000
    TS = 0x1240_0000_0000


class MemoryFault(DeviceFault):
    """A bad access; the scheduler adds the code of the engine that made it."""

    def __init__(self, what: str, *, id: str, remedy: str = "") -> None:  # noqa: A002 - see SqemuError
        super().__init__(what, ts_code=0, id=id, remedy=remedy)


@dataclass(frozen=True)
class Allocation:
    """A range of device memory with the name of what it is for."""

    address: int
    size: int
    label: str
    space: Space

    @property
    def end(self) -> int:
        """First address past the range."""
        return self.address + self.size


class _Block:
    """An allocation with its bytes and the ranges that were written.

    `touched`: ranges outside of `written` that may hold something, too: forgotten, or open for writing.
    """

    __slots__ = ("_data", "before_write", "freed", "info", "touched", "written")

    def __init__(self, info: Allocation) -> None:
        self.info = info
        self.written = IntervalSet()
        self.touched = IntervalSet()
        self.freed = False
        self.before_write: Callable[[int, bytes | bytearray | Bytes], None] | None = None
        self._data: Bytes | None = None

    @property
    def data(self) -> Bytes:
        if self._data is None:
            self._data = np.zeros(self.info.size, np.uint8)
        return self._data

    @property
    def untouched(self) -> bool:
        """Whether nobody has looked at the bytes, which are all 0 then."""
        return self._data is None

    def holds(self, root: object) -> bool:
        """Whether `root` is the array of its bytes."""
        return self._data is root

    def release(self) -> None:
        self.freed = True
        self._data = None


class DeviceMemory:
    """All memory of one device; see the module text.

    `on_write`, when set, is called with address and size after each write: somebody waits for a value in memory.

    Raises (as `DeviceFault`, id in brackets): access outside any allocation or across an end (`memory.bounds`), after a
    free (`memory.freed`), write to a protected range (`memory.protected`).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self._starts: list[int] = []
        self._blocks: dict[int, _Block] = {}
        self._next = {space: space.value for space in Space}
        self._protected: list[tuple[int, int, str]] = []
        self.on_write: Callable[[int, int], None] | None = None

    def allocate(self, size: int, *, label: str, space: Space = Space.HBM, align: int = 512) -> Allocation:
        """Reserve `size` bytes aligned to `align`.

        Raises:
            LimitError: the chip's memory is used up. TypeError: `size` is no whole number. ValueError: it is negative.
        """
        if type(size) is not int:
            size = _whole(size, label)
        if size < 0:
            raise ValueError(f"{size} bytes for {label} cannot be reserved")
        if self.used + size > self.capacity:
            raise LimitError(
                f"{size} bytes for {label} do not fit: {self.used} of {self.capacity} bytes are in use",
                id="limit.memory",
                remedy="use smaller tensors or a chip with more memory",
            )
        address = -(-self._next[space] // align) * align
        self._next[space] = address + size + GUARD
        self.used += size
        info = Allocation(address, size, label, space)
        insort(self._starts, address)
        self._blocks[address] = _Block(info)
        return info

    def watch(self, address: int, before_write: Callable[[int, bytes | bytearray | Bytes], None]) -> None:
        """Call `before_write(offset, data)` before each `write` and `poke` to the allocation at `address`."""
        self._blocks[address].before_write = before_write

    def free(self, address: int) -> None:
        """Give an allocation back; later accesses to it are faults."""
        block = self._blocks[address]
        if not block.freed:
            block.release()
            self.used -= block.info.size

    def protect(self, address: int, size: int, what: str) -> None:
        """Make ``[address, address + size)`` writable by `poke` only; `what` names it in messages."""
        insort(self._protected, (address, address + size, what))

    def find(self, address: int) -> Allocation | None:
        """The allocation that contains `address`, or None."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        block = self._blocks[self._starts[at]]
        return block.info if address < block.info.end and not block.freed else None

    def _locate(self, address: int, size: int, intent: str) -> tuple[_Block, int]:
        at = bisect_right(self._starts, address) - 1
        block = self._blocks[self._starts[at]] if at >= 0 else None
        if block is None or address >= block.info.end + GUARD:
            raise MemoryFault(
                f"{intent} of {size} bytes at {address:#x}: no memory was allocated there", id="memory.bounds"
            )
        info = block.info
        if block.freed:
            raise MemoryFault(f"{intent} of {size} bytes at {address:#x}: {info.label} was freed", id="memory.freed")
        if size < 0 or address + size > info.end:
            over = address + size - info.end
            raise MemoryFault(
                f"{intent} of {size} bytes at {address:#x} goes {over} bytes past the end of {info.label} "
                f"({info.size} bytes at {info.address:#x})",
                id="memory.bounds",
            )
        return block, address - info.address

    def view(self, address: int, size: int, intent: str = "read") -> Bytes:
        """The bytes themselves, writable; for the machine's own use, after bounds and life time checks."""
        block, at = self._locate(address, size, intent)
        if intent == "write":
            block.touched.add(at, at + size)
        return block.data[at : at + size]

    def unwritten(self, address: int, size: int) -> int | None:
        """First address of the range that nobody wrote, or None."""
        block, at = self._locate(address, size, "read")
        gap = block.written.first_gap(at, at + size)
        return None if gap is None else block.info.address + gap

    def refuse_protected(self, address: int, size: int) -> None:
        """`DeviceFault` when the range touches a protected one."""
        at = bisect_right(self._protected, (address + size - 1, 1 << 64, "")) - 1
        if size and at >= 0 and self._protected[at][1] > address:
            what = self._protected[at][2]
            raise MemoryFault(
                f"write of {size} bytes at {address:#x} hits {what}",
                id="memory.protected",
                remedy="only a task update or the tiling server may change it",
            )

    def protected_as(self, address: int) -> str | None:
        """What the protected range around `address` is called, or None."""
        at = bisect_right(self._protected, (address, 1 << 64, "")) - 1
        return self._protected[at][2] if at >= 0 and address < self._protected[at][1] else None

    @staticmethod
    def offset_of(address: int) -> int:
        """The device offset the task scheduler uses for an address of the TS space."""
        return address - Space.TS.value

    @staticmethod
    def address_of_offset(offset: int) -> int:
        """The address of a device offset; inverse of `offset_of`."""
        return (offset + Space.TS.value) & (1 << 64) - 1

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""
        return self.view(address, size).tobytes()

    def write(self, address: int, data: Buffer) -> None:
        """Write the bytes of `data`, any C-contiguous buffer, and mark them written; raises as `raw_bytes` too."""
        raw = _as_bytes(data)
        self.refuse_protected(address, len(raw))
        self.poke(address, raw)

    def poke(self, address: int, data: Buffer) -> None:
        """Write without looking at protection; callers journal what they change."""
        raw = _as_bytes(data)
        size = len(raw)
        block, at = self._locate(address, size, "write")
        if block.before_write is not None:
            block.before_write(at, raw)
        block.data[at : at + size] = np.frombuffer(raw, np.uint8) if isinstance(raw, bytes) else raw
        block.written.add(at, at + size)
        if self.on_write is not None:
            self.on_write(address, size)

    def mark_written(self, address: int, size: int) -> None:
        """Count the range as written."""
        block, at = self._locate(address, size, "write")
        block.written.add(at, at + size)
        if self.on_write is not None:
            self.on_write(address, size)

    def forget_written(self, address: int, size: int) -> None:
        """Count the whole allocation at `address` as never written (a new execution starts); bytes stay."""
        block, _ = self._locate(address, size, "write")
        for start, end in block.written:
            block.touched.add(start, end)
        block.written = IntervalSet()

    def blocks(self) -> Iterator[_Block]:
        """Every allocation with its bytes, freed ones included, by address."""
        return (self._blocks[address] for address in self._starts)

    def allocations(self) -> Iterator[Allocation]:
        """Live allocations by address."""
        return (self._blocks[a].info for a in self._starts if not self._blocks[a].freed)


def raw_bytes(data: Buffer) -> bytes:
    """The bytes of a C-contiguous buffer: bytes, an array of any type, a memory view.

    Raises:
        TypeError: it is no buffer, its bytes do not lie one behind the other, or it holds Python objects.
    """
    if isinstance(data, np.ndarray):
        contiguous, objects = data.flags.c_contiguous, data.dtype.hasobject
    else:
        data = _view(data)
        contiguous, objects = data.c_contiguous, "O" in data.format
    if objects:
        raise TypeError("it holds Python objects")
    if not contiguous:
        raise TypeError("its bytes do not lie one behind the other: numpy.ascontiguousarray makes a copy that does")
    return data.tobytes()


def _view(data: ReadableBuffer) -> memoryview:
    try:
        return memoryview(data)
    except TypeError:
        raise TypeError("it is no buffer") from None


def _as_bytes(data: Buffer) -> bytes | Bytes:
    """`data` as bytes or a row of bytes, without a copy when it is one already."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, np.ndarray) and data.dtype == np.uint8 and data.ndim == 1:
        return data
    return raw_bytes(data)


def _whole(size: object, label: str) -> int:
    """`size` as an int; numpy integers would make every address that follows one of theirs."""
    if isinstance(size, SupportsIndex) and not isinstance(size, bool):
        return index(size)
    raise TypeError(f"{size!r} bytes for {label} cannot be reserved: the size is no whole number")


class TaskMemory:
    """Memory as one task sees it: every access checked, reads of unwritten bytes reported.

    Implements `emu_core.kernels.MemoryAccess`. `report(address, size, label)` is called for reads that touch bytes
    nobody wrote, once for each first such byte.

    Attributes:
        accesses: what (`emu_core.ordering.records`), address and size of each access so far; None while nobody asks.
    """

    __slots__ = ("_memory", "_report", "_reported", "accesses")

    def __init__(self, memory: DeviceMemory, report: Callable[[int, int, str], None] | None = None) -> None:
        self._memory = memory
        self._report = report
        self._reported: set[int] | None = None
        self.accesses: list[tuple[int, int, int]] | None = None

    def _note(self, what: int, address: int, size: int) -> None:
        """Remember an access, joined to the one before if it follows it."""
        assert self.accesses is not None
        if self.accesses:
            before, start, length = self.accesses[-1]
            if before == what and start <= address <= start + length:
                self.accesses[-1] = (what, start, max(length, address + size - start))
                return
        self.accesses.append((what, address, size))

    def _checked(self, address: int, size: int) -> Bytes:
        data = self._memory.view(address, size)
        if self.accesses is not None:
            self._note(READ, address, size)
        gap = self._memory.unwritten(address, size)
        if gap is not None and self._report is not None:
            self._reported = set() if self._reported is None else self._reported
            if gap not in self._reported:
                self._reported.add(gap)
                found = self._memory.find(gap)
                self._report(gap, address + size - gap, found.label if found else "")
        return data

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""
        return self._checked(address, size).tobytes()

    def poll(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes that stand for a flag: what follows comes behind whoever wrote them."""
        found = self._memory.read(address, size)
        if self.accesses is not None:
            self._note(POLL, address, size)
        return found

    def write(self, address: int, data: bytes) -> None:
        """Write `data`."""
        self._memory.write(address, data)
        if self.accesses is not None:
            self._note(WRITE, address, len(data))

    def u32(self, address: int) -> int:
        """Little-endian 32-bit word."""
        return int.from_bytes(self.read(address, 4), "little")

    def u64(self, address: int) -> int:
        """Little-endian 64-bit word."""
        return int.from_bytes(self.read(address, 8), "little")

    def c_string(self, address: int, limit: int = 4096) -> str:
        """Zero-terminated UTF-8 text of at most `limit` bytes; `DeviceFault` when it has no end or is not text."""
        found = self._memory.find(address)
        room = min(limit, found.end - address) if found else 1
        raw = self._memory.read(address, room)
        end = raw.find(0)
        try:
            if end >= 0:
                return raw[:end].decode()
        except UnicodeDecodeError:
            pass
        raise MemoryFault(f"no zero-terminated text at {address:#x}", id="memory.text")

    def array(self, address: int, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
        """Read-only array over device memory."""
        found = self._shaped(self._checked(address, _size(dtype, shape)), dtype, shape)
        found.flags.writeable = False
        return found

    @contextmanager
    def out_array(self, address: int, dtype: str, shape: tuple[int, ...]) -> Iterator[npt.NDArray[np.generic]]:
        """Writable array; its bytes count as written when the context closes without an error."""
        size = _size(dtype, shape)
        self._memory.refuse_protected(address, size)
        yield self._shaped(self._memory.view(address, size, "write"), dtype, shape)
        self._memory.mark_written(address, size)
        if self.accesses is not None:
            self._note(WRITE, address, size)

    @contextmanager
    def inout_array(self, address: int, dtype: str, shape: tuple[int, ...]) -> Iterator[npt.NDArray[np.generic]]:
        """Writable array whose old contents are read too."""
        self._checked(address, _size(dtype, shape))
        with self.out_array(address, dtype, shape) as found:
            yield found

    @staticmethod
    def _shaped(data: Bytes, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
        if data.ctypes.data % np.dtype(dtype).alignment == 0:
            return data.view(dtype).reshape(shape)
        return np.ndarray(shape, dtype, buffer=data)


def _size(dtype: str, shape: tuple[int, ...]) -> int:
    size = np.dtype(dtype).itemsize
    for dim in shape:
        size *= dim
    if size < 0:
        raise MemoryFault(f"an array of shape {shape} has no size", id="memory.bounds")
    return size
