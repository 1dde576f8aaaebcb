"""Args formats: the `{token}{token}…` text that says what fills each argument slot of a task.

Mirrors the vendor's `ArgsFormatDesc::Parse` and `ArgsFormatDesc::Serialize` (`reference/tiling_sink_compiler.md`
14). Unlike the vendor's parser, which takes the longest prefix it knows, this one is strict: a token must match
whole, so `{tX}` is refused. :func:`parse_args_format` and :func:`format_args` are inverse to each other.

| token | kind | what the slot holds (`tiling_sink_compiler.md` 11.4) |
|---|---|---|
| `{i*}` `{iN}` `{iN*}` | INPUT | address of IR input N, 0 when it is absent; all of them |
| `{o*}` `{oN}` `{oN*}` | OUTPUT | address of IR output N |
| `{ws*}` `{wsN}` `{wsN*}` | WORKSPACE | address of workspace N |
| `{i_instance*}` `{i_instanceN}` `{i_instanceN*}` | INPUT_INSTANCE | address of connected input N |
| `{o_instance*}` `{o_instanceN}` `{o_instanceN*}` | OUTPUT_INSTANCE | address of output instance N |
| `{i_descN}` `{i_descN*}` | INPUT_DESC | pointer to the descriptor block of IR input N |
| `{o_descN}` `{o_descN*}` | OUTPUT_DESC | pointer to the descriptor block of IR output N |
| `{t}` | TILING | address of tiling data computed on the host |
| `{t_ffts.non_tail}` `{t_ffts.tail}` | TILING_FFTS | likewise, of an FFTS+ kernel |
| `{tiling_context}` | TILING_CONTEXT | address of the device tiling context |
| `{tiling_context.tiling_data}` | TILING_DATA | address of the tiling data in that context |
| `{tiling_context.tiling_key}` | TILING_KEY | address of the tiling key cell |
| `{tiling_context.block_dim}` | BLOCK_DIM | address of the block dim cell |
| `{*op_type}` | OP_TYPE | address of the operator type string |
| `{ffts_addr}` | FFTS_ADDR | hardware synchronisation address |
| `{overflow_addr}` | OVERFLOW_ADDR | overflow status address |
| `{event_addrN*}` | EVENT_ADDR | address of the 8-byte word of event N |
| `{hi.hcomN*}` `{hi.tilefwkN*}` `{hi.hcclskN*}` | HIDDEN_INPUT | address N of a hidden-input function |
| `{}` `{.32b}` | PLACEHOLDER | 0, 64 or 32 bits wide |
| `{#V}` `{#.32bV}` | CUSTOM_VALUE | V, 64 or 32 bits wide |
| `{sknN…}` | any of these | the same, of sub-operator N of a super kernel |

What an entry expands to and how many bytes it takes is in :mod:`emu_plugins.compiler.args_layout`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SLOT_BYTES = 8
ALL = -1
"""Index of an entry that stands for all inputs, outputs or workspaces; also of entries without a number."""
LARGEST_INDEX = 0xFFFF
_LARGEST_ID = 0x7FFF_FFFF


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
    INPUT_DESC = "i_desc"
    OUTPUT_DESC = "o_desc"
    INPUT_INSTANCE = "i_instance"
    OUTPUT_INSTANCE = "o_instance"
    TILING_FFTS = "t_ffts"
    FFTS_ADDR = "ffts_addr"
    OVERFLOW_ADDR = "overflow_addr"
    EVENT_ADDR = "event_addr"
    HIDDEN_INPUT = "hi"


STARRED = frozenset({ArgKind.INPUT, ArgKind.OUTPUT, ArgKind.WORKSPACE, ArgKind.INPUT_INSTANCE, ArgKind.OUTPUT_INSTANCE})
"""Kinds that also have a form for all of them, `{i*}`."""
_NUMBERED = STARRED | {ArgKind.INPUT_DESC, ArgKind.OUTPUT_DESC}
_DETAILS: Mapping[ArgKind, tuple[str, ...]] = MappingProxyType(
    {ArgKind.TILING_FFTS: ("non_tail", "tail"), ArgKind.HIDDEN_INPUT: ("hcom", "tilefwk", "hcclsk")}
)
_WITH_MORE = _NUMBERED | _DETAILS.keys() | {ArgKind.CUSTOM_VALUE, ArgKind.EVENT_ADDR, ArgKind.PLACEHOLDER}
_PLAIN: Mapping[str, ArgKind] = MappingProxyType({kind.value: kind for kind in ArgKind if kind not in _WITH_MORE})


@dataclass(frozen=True)
class ArgEntry:
    """One entry.

    Attributes:
        kind: what the slot holds.
        index: N of a numbered entry, else `ALL`.
        folded: the token carries no star (`tiling_sink_compiler.md` 14.1); of meaning for dynamic tensors only.
        value: V of a custom value, else 0.
        detail: `tail` or `non_tail` of `t_ffts`; `hcom`, `tilefwk` or `hcclsk` of a hidden input.
        narrow: 32 bits wide instead of 64; placeholders and custom values only.
        sub: id of the sub-operator of a super kernel it belongs to, or None.
    """

    kind: ArgKind
    index: int = ALL
    folded: bool = False
    value: int = 0
    detail: str = ""
    narrow: bool = False
    sub: int | None = None

    def token(self) -> str:
        """The entry as text, braces included."""
        prefix = "" if self.sub is None else f"skn{self.sub}"
        return f"{{{prefix}{self._body()}}}"

    def _body(self) -> str:
        width = ".32b" if self.narrow else ""
        if self.kind in _NUMBERED:
            number = "" if self.index == ALL else str(self.index)
            return f"{self.kind}{number}{'' if self.folded else '*'}"
        if self.kind is ArgKind.CUSTOM_VALUE:
            return f"#{width}{self.value}"
        if self.kind is ArgKind.EVENT_ADDR:
            return f"{self.kind}{self.index}*"
        if self.kind is ArgKind.HIDDEN_INPUT:
            return f"{self.kind}.{self.detail}{self.index}*"
        if self.kind is ArgKind.TILING_FFTS:
            return f"{self.kind}.{self.detail}"
        return width if self.kind is ArgKind.PLACEHOLDER else str(self.kind)


def format_args(entries: Iterable[ArgEntry]) -> str:
    """The text of `entries`."""
    return "".join(entry.token() for entry in entries)


def parse_args_format(text: str) -> tuple[ArgEntry, ...]:
    """The entries of `text`, one per token; an empty text has none.

    Raises:
        FormatError: `format.args-format`, with the offset of the first token that is not understood.
    """
    return tuple(entry for entry, _ in placed_entries(text))


def placed_entries(text: str) -> Iterator[tuple[ArgEntry, int]]:
    """Each entry of `text` with the offset of its opening brace; raises as :func:`parse_args_format`."""
    position = 0
    while position < len(text):
        if text[position] != "{":
            raise args_error("a token must start with '{'", position)
        end = text.find("}", position)
        if end < 0:
            raise args_error("the token is not closed by '}'", position)
        yield _entry(text[position + 1 : end], position), position
        position = end + 1


def for_sub_operator(entries: Iterable[ArgEntry], sub: int) -> tuple[ArgEntry, ...]:
    """`entries` as they stand in the format of a super kernel, for sub-operator `sub` (14.5)."""
    return tuple(replace(entry, sub=sub) for entry in entries)


_NUMBER = r"(?:0|[1-9][0-9]{0,9})"
_INDEXED = re.compile(rf"(?P<kind>i_instance|o_instance|i_desc|o_desc|ws|i|o)(?P<index>{_NUMBER})(?P<star>\*?)")
_WILD = re.compile(r"(?P<kind>i_instance|o_instance|ws|i|o)\*")
_CUSTOM = re.compile(r"#(?P<width>\.32b|)(?P<value>0|[1-9][0-9]{0,19})")
_EVENT = re.compile(rf"event_addr(?P<index>{_NUMBER})\*")
_HIDDEN = re.compile(rf"hi\.(?P<detail>hcom|tilefwk|hcclsk)(?P<index>{_NUMBER})\*")
_FFTS = re.compile(r"t_ffts\.(?P<detail>non_tail|tail)")
_PLACE = re.compile(r"(?P<width>\.32b|)")
_SUB = re.compile(rf"skn(?P<sub>{_NUMBER})(?P<rest>.*)", re.DOTALL)


def _entry(token: str, position: int) -> ArgEntry:
    """The entry of a token without its braces."""
    sub = _SUB.fullmatch(token)
    if sub is None:
        return _plain_entry(token, token, position)
    if int(sub["sub"]) > _LARGEST_ID:
        raise _unknown(token, position)
    return replace(_plain_entry(sub["rest"], token, position), sub=int(sub["sub"]))


def _plain_entry(body: str, token: str, position: int) -> ArgEntry:
    plain = _PLAIN.get(body)
    entry = ArgEntry(plain) if plain is not None else _with_more(body)
    if entry is None:
        raise _unknown(token, position)
    return entry


def _with_more(body: str) -> ArgEntry | None:
    """The entry of a token that carries more than its letters, or None."""
    for pattern, make in _FORMS:
        found = pattern.fullmatch(body)
        if found is not None:
            return make(found)
    return None


def _indexed(found: re.Match[str]) -> ArgEntry | None:
    index = int(found["index"])
    return ArgEntry(ArgKind(found["kind"]), index, folded=not found["star"]) if index <= LARGEST_INDEX else None


def _custom(found: re.Match[str]) -> ArgEntry | None:
    value, narrow = int(found["value"]), bool(found["width"])
    if value >= 1 << (32 if narrow else 64):
        return None
    return ArgEntry(ArgKind.CUSTOM_VALUE, value=value, narrow=narrow)


def _event(found: re.Match[str]) -> ArgEntry | None:
    index = int(found["index"])
    return ArgEntry(ArgKind.EVENT_ADDR, index) if index <= _LARGEST_ID else None


def _hidden(found: re.Match[str]) -> ArgEntry | None:
    index = int(found["index"])
    return ArgEntry(ArgKind.HIDDEN_INPUT, index, detail=found["detail"]) if index <= LARGEST_INDEX else None


_FORMS = (
    (_PLACE, lambda found: ArgEntry(ArgKind.PLACEHOLDER, narrow=bool(found["width"]))),
    (_INDEXED, _indexed),
    (_WILD, lambda found: ArgEntry(ArgKind(found["kind"]))),
    (_CUSTOM, _custom),
    (_EVENT, _event),
    (_HIDDEN, _hidden),
    (_FFTS, lambda found: ArgEntry(ArgKind.TILING_FFTS, detail=found["detail"])),
)
"""Forms of a token that is more than one fixed word; a form may still refuse a number that is too large."""


def _unknown(token: str, position: int) -> FormatError:
    return args_error(f"unknown token {{{token[:40]}}}", position)


def args_error(what: str, position: int) -> FormatError:
    """The error of an args format, at byte `position` of its text."""
    known = (
        "{iN*} {oN*} {wsN*} {i_instanceN*} {o_instanceN*} {i_descN} {o_descN} {t} {t_ffts.tail|non_tail} "
        "{tiling_context} {tiling_context.tiling_data|tiling_key|block_dim} {*op_type} {ffts_addr} {overflow_addr} "
        "{event_addrN*} {hi.hcom|tilefwk|hcclskN*} {} {.32b} {#V} {#.32bV}, each also behind sknN; "
        "{i*} {o*} {ws*} {i_instance*} {o_instance*} for all"
    )
    return FormatError(
        what, id="format.args-format", where="args format", remedy=f"known tokens: {known}", offset=position
    )
