"""Text -> words, for the text that :func:`formats.cond_isa.disassemble` writes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from formats.cond_isa.opcodes import Encoding, isa_of
from formats.errors import FormatError

if TYPE_CHECKING:
    from formats.cond_isa.opcodes import Isa, Operand

_COMMENT = re.compile(r"[;#].*")
_NUMBER = r"(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})"
_REGISTER = r"[rR]([0-9]{1,2})"
_MAX_LINE = 200


def assemble(text: str, family: str = "v100") -> bytes:
    """The program written in `text`, one instruction per line; `;` and `#` start a comment.

    Numbers are decimal or `0x…`; a word can be given as it is with `.word 0x…`. Constants and offsets are
    the bits of their field, without a sign.

    Raises:
        FormatError: a line that cannot be read or a value that does not fit (id `format.assembly`, with the
            line), a family without condition instructions (`format.unknown-family`).
    """
    isa = isa_of(family)
    return b"".join(_line(line, number, isa) for number, line in enumerate(text.splitlines(), 1))


def _bad(what: str, number: int, remedy: str = "") -> FormatError:
    return FormatError(what, id="format.assembly", where=f"line {number}", remedy=remedy)


def _line(line: str, number: int, isa: Isa) -> bytes:
    code = " ".join(_COMMENT.sub("", line).split())
    if not code:
        return b""
    if len(code) > _MAX_LINE:
        raise _bad(f"the line has more than {_MAX_LINE} characters", number)
    mnemonic, _, rest = code.partition(" ")
    if mnemonic == ".word":
        return _word(rest, number)
    encoding = isa.by_name.get(mnemonic.lower())
    if encoding is None:
        raise _bad(f"{mnemonic!r} is no instruction", number, f"known: {', '.join(isa.by_name)}, .word")
    found = _pattern(encoding.opcode.syntax).fullmatch(rest)
    if found is None:
        expected = f"{encoding.opcode.mnemonic} {encoding.opcode.syntax}".rstrip()
        raise _bad(f"{code!r} cannot be read", number, f"write {expected}")
    return _encode(encoding, found.groups(), number)


def _word(text: str, number: int) -> bytes:
    value = _number(text) if re.fullmatch(_NUMBER, text) else -1
    if not 0 <= value < 1 << 32:
        raise _bad(f"{text!r} is not a 32-bit word", number, "write .word 0x12345678")
    return value.to_bytes(4, "little")


def _number(text: str) -> int:
    return int(text, 10 if text.isdigit() else 16)


@cache
def _pattern(syntax: str) -> re.Pattern[str]:
    """What the operands look like: `rd, [rs1 + immd]` with registers and numbers in the places of the names."""
    spaced = re.sub(r"\s*([,+\[\]])\s*", r" \1 ", syntax).split()
    marks = {"rd": _REGISTER, "rs1": _REGISTER, "rs2": _REGISTER}
    return re.compile(r"\s*".join(marks.get(t, _NUMBER) if t.isidentifier() else re.escape(t) for t in spaced))


def _encode(encoding: Encoding, texts: tuple[str, ...], number: int) -> bytes:
    whole = encoding.value
    for operand, text in zip(encoding.operands, texts, strict=True):
        whole |= operand.bits(_value(operand, text, number))
    return whole.to_bytes(4 * encoding.words, "little")


def _value(operand: Operand, text: str, number: int) -> int:
    value = _number(text)
    if value >> operand.width:
        raise _bad(f"{operand.name} {text} does not fit in {operand.width} bits", number)
    return value
