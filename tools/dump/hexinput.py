"""Hex text of an input as bytes: binary data is refused at a glance, the order of words is found out.

Groups of 4, 8 or 16 digits may be bytes in address order or little-endian words, and look the same. Offsets without a
colon and ASCII columns tell; else both orders are tried, and words are taken only when they make clearly better SQEs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from formats import SQE_SIZE, Registry
from formats.magic import BLOB_START
from tools.dump.hextext import HEAD, HexText, read
from tools.dump.textual import text_start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Found", "hex_input", "lines_of"]

LONGEST = 1 << 26
"""Characters of a line."""

_CHUNK = 1 << 20
_GOOD = 0.9
"""Share of fitting signs that the order of words must reach."""
_CLEARLY = 0.1
"""By how much it has to be better than the other order."""
_FORMS = "give the output of hexdump -C, xxd or od, or plain hex words; cut prefixes, for example: sed 's/.*: //' LOG"


class _Order(Enum):
    """The order of the bytes of a group: as the caller said, or as it was found out."""

    GIVEN, BYTES, WORDS, EITHER = range(4)


@dataclass(frozen=True)
class Found:
    """Hex text that was read, and what a reader should know about how: lines for standard error."""

    text: HexText
    notes: tuple[str, ...]


def hex_input(view: memoryview[int], where: str, registry: Registry, *, words: bool | None = None) -> Found:
    """The bytes of the hex text in `view`; `words` as for :func:`tools.dump.hextext.read`, None finds it out.

    Raises:
        InputError: `dump.hex`: binary data, a line without end, or no line that can be read.
    """
    _check_text(view, where)
    order = _Order.GIVEN
    if words is None:
        order = _order(list(islice(lines_of(view, where), HEAD)), registry)
    found = read(lines_of(view, where), words=True if order is _Order.WORDS else words)
    if not found.data:
        what = "; ".join(problem.text() for problem in found.problems[:3]) or "there is not a single byte"
        raise InputError(f"is not hex text: {what}", id="dump.hex", where=where, remedy=_FORMS)
    return Found(found, tuple(_notes(found, order)))


def lines_of(view: memoryview[int], where: str) -> Iterator[str]:
    """The lines of `view`, one by one; what is no UTF-8 becomes escapes. `InputError` for a line beyond `LONGEST`."""
    pending: list[bytes] = []
    size = number = 0
    for at in range(0, len(view), _CHUNK):
        whole = bytes(view[at : at + _CHUNK]).split(b"\n")
        for part in whole[:-1]:
            yield _decoded(b"".join((*pending, part)))
            pending, size, number = [], 0, number + 1
        pending.append(whole[-1])
        size += len(whole[-1])
        if size > LONGEST:
            raise InputError(
                f"line {number + 1} is longer than {LONGEST >> 20} MiB", id="dump.hex", where=where,
                remedy="break it into lines, for example with fold -w 64",
            )  # fmt: skip
    if size:
        yield _decoded(b"".join(pending))


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace").lstrip("\ufeff").rstrip("\r")


def _check_text(view: memoryview[int], where: str) -> None:
    start = bytes(view[:4096])
    if not start or text_start(start) is not None:
        return
    wide = start[:2] in {b"\xff\xfe", b"\xfe\xff"}
    remedy = "convert it first: iconv -f UTF-16 -t UTF-8" if wide else "drop --hex for a binary file"
    what = "UTF-16 text" if wide else "binary: its beginning holds control codes or is no UTF-8"
    raise InputError(f"is not hex text but {what}", id="dump.hex", where=where, remedy=remedy)


def _order(head: Sequence[str], registry: Registry) -> _Order:
    """Whether groups are words: they make a task blob or clearly better SQEs, and nothing in the text says more."""
    plain = read(head)
    if plain.style.settled or not plain.style.group or plain.data.startswith(BLOB_START):
        return _Order.BYTES
    swapped = read(head, words=True).data
    if swapped.startswith(BLOB_START):
        return _Order.WORDS
    if len(plain.data) < SQE_SIZE:
        return _Order.BYTES
    as_bytes, as_words = _shares(registry, plain.data, swapped)
    if as_words < _GOOD or as_bytes > as_words + _CLEARLY:
        return _Order.BYTES
    return _Order.WORDS if as_words >= as_bytes + _CLEARLY else _Order.EITHER


def _shares(registry: Registry, *inputs: bytes) -> tuple[float, ...]:
    """The share of signs that fit the best family, for each input: families alone, so that none is a rival."""
    alone = [Registry(s for s in registry.structs if s.family == family) for family in registry.sqe_families]
    return tuple(max(one.guess_family(data).confidence for one in alone if one.sqe_families) for data in inputs)


def _notes(found: HexText, order: _Order) -> Iterator[str]:
    style = found.style
    if order is _Order.WORDS:
        yield (
            f"groups of {style.group} digits are taken as little-endian words, which make better entries; "
            "--bytes takes them as bytes in address order"
        )
    elif order is _Order.EITHER:
        yield (
            f"groups of {style.group} digits are taken as bytes in address order; as little-endian words they fit as "
            "well: --words takes them so"
        )
    elif style.swapped and order is not _Order.GIVEN:
        yield "the ASCII column shows that groups are little-endian words, as xxd -e writes them; --bytes forbids it"
    if style.uneven:
        yield f"numbers with 0x differ in length, each is taken as a word of {style.number} bytes"
    if found.prefixed:
        yield f"left out a prefix on {found.prefixed} of {found.lines} lines"
