"""What a file holds: a task blob, SQEs, or something else that is named; and which family SQEs belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from formats import SQE_SIZE
from formats.blob.layout import MAGIC

if TYPE_CHECKING:
    from formats import Registry

_MAGIC = MAGIC.to_bytes(8, "little")

_OTHERS = (
    (b"PK\x03\x04", "is a zip archive, perhaps an npz", "give a task blob or a file of SQEs"),
    (b"{", "is JSON text, perhaps a graph", "compile it first: sqemu compile GRAPH -o FILE"),
    (b"\x7fELF", "is an ELF file", "give a task blob or a file of SQEs"),
    (b"IMOD", "is an offline model (.om), which this version does not read", "give a task blob or a file of SQEs"),
)
"""First bytes of files that end up here by mistake; no SQE of a known type starts like one of them."""


@dataclass(frozen=True)
class Family:
    """A family of SQE layouts, and why it was taken."""

    name: str
    reason: str


def is_blob(data: bytes) -> bool:
    """Whether `data` starts like a task blob; a beginning that was cut off counts."""
    return bool(data) and data[: len(_MAGIC)] == _MAGIC[: len(data)]


def check_sqes(data: bytes, where: str) -> None:
    """`InputError` (`dump.unknown`) when `data` cannot be SQEs: empty, shorter than one, or a known other format."""
    if not data:
        raise InputError(
            "is empty", id="dump.unknown", where=where, remedy="give a task blob or a file of 64-byte SQEs"
        )
    for start, what, remedy in _OTHERS:
        if data.startswith(start):
            raise InputError(what, id="dump.unknown", where=where, remedy=remedy)
    if len(data) < SQE_SIZE:
        raise InputError(
            f"has {len(data)} bytes: no task blob, and shorter than one SQE of {SQE_SIZE} bytes",
            id="dump.unknown",
            where=where,
            remedy="give a task blob or a file of 64-byte SQEs",
        )


def guess_family(registry: Registry, data: bytes) -> Family:
    """The family that fits the entries best; `formats/guess.py` says what speaks for one."""
    candidates = registry.sqe_families
    if len(candidates) == 1:
        return Family(candidates[0], "the only family with SQEs here")
    guess = registry.guess_family(data)
    return Family(guess.family, f"guessed: {guess.reason}; --family decides")
