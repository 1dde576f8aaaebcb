"""Which entry and which core reports belong to a fault.

Only the nearest in time are compared, so that logs with very many faults take no long time.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from tools.capture.faults import APART_NS
from tools.capture.model import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tools.capture.model import CapturedSqe, CoreReport, Fault

Addresses: TypeAlias = tuple[int | None, int | None]
"""Where a kernel begins and where its arguments lie."""
AddressesOf: TypeAlias = "Callable[[CapturedSqe], Addresses]"

NEAR = 8
"""Neighbours in time on each side that are compared."""


class _Near:
    """Numbers by a moment; `at` gives those around another moment, all of them when there are few."""

    def __init__(self, moments: Iterable[tuple[int, int]]) -> None:
        self._sorted = sorted(moments)

    def at(self, moment: int | None) -> list[int]:
        """The numbers of the nearest moments; the first ones when `moment` is not known."""
        place = 0 if moment is None else bisect(self._sorted, (moment, -1))
        return [number for _, number in self._sorted[max(place - NEAR, 0) : place + NEAR]]


def with_entries(faults: list[Fault], sqes: Sequence[CapturedSqe], offset: int | None) -> list[Fault]:
    """Each fault with its entry: whole before cut, the device's view before the host's, then the nearest in time."""
    by_ids: dict[tuple[int, int, str], list[tuple[int, int]]] = defaultdict(list)
    for k, sqe in enumerate(sqes):
        if sqe.stream is not None and sqe.task is not None:
            by_ids[sqe.stream, sqe.task, sqe.side].append((sqe.stamp or 0, k))
    near = {key: _Near(moments) for key, moments in by_ids.items()}
    by_serial = {sqe.serial: sqe for sqe in sqes if sqe.serial is not None}
    found = []
    for fault in faults:
        choices = _by_serial(fault, by_serial)
        for side in (DEVICE, HOST):
            known = near.get((fault.stream, fault.task, side))
            if known is not None:
                choices += [sqes[k] for k in known.at(_moment(fault, side, offset or 0))]

        def rank(sqe: CapturedSqe, fault: Fault = fault) -> tuple[bool, bool, int]:
            own = _moment(fault, sqe.side, offset or 0)
            away = 0 if own is None or sqe.stamp is None else abs(own - sqe.stamp)
            return not sqe.whole, sqe.side != DEVICE, away

        found.append(replace(fault, sqe=min(choices, key=rank)) if choices else fault)
    return found


def _by_serial(fault: Fault, by_serial: Mapping[int, CapturedSqe]) -> list[CapturedSqe]:
    """The entry with the serial number that a 950 reports, with the ids of the fault."""
    report = fault.first("cqe")
    number = None if report is None else report.number("task_sn")
    found = by_serial.get(number) if number is not None else None
    return [] if found is None else [replace(found, stream=fault.stream, task=fault.task)]


def _moment(fault: Fault, side: str, offset: int) -> int | None:
    """When a fault was by the clock of `side`, by the other clock and the offset where that side says nothing."""
    own = fault.stamp(side)
    if own is not None:
        return own
    other = fault.stamp(HOST if side == DEVICE else DEVICE)
    if other is None:
        return None
    return other - offset if side == DEVICE else other + offset


def with_cores(faults: list[Fault], cores: Iterable[CoreReport], addresses: AddressesOf) -> list[Fault]:
    """Each fault with the core reports that belong to it, by address, by queue, or else by time."""
    owners = _Owners(faults, addresses)
    found: dict[int, list[CoreReport]] = defaultdict(list)
    for core in cores:
        at = owners.of(core)
        if at is not None:
            found[at].append(core)
    return [replace(fault, cores=tuple(found[k])) if k in found else fault for k, fault in enumerate(faults)]


class _Owners:
    """Faults by start address, by queue and by time."""

    def __init__(self, faults: list[Fault], addresses: AddressesOf) -> None:
        self._faults = faults
        self._addresses = [(None, None) if f.sqe is None else addresses(f.sqe) for f in faults]
        moments: dict[object, list[tuple[int, int]]] = defaultdict(list)
        for k, fault in enumerate(faults):
            for side in fault.sides:
                at = (fault.stamp(side) or 0, k)
                moments[side].append(at)
                moments[side, "sq", _queue(fault)].append(at)
                moments[side, "pc", self._addresses[k][0]].append(at)
        self._near = {key: _Near(found) for key, found in moments.items()}

    def of(self, core: CoreReport) -> int | None:
        """Which fault a core report belongs to: the best of those that may."""
        keys = (core.side, (core.side, "sq", core.sq), *((s, "pc", core.pc_start) for s in (DEVICE, HOST)))
        near = {k for key in keys if key in self._near for k in self._near[key].at(core.stamp)}
        ranked = [rank for rank in (self._rank(core, k) for k in near) if rank is not None]
        return min(ranked)[-1] if ranked else None

    def _rank(self, core: CoreReport, k: int) -> tuple[int, ...] | None:
        """How well fault `k` fits, smaller is better; None when it is too far away. The last number is `k`."""
        fault, (start, args) = self._faults[k], self._addresses[k]
        by_address = core.pc_start is not None and core.pc_start == start
        by_args = by_address and core.para_base is not None and core.para_base == args
        by_queue = core.sq is not None and core.sq == _queue(fault)
        other = core.pc_start is not None and start is not None and not by_address
        kernel = fault.first("kernel", "real_fault") is not None
        own = fault.stamp(core.side)
        away = abs(own - core.stamp) if own is not None and core.stamp is not None else APART_NS
        if away > APART_NS and not by_address:
            return None
        return other, not by_args, not by_address, not by_queue, not kernel, away, k


def _queue(fault: Fault) -> int | None:
    head = fault.first("interrupt")
    return None if head is None else head.number("sq")
