"""Args formats: the `{token}{token}…` text that says what fills each argument slot of a task.

Mirrors the vendor's `ArgsFormatDesc::Parse` and `ArgsFormatDesc::Serialize`, for the tokens written here
(`reference/tiling_sink_compiler.md` 14). Unlike the vendor's parser this one is strict: a token must match
whole, so `{tX}` is refused. :func:`parse_args_format` and :func:`format_args` are inverse to each other.

| token | kind | slot (8 bytes each, `tiling_sink_compiler.md` 11.4) |
|---|---|---|
| `{iN*}`, `{iN}` | INPUT | address of IR input N, 0 when it is absent |
| `{oN*}`, `{oN}` | OUTPUT | address of IR output N |
| `{wsN*}`, `{wsN}` | WORKSPACE | address of workspace N |
| `{t}` | TILING | address of tiling data computed on the host |
| `{tiling_context}` | TILING_CONTEXT | address of the device tiling context |
| `{tiling_context.tiling_data}` | TILING_DATA | address of the tiling data in that context |
| `{tiling_context.tiling_key}` | TILING_KEY | address of the tiling key cell |
| `{tiling_context.block_dim}` | BLOCK_DIM | address of the block dim cell |
| `{*op_type}` | OP_TYPE | address of the operator type string |
| `{}` | PLACEHOLDER | 0 |
| `{#V}` | CUSTOM_VALUE | V |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLOT_BYTES = 8
_LARGEST_INDEX = 0xFFFF
_LARGEST_VALUE = 0xFFFF_FFFF_FFFF_FFFF


class ArgKind(StrEnum):
    """What an entry stands for; the value is the token, or its letters before the number."""

    INPUT = "i"
    OUTPUT = "o"
    WORKSPACE = "ws"
    TILING = "t"
    TILING_CONTEXT = "tiling_context"
    TILING_DATA = "tiling_context.tiling_data"
    TILING_KEY = "tiling_context.tiling_key"
    BLOCK_DIM = "tiling_context.block_dim"
    OP_TYPE = "*op_type"
    PLACEHOLDER = ""
    CUSTOM_VALUE = "#"


_NUMBERED = frozenset({ArgKind.INPUT, ArgKind.OUTPUT, ArgKind.WORKSPACE})
_PLAIN: Mapping[str, ArgKind] = MappingProxyType(
    {kind.value: kind for kind in ArgKind if kind not in _NUMBERED and kind is not ArgKind.CUSTOM_VALUE}
)
_INDEXED = re.compile(r"(?P<kind>i|o|ws)(?P<index>0|[1-9][0-9]{0,4})(?P<star>\*?)", re.ASCII)
_CUSTOM = re.compile(r"#(?P<value>0|[1-9][0-9]{0,19})", re.ASCII)


@dataclass(frozen=True)
class ArgEntry:
    """One argument slot.

    Attributes:
        kind: what the slot holds.
        index: N of a numbered entry, else -1.
        folded: the token carries no star (`tiling_sink_compiler.md` 14.1); without meaning for ordinary tensors.
        value: V of a custom value, else 0.
    """

    kind: ArgKind
    index: int = -1
    folded: bool = False
    value: int = 0

    def token(self) -> str:
        """The entry as text, braces included."""
        if self.kind in _NUMBERED:
            return f"{{{self.kind}{self.index}{'' if self.folded else '*'}}}"
        return f"{{#{self.value}}}" if self.kind is ArgKind.CUSTOM_VALUE else f"{{{self.kind}}}"


def format_args(entries: Iterable[ArgEntry]) -> str:
    """The text of `entries`."""
    return "".join(entry.token() for entry in entries)


def parse_args_format(text: str) -> tuple[ArgEntry, ...]:
    """The entries of `text`; an empty text has none.

    Raises:
        FormatError: `format.args-format`, with the offset of the first token that is not understood.
    """
    entries: list[ArgEntry] = []
    position = 0
    while position < len(text):
        if text[position] != "{":
            raise _error("a token must start with '{'", position)
        end = text.find("}", position)
        if end < 0:
            raise _error("the token is not closed by '}'", position)
        entries.append(_entry(text[position + 1 : end], position))
        position = end + 1
    return tuple(entries)


def _entry(token: str, position: int) -> ArgEntry:
    plain = _PLAIN.get(token)
    if plain is not None:
        return ArgEntry(plain)
    if found := _INDEXED.fullmatch(token):
        index = int(found["index"])
        if index <= _LARGEST_INDEX:
            return ArgEntry(ArgKind(found["kind"]), index, folded=not found["star"])
    if (found := _CUSTOM.fullmatch(token)) and int(found["value"]) <= _LARGEST_VALUE:
        return ArgEntry(ArgKind.CUSTOM_VALUE, value=int(found["value"]))
    raise _error(f"unknown token {{{token[:40]}}}", position)


def _error(what: str, position: int) -> FormatError:
    known = (
        "{iN*} {oN*} {wsN*} {t} {tiling_context} {tiling_context.tiling_data|tiling_key|block_dim} {*op_type} {} {#V}"
    )
    return FormatError(
        what, id="format.args-format", where="args format", remedy=f"known tokens: {known}", offset=position
    )
