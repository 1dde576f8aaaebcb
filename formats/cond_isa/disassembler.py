"""Words -> instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.buffers import flat
from formats.cond_isa.opcodes import CSR_NAMES, Encoding, isa_of
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.buffers import Buffer
    from formats.cond_isa.opcodes import Isa

_DIRECTIVE = ".word"


@dataclass(frozen=True)
class Instruction:
    """One instruction, or one word that is none.

    Attributes:
        index: word index in the program.
        mnemonic: for example `addi`; `.word` for a word that is no defined instruction.
        operands: values by name, in the order they are written; registers are numbers.
        words: its one or two 32-bit words.
        text: as the assembler reads it, for example `ldr r1, [r2 + 0x8]`.
    """

    index: int
    mnemonic: str
    operands: Mapping[str, int]
    words: tuple[int, ...]
    text: str


def disassemble(data: Buffer, family: str = "v100") -> tuple[Instruction, ...]:
    """The instructions in `data`, little-endian 32-bit words.

    Words that are no defined instruction (reserved bits that are set, unknown codes, a 64-bit
    instruction cut at the end) are `.word`, so :func:`formats.cond_isa.assemble` always gives the bytes back.

    Raises:
        FormatError: not a whole number of words (id `format.size`), a family without condition
            instructions (`format.unknown-family`).
    """
    view = flat(data)
    if len(view) % 4:
        raise FormatError(
            f"{len(view)} bytes are not whole 32-bit words", id="format.size", offset=len(view) // 4 * 4, where=family
        )
    words = [int.from_bytes(view[at : at + 4], "little") for at in range(0, len(view), 4)]
    return tuple(_read(words, isa_of(family)))


def _read(words: list[int], isa: Isa) -> Iterator[Instruction]:
    index = 0
    while index < len(words):
        one = _instruction(words, index, isa)
        yield one
        index += len(one.words)


def _instruction(words: list[int], index: int, isa: Isa) -> Instruction:
    word = words[index]
    pair = word | words[index + 1] << 32 if index + 1 < len(words) else None
    for encoding in isa.by_op.get(word & 0x7F, ()):
        whole = word if encoding.words == 1 else pair
        if whole is not None and whole & encoding.mask == encoding.value:
            operands = {o.name: o.read(whole) for o in encoding.operands}
            return Instruction(
                index,
                encoding.opcode.mnemonic,
                operands,
                tuple(words[index : index + encoding.words]),
                _text(encoding, operands),
            )
    return Instruction(index, _DIRECTIVE, {"word": word}, (word,), f"{_DIRECTIVE} {word:#010x}")


def _text(encoding: Encoding, operands: Mapping[str, int]) -> str:
    shown = encoding.opcode.syntax
    for o in encoding.operands:
        value = operands[o.name]
        shown = shown.replace(o.name, f"r{value}" if o.is_register else f"{value:#x}", 1)
    return f"{encoding.opcode.mnemonic} {shown}".rstrip()


def listing(program: tuple[Instruction, ...]) -> Iterator[str]:
    """Lines for a reader: word index, words, text, and what is known beside it (constants, control registers)."""
    high: dict[int, int] = {}
    for one in program:
        words = " ".join(f"{word:08x}" for word in one.words)
        note = _note(one, high)
        yield f"{one.index:4}  {words:<17}  {one.text}" + (f"  ; {note}" if note else "")


def _note(one: Instruction, high: dict[int, int]) -> str:
    """What a constant comes to: LHWI gives bits 63 to 49, the LLWI after it the rest."""
    rd = one.operands.get("rd", 0)
    if one.mnemonic == "lhwi":
        high[rd] = one.operands["immd"]
        return ""
    if one.mnemonic == "llwi" and rd in high:
        return f"r{rd} = {high.pop(rd) << 49 | one.operands['value']:#x}"
    return CSR_NAMES.get(one.operands["csr_reg"], "") if "csr_reg" in one.operands else ""
