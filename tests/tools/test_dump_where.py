"""`--where`: tokens, grammar, meaning, errors with columns; and the other choices of entries."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import OptionError
from formats import BUILTIN
from tools.dump.expr import parse
from tools.dump.items import Gap, entries
from tools.dump.known import known_names
from tools.dump.selection import Selection, numbers, slots, value_of, where

KERNEL = BUILTIN.get("v100", "AicoreKernelSqe").build(
    {"block_dim": 12, "rt_stream_id": 3, "task_id": 9, "pc_addr": 0x12C0C0200000}
)
NOP = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 103, "rt_stream_id": 4, "task_id": 2})
ENTRY, OTHER = entries(BUILTIN, "v100", KERNEL + NOP)
V100 = known_names(BUILTIN, "v100")


def holds(text, entry=ENTRY):
    """Whether the expression holds for an entry."""
    return parse(text).holds(lambda name: value_of(entry, name))


class TestMeaning:
    @pytest.mark.parametrize(
        "text",
        [
            "block_dim == 12",
            "block_dim > 11 and block_dim >= 12 and block_dim < 13 and block_dim <= 12",
            "block_dim != 3",
            "pc_addr == 0x12c0_c020_0000",
            'kind == "kernel"',
            "struct == 'aicorekernelsqe'",
            "stream == 3 and task == 9 and slot == 0 and offset == 0",
            "not guessed",
            "block_dim",
            "block_dim in [1, 12]",
            "block_dim not in (1, 2)",
            'type in ["AI_CORE"]',
            'type == "ai_core" and type == 0',
            "block_dim & 0x4",
            "not (block_dim & 3) or task == 1",
            "not not block_dim",
            "block_dim == 1 or block_dim == 2 or block_dim == 12",
        ],
    )
    def test_holds(self, text):
        """What is true of the kernel holds."""
        assert holds(text)

    @pytest.mark.parametrize(
        "text",
        [
            "block_dim == 13",
            "wr_cqe",
            "block_dim == -1",
            'kind == "nop"',
            "event_id == 0",
            "event_id != 0",
            "kind > 3",
            "block_dim in [-1, 0x10]",
            "block_dim not in [12]",
            'type != "AI_CORE"',
            "block_dim == 1 or block_dim == 2",
            "true",
        ],
    )
    def test_does_not_hold(self, text):
        """What is false, and every comparison with a field the entry lacks, does not hold."""
        assert not holds(text)

    def test_and_binds_closer_than_or(self):
        """`a or b and c` is `a or (b and c)`, and `not` binds closest."""
        assert holds("block_dim == 12 or task == 1 and task == 2")
        assert not holds("(block_dim == 12 or task == 1) and task == 2")
        assert not holds("not block_dim == 12 and task == 9")

    def test_arrays(self):
        """An array holds when one of its elements does."""
        raw = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 24, "payload": [0, 7] + [0] * 10})
        entry = next(entries(BUILTIN, "v100", raw))
        assert holds("payload == 7 and payload", entry)
        assert not holds("payload == 8", entry)

    def test_names_of_values(self):
        """The name of an enumerated value is compared in any case of letters."""
        assert holds("task_type == 'nop'", OTHER)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "column", "says"),
        [
            ("", 1, "a field name is expected, the end is there"),
            ("block_dim = 3", 11, "write =="),
            ("block_dim > ", 13, "a number or a text"),
            ("block_dim > 3x", 13, "'3x' is not a number"),
            ("block_dim > 3 task", 15, "too much"),
            ("(block_dim > 3", 15, "')' is expected"),
            ("kind == kernel", 9, "in quotes"),
            ('kind == "kernel', 9, "does not end"),
            ('kind < "kernel"', 6, "no order"),
            ("block_dim in 3", 14, "a list"),
            ("block_dim in []", 15, "a number or a text"),
            ("block_dim not 3", 15, "'in' is expected"),
            ("3 > block_dim", 1, "a field name is expected"),
            ("block_dim @ 3", 11, "'@' has no place"),
            ("block_dim == 1__", 14, "is not a number"),
            ("not " * 60 + "task", 165, "nested too deeply"),
            ("(" * 60 + "task", 42, "nested too deeply"),
            ("a" * 5000, 4097, "4096 are allowed"),
        ],
    )
    def test_place(self, text, column, says):
        """What cannot be read is refused with its column."""
        with pytest.raises(OptionError) as error:
            parse(text)
        assert error.value.id == "dump.where"
        assert error.value.where == f"--where, column {column}"
        assert says in str(error.value)

    def test_unknown_field(self):
        """A name that no entry of the family has is refused with the nearest ones."""
        with pytest.raises(OptionError, match="did you mean block_dim") as error:
            where("task == 1 and blok_dim > 2", V100)
        assert error.value.where == "--where, column 15"

    @pytest.mark.parametrize(
        ("text", "column", "says"),
        [
            ('kind == "kernal"', 1, "kind is never 'kernal'; did you mean kernel"),
            ('task == 1 and struct == "PhSq"', 15, "did you mean PhSqe"),
            ("kind > 3", 1, "kind is a text"),
            ('slot == "x"', 1, "slot is a number"),
            ('block_dim != "many"', 1, "block_dim is a number"),
            ('type in ["AI_CORE", "NOPE"]', 1, "type is never 'NOPE'"),
        ],
    )
    def test_what_never_holds(self, text, column, says):
        """A text that a name never is, and a number for a text, are refused, where the choice would just be empty."""
        with pytest.raises(OptionError, match=says) as error:
            where(text, V100)
        assert error.value.where == f"--where, column {column}"

    @pytest.mark.parametrize(
        "text",
        [
            'kind == "EVENT wait"', 'kind == "kernel +1"', 'kind == "empty"', 'struct == "phsqe"', "notes", "notes > 1",
            'type == "ai_core"', "slot == 10",
        ],
    )  # fmt: skip
    def test_what_may_hold(self, text):
        """Spelling in any case, further units, and the count of doubts are fine."""
        assert where(text, V100)

    @pytest.mark.parametrize("text", ["slot == \uff11", "slot == 9x"])
    def test_numbers_are_plain(self, text):
        """Digits of other scripts are no numbers, as in every other option."""
        with pytest.raises(OptionError):
            parse(text)

    @given(st.text(max_size=60))
    def test_any_text(self, text):
        """Any text is an expression or an `OptionError`."""
        with suppress(OptionError):
            parse(text).holds(lambda name: value_of(ENTRY, name))

    @given(st.lists(st.sampled_from(["block_dim", "3", "==", "and", "or", "not", "(", ")", "in", "[", "]", ",", "-"])))
    def test_any_tokens(self, words):
        """Any order of words is an expression or an `OptionError`."""
        with suppress(OptionError):
            parse(" ".join(words))


class TestChoices:
    @pytest.mark.parametrize(
        ("given", "found"),
        [
            ("kernel", "kernel"),
            ("EVENT_WAIT", "event wait"),
            ("PhSqe", "phsqe"),
            ("ccu +1", "ccu +1"),
            ("empty", "empty"),
        ],
    )
    def test_kinds(self, given, found):
        """A kind may be written with underscores and in any case, and as its struct."""
        assert known_names(BUILTIN, "v100", "v200").kind(given) == found

    @pytest.mark.parametrize(
        ("given", "says"), [("kernal", "did you mean kernel"), ("", "table"), ("ALL_KERNEL", "kernel")]
    )
    def test_no_kind(self, given, says):
        """A kind that no entry can have is refused."""
        with pytest.raises(OptionError, match=says) as error:
            V100.kind(given)
        assert error.value.id == "dump.kind"

    def test_numbers(self):
        """Numbers, lists and ranges may be given together."""
        assert numbers(("1,0x10", "4-6"), "--task") == {1, 16, 4, 5, 6}

    @pytest.mark.parametrize("text", ["", "x", "3-1", "-1", "1-99999", "4294967296", "1-", "1_0", "\uff11", "9" * 5000])
    def test_no_numbers(self, text):
        """Anything else is refused."""
        with pytest.raises(OptionError, match="is not a number"):
            numbers((text,), "--stream")

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            (None, [(0, 10)]),
            ("2:5", [(2, 5)]),
            ("2:", [(2, 10)]),
            (":3", [(0, 3)]),
            ("7", [(7, 8)]),
            ("0x8:0x9", [(8, 9)]),
            ("3:3", [(3, 3)]),
            ("8:2", [(8, 10), (0, 2)]),
            ("2:99999999999999999999", [(2, 10)]),
        ],
    )
    def test_ranges(self, text, found):
        """`A:B` leaves B out; A beyond B goes round the end, as from the read to the write pointer of a ring."""
        assert slots(text, 10) == found

    @pytest.mark.parametrize("text", ["", "a:b", "1:2:3", "-3:", "10", "99999999999:", "1:" + "9" * 5000])
    def test_no_ranges(self, text):
        """What is no range, or begins behind the last entry, is refused."""
        with pytest.raises(OptionError) as error:
            slots(text, 10)
        assert error.value.id == "dump.range"

    def test_filters(self):
        """Every filter has to let an entry through; gaps belong to a stream, but have no task and no kind."""
        items = [ENTRY, Gap(0, 1, 4), OTHER]
        assert list(Selection().of(items)) == items
        assert list(Selection(streams=frozenset({3})).of(items)) == [ENTRY]
        assert list(Selection(streams=frozenset({0})).of(items)) == [items[1]]
        assert list(Selection(tasks=frozenset({2})).of(items)) == [OTHER]
        assert list(Selection(kinds=frozenset({"kernel", "phsqe"})).of(items)) == [ENTRY, OTHER]
        assert list(Selection(kinds=frozenset({"kernel"}), tasks=frozenset({2})).of(items)) == []
        assert list(Selection(where=parse("task == 2")).of(items)) == [OTHER]
