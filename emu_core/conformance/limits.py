"""Chips of a plugin: a source per figure, and limits that the machine made of them really has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.conformance.records import said
from emu_core.device import Device
from emu_core.errors import LimitError, SqemuError
from emu_core.rings import SQE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emu_core.chips import Chip
    from emu_core.conformance.records import Subject


def chips(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each chip."""
    for chip in subject.chips:
        yield [f"chip {chip.name}: {what}" for what in _wrong(chip, subject)]


def _wrong(chip: Chip, subject: Subject) -> Iterator[str]:
    if chip.unsourced:
        yield f"no source for {', '.join(chip.unsourced)}; say in `sources` where each is from"
    try:
        device = Device(chip, plugins=subject.host)
        yield from _ends("event", chip.max_events, device.create_event)
        yield from _ends("notify", chip.max_notifies, device.create_notify)
        yield from _full_ring(device)
    except SqemuError as error:
        yield said(error)


def _ends(kind: str, limit: int, create: Callable[[], int]) -> Iterator[str]:
    """There are as many ids as the chip says, and no more."""
    if len({create() for _ in range(limit)}) != limit:
        yield f"there are fewer than {limit} different {kind} ids"
    try:
        create()
    except LimitError:
        return
    yield f"there are more than {limit} {kind} ids"


def _full_ring(device: Device) -> Iterator[str]:
    """A model's ring takes as many entries as the chip says it does, and no more."""
    queue, usable = device.create_stream("full", bound=True).queue, device.chip.usable_tasks
    for _ in range(usable):
        queue.append(bytes(SQE_BYTES))
    try:
        queue.append(bytes(SQE_BYTES))
    except LimitError:
        return
    yield f"its ring takes more than {usable} entries"
