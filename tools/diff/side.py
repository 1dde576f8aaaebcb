"""One input of a comparison: a ring, in binary or hex text, or a blob."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from formats import SQE_SIZE, FormatError
from formats.blob import decode
from tools.dump.data import Data, opened
from tools.dump.hexinput import hex_input
from tools.dump.hextext import looks_like_hex
from tools.dump.items import Reader
from tools.dump.source import check_raw, guess_family, is_blob
from tools.files import STDIN
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats import Registry
    from formats.blob import Blob


@dataclass(frozen=True)
class Ring:
    """A ring file: name for messages, bytes, how to decode them."""

    name: str
    data: Data
    reader: Reader

    @property
    def slots(self) -> int:
        """Whole entries."""
        return len(self.data) // SQE_SIZE

    @property
    def trailing(self) -> bytes:
        """Bytes behind the last whole entry."""
        return bytes(self.data.view[self.slots * SQE_SIZE :])


@dataclass(frozen=True)
class Program:
    """A task blob: name for messages, content."""

    name: str
    blob: Blob


@contextmanager
def side(path: str, family: str | None, registry: Registry) -> Iterator[Ring | Program]:
    """The input `path`; `-` is standard input.

    Raises:
        InputError: not readable, or of another kind (`dump.unknown`, `dump.hex`). FormatError: a damaged blob.
    """
    name = "standard input" if path == STDIN else safe(path)
    with opened(path) as mapped:
        data = _binary(mapped, name, registry)
        if is_blob(data.view):
            yield Program(name, _blob(data, name))
            return
        check_raw(data.view, name, text=family is not None)
        if family is not None:
            registry.generic(family)
        yield Ring(name, data, Reader(registry, family or guess_family(registry, data).name))


def _binary(data: Data, name: str, registry: Registry) -> Data:
    """The bytes of hex text, or `data` itself; a line that cannot be read would be a difference, so it is refused."""
    if not looks_like_hex(bytes(data.view[:8192])):
        return data
    found = hex_input(data.view, name, registry)
    if found.text.problems:
        what = f"is not hex text: {found.text.problems[0].text()}"
        raise InputError(what, id="dump.hex", where=name, remedy="correct the line, or take it out")
    for note in found.notes:
        click.echo(f"{name}: {note}", err=True)
    return Data(found.text.data)


def _blob(data: Data, name: str) -> Blob:
    try:
        return decode(data.view)
    except FormatError as error:
        where = f"{name}: {error.where}"
        raise FormatError(error.what, id=error.id, where=where, remedy=error.remedy, offset=error.offset) from None
