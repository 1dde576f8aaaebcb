"""Condition instructions: encodings of the reference (`sqe_formats.md` 7), exact round trip, damage."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import FormatError
from formats.cond_isa import OPCODES, assemble, call_of, disassemble, inline_program, listing
from formats.cond_isa.opcodes import isa_of

FAMILIES = ("v100", "v200", "v201", "arch9201")
ANY_FAMILY = st.sampled_from(FAMILIES)


def words(*numbers):
    """Little-endian words."""
    return b"".join(n.to_bytes(4, "little") for n in numbers)


# Encodings worked out by hand from the table of the reference: opcode 6:0, rd 9:7 (10:7 with 4-bit registers),
# func3 14:12, rs1 17:15 (18:15), rs2 22:20 (23:20), func7 31:25.
BY_HAND = [
    ("v100", "nop", [0x13]),
    ("v100", "error", [0]),
    ("v100", "addi r1, r2, 0x5", [5 << 20 | 2 << 15 | 0 << 12 | 1 << 7 | 0x13]),
    ("v100", "srai r1, r2, 0x3", [0x10 << 26 | 3 << 20 | 2 << 15 | 5 << 12 | 1 << 7 | 0x13]),
    ("v100", "sub r3, r1, r2", [0x20 << 25 | 2 << 20 | 1 << 15 | 3 << 7 | 0x33]),
    ("v100", "mul r3, r1, r2", [1 << 25 | 2 << 20 | 1 << 15 | 3 << 7 | 0x33]),
    ("v100", "lhwi r1, 0x7fff", [0x7FFF << 17 | 1 << 7 | 0x5B]),
    ("v100", "llwi r1, 0x112345678abcd", [0x11234 << 15 | 1 << 12 | 1 << 7 | 0x5B, 0x5678ABCD]),
    ("v100", "ld r4, [0x12c041300000]", [0x12C0 << 15 | 3 << 12 | 4 << 7 | 0x07, 0x41300000]),
    ("v100", "ldr r1, [r2 + 0x8]", [8 << 20 | 2 << 15 | 3 << 12 | 1 << 7 | 0x03]),
    ("v100", "sd r5, [r1 + 0x28]", [1 << 25 | 5 << 20 | 1 << 15 | 3 << 12 | 8 << 7 | 0x27]),
    ("v100", "bgeu r1, r2, 0x9", [2 << 20 | 1 << 15 | 7 << 12 | 9 << 7 | 0x63]),
    ("v100", "loop r1, 0x3, 0x64", [100 << 19 | 1 << 15 | 3 << 7 | 0x7B]),
    ("v100", "csrrc r1, 0x3, r2", [3 << 20 | 2 << 15 | 3 << 12 | 1 << 7 | 0x73]),
    ("v100", "goto_i 0x7ff, 0x1234", [0x2B, 0x1234 << 16 | 0x7FF]),
    ("v100", "deactive_i 0x12", [0x12 << 20 | 2 << 12 | 0x2B]),
    ("v100", "active_r r3", [3 << 15 | 5 << 12 | 0x2B]),
    ("v100", "func_call r1, r2", [2 << 20 | 1 << 15 | 0x6B]),
    ("v201", "addi r10, r9, 0x5", [5 << 20 | 9 << 15 | 10 << 7 | 0x13]),
    ("v201", "add r8, r9, r10", [10 << 20 | 9 << 15 | 8 << 7 | 0x33]),
    ("arch9201", "sd r10, [r9 + 0x0]", [10 << 20 | 9 << 15 | 3 << 12 | 0x27]),
    ("arch9201", "loop r9, 0xf, 0x1", [1 << 19 | 9 << 15 | 15 << 7 | 0x7B]),
]


@pytest.mark.parametrize(("family", "text", "numbers"), BY_HAND)
def test_encodings_of_the_reference(family, text, numbers):
    """An instruction has the words that the table gives, and reads back as the same text."""
    assert assemble(text, family) == words(*numbers)
    (one,) = disassemble(words(*numbers), family)
    assert (one.text, one.words) == (text, tuple(numbers))


def test_operands_are_structured():
    """Values are there as numbers, in the order they are written."""
    (one,) = disassemble(words(5 << 20 | 2 << 15 | 1 << 7 | 0x13))
    assert (one.mnemonic, dict(one.operands)) == ("addi", {"rd": 1, "rs1": 2, "immd": 5})


@settings(max_examples=150, deadline=None)
@given(family=ANY_FAMILY, data=st.data())
def test_every_defined_instruction_survives(family, data):
    """Any operands of any instruction assemble, read back as they were, and assemble to the same words."""
    encoding = isa_of(family).by_name[data.draw(st.sampled_from([op.mnemonic for op in OPCODES]))]
    values = {o.name: data.draw(st.integers(0, (1 << o.width) - 1)) for o in encoding.operands}
    whole = encoding.value | sum(o.bits(values[o.name]) for o in encoding.operands)
    code = whole.to_bytes(4 * encoding.words, "little")
    (one,) = disassemble(code, family)
    assert dict(one.operands) == values or one.mnemonic == "nop"
    assert assemble(one.text, family) == code


@settings(max_examples=200, deadline=None)
@given(family=ANY_FAMILY, numbers=st.lists(st.integers(0, 0xFFFFFFFF) | st.sampled_from([0x13, 0x5B, 0x105B, 0x2B])))
def test_any_words_survive(family, numbers):
    """Undefined words become `.word`, so every program assembles back to its bytes."""
    program = disassemble(words(*numbers), family)
    assert assemble("\n".join(one.text for one in program), family) == words(*numbers)
    assert sum(len(one.words) for one in program) == len(numbers)
    assert len(list(listing(program))) == len(program)


@pytest.mark.parametrize("word", [0x05, 0x13 | 1 << 10, 0x13 | 1 << 12 | 1 << 26, 0x7B | 1 << 12, 0x2B | 3 << 12])
def test_undefined_words_stay_words(word):
    """Reserved bits, the opcode of DQS, unknown function codes."""
    (one,) = disassemble(words(word))
    assert one.text == f".word {word:#010x}"


def test_a_64_bit_instruction_cut_at_the_end_stays_a_word():
    """There is no second word to read."""
    assert disassemble(words(0x105B))[0].mnemonic == ".word"


def test_a_listing_joins_constants_and_names_registers():
    """LHWI gives bits 63 to 49, LLWI the rest; control registers are named."""
    lines = list(listing(disassemble(assemble("lhwi r1, 1\nllwi r1, 2\ncsrrw r0, 3, r1"))))
    assert lines[1].endswith("; r1 = 0x2000000000002")
    assert lines[2].endswith("; JUMP_PC")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("addi r1, r2", "cannot be read"),
        ("frob r1", "is no instruction"),
        ("addi r8, r0, 1", "rd 8 does not fit in 3 bits"),
        ("addi r1, r0, 0x1000", "does not fit in 12 bits"),
        (".word 0x100000000", "not a 32-bit word"),
        (".word", "not a 32-bit word"),
        ("nop\n" + "x" * 300, "more than 200 characters"),
        ("addi r١, r2, 1", "cannot be read"),
    ],
)
def test_bad_lines_are_named(text, what):
    """What is wrong is said with its line."""
    with pytest.raises(FormatError, match=what) as caught:
        assemble(text)
    assert caught.value.id == "format.assembly"
    assert caught.value.where == f"line {len(text.splitlines())}"


def test_comments_blanks_and_leading_zeros():
    """`;` and `#` start comments, case and blanks do not matter, numbers may start with 0."""
    assert assemble("  ADDI R1,r2 , 007 ; seven\n\n# nothing\n.word 010") == assemble("addi r1, r2, 7\n.word 10")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_assembles_or_is_refused(text):
    """Nothing but FormatError comes out."""
    with contextlib.suppress(FormatError):
        assert len(assemble(text)) % 4 == 0


def test_odd_sizes_and_families():
    """Three bytes are no word, and families without the instruction set are refused."""
    with pytest.raises(FormatError, match="not whole 32-bit words"):
        disassemble(bytes(3))
    with pytest.raises(FormatError, match="no condition instructions"):
        disassemble(b"", "arch5162")


@pytest.mark.parametrize(("family", "rest"), [("v100", ["nop"] * 5), ("v201", ["nop"] * 5)])
def test_the_program_in_a_function_call(family, rest):
    """Words 4 to 15 load address and length, call, and do nothing; the call is found."""
    code = assemble("lhwi r1, 0\nllwi r1, 0x12c041300100\nlhwi r2, 0\nllwi r2, 106\nfunc_call r1, r2", family)
    nops = assemble("\n".join(rest), family)
    head = formats.get(family, "FunctionCallSqe").build({"type": 20, "conds_sub_type": 6})[:16]
    sqe = formats.decode(family, head + code + nops)
    assert [one.mnemonic for one in inline_program(sqe)] == ["lhwi", "llwi", "lhwi", "llwi", "func_call", *rest]
    assert call_of(sqe) == (0x12C041300100, 106)


def test_only_condition_entries_have_programs():
    """Another kind is refused, and calls nothing."""
    sqe = formats.decode("v100", bytes(64))
    with pytest.raises(FormatError, match="not a condition entry"):
        inline_program(sqe)
    assert call_of(sqe) is None


@settings(max_examples=60, deadline=None)
@given(family=ANY_FAMILY, body=st.binary(min_size=48, max_size=48), sub_type=st.integers(0, 30))
def test_any_condition_entry_reads_and_assembles_back(family, body, sub_type):
    """Inline entries go through the same disassembler."""
    sqe = formats.decode(family, bytes([20]) + bytes(7) + bytes([sub_type]) + bytes(7) + body)
    if "csc" in sqe.values:
        assert assemble("\n".join(one.text for one in inline_program(sqe)), family) == body
