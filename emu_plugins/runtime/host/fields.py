"""Fields of entries that a call sets beside what the builder writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device

CREDIT_AT = 14
"""Byte of the kernel credit in entries of every family (`reference/sqe_formats.md` 3)."""


def with_credit(sqe: bytes, credit: int | None) -> bytes:
    """The entry with another time budget; None keeps the builder's."""
    return sqe if credit is None else sqe[:CREDIT_AT] + bytes([credit]) + sqe[CREDIT_AT + 1 :]


def with_fields(device: Device, struct: str, sqe: bytes, values: Mapping[str, int]) -> bytes:
    """The entry with some fields of layout `struct` changed."""
    raw = bytearray(sqe)
    layout = device.layout(struct)
    for name, value in values.items():
        layout.field(name).patch(raw, 0, value)
    return bytes(raw)


def with_timeout(device: Device, struct: str, sqe: bytes, seconds: int) -> bytes:
    """A wait with a limit in seconds; 0 keeps it for ever. On v200 events are waited for by notify waits."""
    named = struct if device.chip.family == "v100" else "NotifyWaitSqe"
    return with_fields(device, named, sqe, {"timeout": seconds}) if seconds else sqe
