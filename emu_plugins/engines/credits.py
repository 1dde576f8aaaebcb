"""Kernel credit: the time budget of an entry, in units of the chip (`reference/sqe_formats.md` 3).

| credit | budget |
|---|---|
| 0 | none given: no limit (our choice, no v100 source says); where the hardware counts from 0 one unit |
| 1 to 254 | that many units; one more where it counts from 0 (`Chip.credit_from_zero`: 950, 350) |
| 255 | never ends; the host accepts it only for AI Core, AI CPU, event wait and notify wait |

One unit is the chip's `credit_ns`, or policy `kernel_credit_us`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Limit

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.engines import Task

AT = 14
LARGEST, NEVER = 254, 255
INVALID_TYPE = 63
NEVER_TYPES = frozenset({0, 1, 5, 7})


def unit_ns(device: Device) -> int:
    """Nanoseconds of one unit of credit, by chip or policy `kernel_credit_us`."""
    value = device.policies["kernel_credit_us"]
    if value != "chip":
        return max(int(value), 1) * 1000
    return device.chip.credit_ns


def limit(task: Task, ts_code: int) -> Limit | None:
    """The time limit of an entry, with the TS code of its excess; None for ever."""
    budget = budget_ns(task.device, task.sqe[AT])
    return None if budget is None else Limit(budget, ts_code)


def budget_ns(device: Device, credit: int) -> int | None:
    """Nanoseconds that an entry with `credit` may take on this device; None for ever."""
    units = 0 if credit == NEVER else credit + device.chip.credit_from_zero
    return units * unit_ns(device) or None


def task_limit(task: Task) -> Limit | None:
    """The time limit of an entry of an engine without a timeout code of its own (0x105)."""
    return limit(task, codes.TASK_TIMEOUT)


def credit_for(timeout_us: int | None, unit: int, *, never_if_zero: bool = False, from_zero: bool = False) -> int:
    """The credit the host writes for a time limit of `timeout_us` microseconds; `unit` is in nanoseconds.

    None, and more than a credit can say, give the largest finite value; 0 as well, or *never* in the
    microsecond interface (`never_if_zero`); 2^64 - 1 is *never*. Where the hardware counts from 0 (`from_zero`) a
    finite credit is stored less one.
    """
    if timeout_us is None:
        return LARGEST - from_zero
    if timeout_us == (1 << 64) - 1 or (timeout_us == 0 and never_if_zero):
        return NEVER
    return (min(LARGEST, -(-timeout_us * 1000 // unit)) or LARGEST) - from_zero


def as_submitted(sqe: bytes) -> bytes:
    """The entry as the driver sends it: with credit *never* where that is not allowed its type becomes 63."""
    if sqe[AT] != NEVER or sqe[0] & 0x3F in NEVER_TYPES:
        return sqe
    return bytes([sqe[0] & 0xC0 | INVALID_TYPE]) + sqe[1:]
