"""What a file holds: a task blob, SQEs, or something else that is named; and which family SQEs belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from formats import SQE_SIZE
from formats.buffers import flat
from formats.magic import BLOB_START
from tools.dump.items import WINDOW, used_slots
from tools.dump.textual import text_start

if TYPE_CHECKING:
    from formats import Registry
    from formats.buffers import Buffer
    from tools.dump.data import Data

_OTHERS = (
    (b"PK\x03\x04", "is a zip archive, perhaps an npz", "give a task blob or a file of SQEs"),
    (b"{", "is JSON text, perhaps a graph", "compile it first: sqemu compile GRAPH -o FILE"),
    (b"\x7fELF", "is an ELF file", "give a task blob or a file of SQEs"),
    (b".family", "is assembler text", "turn it into bytes first: sqemu asm TEXT -o FILE"),
    (b"IMOD", "is an offline model (.om)", "sqemu dump (without --family, --struct, --cqes), check and run read it"),
)
"""First bytes of files that end up here by mistake; no SQE of a known type starts like one of them."""

_SAMPLE = 256
_WINDOWS = 256
_GLANCE = 4096
_UNLIKELY = 0.25
"""Confidence below which a guess is doubted; random bytes reach about 0.2."""


@dataclass(frozen=True)
class Family:
    """A family of SQE layouts, why it was taken, and how sure that is (0 to 1)."""

    name: str
    reason: str
    confidence: float = 1.0

    @property
    def fits(self) -> bool:
        """Whether there was anything to compare: a confidence of 0 with no sign at all says nothing."""
        return self.confidence > 0


def is_blob(data: Buffer) -> bool:
    """Whether `data` starts like a task blob; a beginning that was cut off counts."""
    start = bytes(flat(data)[: len(BLOB_START)])
    return bool(start) and start == BLOB_START[: len(start)]


def check_raw(data: Buffer, where: str, size: int = SQE_SIZE, *, text: bool = False) -> None:
    """`InputError` (`dump.unknown`) when `data` cannot be entries of `size` bytes.

    It is empty, shorter than one, of a known other format, or text; `text` lets that pass.
    """
    view = flat(data)
    if len(view) == 0:
        raise InputError(
            "is empty", id="dump.unknown", where=where, remedy="give a task blob or a file of 64-byte SQEs"
        )
    start = bytes(view[:8])
    for magic, what, remedy in _OTHERS:
        if start.startswith(magic):
            raise InputError(what, id="dump.unknown", where=where, remedy=remedy)
    if len(view) < size:
        kind = "SQE" if size == SQE_SIZE else "record"
        raise InputError(
            f"has {len(view)} bytes: no task blob, and shorter than one {kind} of {size} bytes",
            id="dump.unknown",
            where=where,
            remedy="give a task blob or a file of 64-byte SQEs; --hex reads hex text",
        )
    if not text and text_start(bytes(view[:_GLANCE])) is not None:
        raise InputError(
            "looks like text, not like entries",
            id="dump.unknown",
            where=where,
            remedy="--hex reads hex text and logs with hex, sqemu asm reads assembler text; "
            "--family NAME takes it as bytes anyway",
        )


def doubt_about(family: Family) -> str:
    """What to say of a guess that hardly fits; empty for one that does."""
    if family.confidence >= _UNLIKELY or not family.fits:
        return ""
    return f"this may be something else than SQEs: {family.reason}"


def guess_family(registry: Registry, data: Data) -> Family:
    """The family whose layouts fit the first entries best; see :mod:`formats.guess`."""
    found = registry.guess_family(_sample(data))
    if len(registry.sqe_families) == 1:
        return Family(found.family, "the only family with SQEs here", found.confidence)
    return Family(found.family, f"guessed: {found.reason}; --family decides", found.confidence)


def _sample(data: Data) -> bytes:
    """Some entries that are not all zero, from the beginning of `data`."""
    kept = bytearray()
    whole = len(data) // SQE_SIZE
    start = 0
    for _ in range(_WINDOWS):
        start = max(start, data.next_data(start * SQE_SIZE) // SQE_SIZE)
        if start >= whole:
            break
        end = min(start + WINDOW, whole)
        window = data.view[start * SQE_SIZE : end * SQE_SIZE]
        for slot in used_slots(window):
            kept += window[slot * SQE_SIZE : (slot + 1) * SQE_SIZE]
            if len(kept) >= _SAMPLE * SQE_SIZE:
                return bytes(kept)
        data.release(start * SQE_SIZE, end * SQE_SIZE)
        start = end
    return bytes(kept)
