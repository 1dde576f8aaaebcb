"""What an SDMA opcode does to bytes: copies, reductions, fills, cache operations (`reference/sqe_formats.md` 4.10).

The high four bits of an opcode name the data type, the low four the operation.

| operation | target becomes | time |
|---|---|---|
| 0 copy | source, whatever the type | setup + twice the bytes |
| 1 add | target + source; integers wrap, float16 and bfloat16 round to nearest even | setup + three times the bytes |
| 2 max, 3 min | the larger, the smaller; a NaN wins | likewise |
| 4 equal | 1 where both are equal, else 0 (our reading: no source says) | likewise |
| 5 memset | the value, one element of the type after the other | setup + once the bytes |
| 6 to 9 prefetch, write back, invalidate, flush | unchanged: there are no caches here | setup |

All times at the rate of the whole device memory (modelled). A *strided* operation does the same to several runs of
bytes, one behind the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from emu_core import codes
from emu_core.engines import Run
from emu_core.errors import DeviceFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from emu_core.engines import Task

    Values = npt.NDArray[np.generic]

SETUP_NS = 1_000
COPY, ADD, MAX, MIN, EQUAL, MEMSET = range(6)
CACHE = MappingProxyType({6: "prefetch", 7: "write back", 8: "invalidate", 9: "flush"})
NAMES = ("copy", "add", "max", "min", "equal", "memset")
BF16 = 8
MOST_RUNS = 65_536
"""Runs of the longest strided operation that is done here."""
DTYPES = MappingProxyType({
    0: "<i1", 1: "<i2", 2: "<i4", 3: "<u1", 4: "<u2", 5: "<u4", 6: "<f2", 7: "<f4", BF16: "<u2",
})  # fmt: skip
"""numpy type of an element by data type; bfloat16 travels as uint16 and is reduced in float32."""

_REDUCE: Mapping[int, Callable[[Values, Values], Values]] = MappingProxyType({
    ADD: np.add, MAX: np.maximum, MIN: np.minimum, EQUAL: np.equal,
})  # fmt: skip


def moved_ns(task: Task, size: int) -> int:
    """Modelled time in nanoseconds of a transfer that moves `size` bytes in or out of device memory."""
    chip = task.device.chip
    return SETUP_NS + math.ceil(size / chip.bandwidth_per_ns(chip.core_num_aic))


def copy_ns(task: Task, size: int) -> int:
    """Modelled time of a copy of `size` bytes in nanoseconds."""
    return moved_ns(task, 2 * size)


def copy(task: Task, source: int, target: int, size: int) -> None:
    """Copy `size` bytes; each end is checked like any access of a task."""
    if size:
        task.memory.write(target, task.memory.read(source, size))


def operate(task: Task, opcode: int, source: int, target: int, size: int) -> Run:
    """The outcome of `opcode` on `size` bytes at `source` and `target`; for a memset, see `fill`.

    Raises:
        DeviceFault: an operation or a data type that is not defined (`sqe.unsupported`), a size that is no whole
            number of elements (`sqe.sdma`).
    """
    operation, dtype = opcode & 0xF, opcode >> 4
    if operation == COPY:
        return Run(copy_ns(task, size), lambda: copy(task, source, target, size), _words(size, source, target))
    if operation in CACHE:
        return Run(SETUP_NS, detail=f"cache {CACHE[operation]} of {size} bytes at {source:#x}: no effect")
    if operation == MEMSET:
        return fill(task, dtype, source, size, target & 0xFFFFFFFF)
    if operation not in _REDUCE:
        raise _undefined(opcode, f"operation {operation}")
    _check(opcode, dtype, size)
    return Run(
        moved_ns(task, 3 * size),
        lambda: _reduce(task, operation, dtype, source, target, size),
        f"{NAMES[operation]} of {_words(size, source, target)}",
    )


@dataclass(frozen=True)
class Runs:
    """Runs of a strided operation: how many, and bytes from one to the next at source and target."""

    count: int
    source_stride: int
    target_stride: int


def operate_strided(task: Task, opcode: int, source: int, target: int, size: int, runs: Runs) -> Run:
    """The outcome of `opcode` on `runs.count` runs of `size` bytes each, the first at `source` and `target`.

    Raises:
        DeviceFault: as `operate`; more runs than are done here (`sqe.sdma`).
    """
    if runs.count > MOST_RUNS:
        raise _bad(opcode, f"{runs.count} runs, at most {MOST_RUNS} are done here", "check the repeat count")
    whole = operate(task, opcode, source, target, size * runs.count)
    step = 0 if opcode & 0xF == MEMSET else runs.target_stride

    def one(i: int) -> Run:
        return operate(task, opcode, source + i * runs.source_stride, target + i * step, size)

    def finish() -> None:
        for i in range(runs.count if size else 0):
            one(i).finish()

    return Run(whole.duration_ns, finish, f"{runs.count} runs: {one(0).detail}")


def fill(task: Task, dtype: int, target: int, size: int, value: int) -> Run:
    """The outcome of a memset: `size` bytes at `target` become elements that hold the low bits of `value`.

    An entry carries the target in its source address and the value in its target address
    (`reference/sqe_formats.md` 6.5).
    """
    _check(dtype << 4 | MEMSET, dtype, size)
    width = np.dtype(DTYPES[dtype]).itemsize
    element = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    detail = f"memset of {size} bytes at {target:#x} to {int.from_bytes(element, 'little'):#x}"
    return Run(moved_ns(task, size), lambda: _fill(task, target, size, element), detail)


def _fill(task: Task, target: int, size: int, element: bytes) -> None:
    if size:
        task.device.memory.view(target, size, "write")
        task.memory.write(target, element * (size // len(element)))


def _reduce(task: Task, operation: int, dtype: int, source: int, target: int, size: int) -> None:
    if not size:
        return
    first, second = (np.frombuffer(task.memory.read(at, size), DTYPES[dtype]) for at in (target, source))
    with np.errstate(all="ignore"):
        task.memory.write(target, _combine(operation, dtype, first, second).tobytes())


def _combine(operation: int, dtype: int, first: Values, second: Values) -> Values:
    if dtype != BF16:
        return _REDUCE[operation](first, second).astype(DTYPES[dtype])
    found = _REDUCE[operation](_widened(first), _widened(second))
    return _narrowed(found.astype("<f4"))


def _widened(bits: Values) -> Values:
    """The float32 values of bfloat16 bits."""
    return (bits.astype("<u4") << np.uint32(16)).view("<f4")


def _narrowed(values: Values) -> Values:
    """The nearest bfloat16 bits, ties to even; a NaN stays one."""
    bits = values.view("<u4").astype("<u8")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values.astype("<f4")), bits >> 16 | 0x40, rounded).astype("<u2")


def _words(size: int, source: int, target: int) -> str:
    return f"{size} bytes from {source:#x} to {target:#x}"


def _check(opcode: int, dtype: int, size: int) -> None:
    if dtype not in DTYPES:
        raise _undefined(opcode, f"data type {dtype}")
    width = np.dtype(DTYPES[dtype]).itemsize
    if size % width:
        raise _bad(opcode, f"{size} bytes, no whole number of elements of {width} bytes", "the length is in bytes")


def _bad(opcode: int, what: str, remedy: str) -> DeviceFault:
    return DeviceFault(
        f"SDMA opcode {opcode:#04x} on {what}", ts_code=codes.SQE_ERROR, error_type=8, id="sqe.sdma", remedy=remedy
    )


def _undefined(opcode: int, what: str) -> DeviceFault:
    return DeviceFault(
        f"SDMA opcode {opcode:#04x}: {what} is undefined",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="operations are 0 (copy) to 9 (cache flush), data types 0 (int8) to 8 (bfloat16)",
    )
