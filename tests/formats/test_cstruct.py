"""`CStruct` as users meet it: parse, build, errors, composition with construct."""

import io

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import formats
from formats import BUILTIN, CStruct, Field, FormatError, define
from formats.fields import layout

KERNEL = formats.get("v100", "AicoreKernelSqe")
FUNCTION_CALL = formats.get("v100", "FunctionCallSqe")
PH = formats.get("v100", "PhSqe")
TENSOR = formats.get("runtime", "Tensor")
SPLIT = define("edu", "Split", 4, "@0 imm_low:5 -:3 a:8 imm_high:7 -:9")


def error_of(call, *args):
    """The FormatError that a call ends with."""
    with pytest.raises(FormatError) as caught:
        call(*args)
    return caught.value


class TestWorkedExamples:
    """The full entries of `reference/sqe_formats.md` 13, made from named values."""

    EXAMPLES = (
        ("PhSqe", {"type": 3, "task_type": 103, "rt_stream_id": 1, "task_id": 2, "kernel_credit": 254},
         "0300670001000200000000000000fe00" + "00" * 48),
        ("NotifyRecordSqe", {"type": 6, "rt_stream_id": 4, "task_id": 7, "notify_id": 21, "kernel_credit": 254},
         "0600000004000700150000000000fe00" + "00" * 48),
        ("AicoreKernelSqe",
         {"block_dim": 8, "rt_stream_id": 3, "task_id": 9, "wrr_ratio": 1, "kernel_credit": 254, "ns": 1,
          "stack_phy_base_low": 0x40000000, "pc_addr": 0x12C0C0200000, "param_addr": 0x12C041300000},
         "0000080003000900001000000000fe00" "00000040000000000000000004000000"
         "000020c0c012000000003041c0120000" + "00" * 16),
        ("WriteValueSqe",
         {"type": 8, "rt_stream_id": 4, "task_id": 8, "kernel_credit": 254, "write_addr": 0x12C041000010, "awsize": 2,
          "awcache": 2, "va": 1, "write_value_part0": 0x11223344},
         "0800000004000800000000000000fe00" "10000041c01220820000000000000000" "44332211" + "00" * 28),
    )  # fmt: skip

    @pytest.mark.parametrize(("name", "values", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
    def test_named_values_build_the_published_bytes(self, name, values, expected):
        """Building from named values (addresses joined) gives the published entry."""
        assert formats.get("v100", name).build(values).hex() == expected

    @pytest.mark.parametrize(("name", "values", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
    def test_published_bytes_show_the_named_values(self, name, values, expected):
        """The published entry is recognised, without doubt, and shows the same values; everything else is 0."""
        found = formats.decode("v100", bytes.fromhex(expected))
        shown = {k: v for k, v in found.struct.join(found.values).items() if v not in (0, [0] * 12)}
        wanted = {("stack_phy_base" if k == "stack_phy_base_low" else k): v for k, v in values.items()}
        assert (found.struct.struct_name, found.guessed, found.notes) == (name, False, ())
        assert shown == wanted


class TestParse:
    def test_values_are_plain_ints_and_lists(self):
        """Scalars are `int`, arrays are `list`, reserved fields are there, whatever the bytes."""
        values = PH.parse(bytes(range(64)))
        assert {type(v) for v in values.values()} == {int, list}
        assert values["payload"][1] == 0x17161514
        assert values["reserved_1"] == 0x0B0A0908

    def test_signed_fields_are_negative_for_a_set_top_bit(self):
        """An all-ones dimension is -1."""
        values = TENSOR.parse(b"\xff" * 752)
        assert values["origin_dims"] == [-1] * 25
        assert values["origin_dim_num"] == (1 << 64) - 1

    def test_longer_input_is_read_from_its_start(self):
        """Bytes after the record are left alone, as construct does."""
        assert KERNEL.parse(bytes(64) + b"\xff") == KERNEL.parse(bytes(64))

    @pytest.mark.parametrize("size", [0, 1, 63])
    def test_short_input_names_struct_and_sizes(self, size):
        """Too few bytes are a FormatError with the number of bytes there are."""
        error = error_of(KERNEL.parse, bytes(size))
        assert (error.id, error.where, error.offset) == ("format.size", "AicoreKernelSqe", size)
        assert f"needs 64 bytes, got {size}" in str(error)

    def test_short_stream_is_a_format_error(self):
        """`parse_stream` reports a short stream in the same way."""
        assert error_of(KERNEL.parse_stream, io.BytesIO(bytes(63))).id == "format.size"
        assert KERNEL.parse_stream(io.BytesIO(bytes(64)))["type"] == 0

    def test_something_that_is_no_buffer_is_a_format_error(self):
        """Text instead of bytes is refused with its type."""
        assert "got str" in str(error_of(KERNEL.parse, "0300"))

    def test_arrays_and_views_are_buffers(self):
        """Arrays of numpy and memoryviews parse as bytes do."""
        blob = bytes(range(64))
        assert KERNEL.parse(np.frombuffer(blob, np.uint8)) == KERNEL.parse(memoryview(blob)) == KERNEL.parse(blob)


class TestBuild:
    @pytest.mark.parametrize(
        ("values", "id_", "where"),
        [
            ({"block_dimm": 1}, "format.unknown-field", "AicoreKernelSqe.block_dimm"),
            ({"block_dim": -1}, "format.range", "AicoreKernelSqe.block_dim"),
            ({"block_dim": 0x10000}, "format.range", "AicoreKernelSqe.block_dim"),
            ({"block_dim": 1.0}, "format.range", "AicoreKernelSqe.block_dim"),
            ({"block_dim": "8"}, "format.range", "AicoreKernelSqe.block_dim"),
            ({"block_dim": None}, "format.range", "AicoreKernelSqe.block_dim"),
            ({"pc_addr": 1 << 48}, "format.range", "AicoreKernelSqe.pc_addr"),
            ({"pc_addr": 0, "pc_addr_low": 0}, "format.unknown-field", "AicoreKernelSqe.pc_addr"),
            ({"pc_addr_high": 0, "pc_addr": 0}, "format.unknown-field", "AicoreKernelSqe.pc_addr"),
        ],
    )
    def test_a_value_that_does_not_fit_names_its_field(self, values, id_, where):
        """Unknown names, negative, too wide and non-integer values, and doubled addresses are refused by name."""
        error = error_of(KERNEL.build, values)
        assert (error.id, error.where) == (id_, where)

    @pytest.mark.parametrize(
        ("payload", "id_", "where"),
        [
            ([0] * 11, "format.count", "PhSqe.payload"),
            ([0] * 13, "format.count", "PhSqe.payload"),
            (5, "format.count", "PhSqe.payload"),
            ("0" * 12, "format.count", "PhSqe.payload"),
            ([0] * 11 + [1 << 32], "format.range", "PhSqe.payload[11]"),
        ],
    )
    def test_arrays_need_the_right_number_of_elements_that_fit(self, payload, id_, where):
        """A wrong length or a wrong element is refused; the element's index is named."""
        error = error_of(PH.build, {"payload": payload})
        assert (error.id, error.where) == (id_, where)

    @pytest.mark.parametrize("obj", [3, "x", [1]])
    def test_something_that_is_no_mapping_is_refused(self, obj):
        """Records are built from mappings only."""
        assert error_of(KERNEL.build, obj).id == "format.type"

    def test_nothing_given_is_all_zero(self):
        """Absent fields are 0, with an empty mapping or none at all."""
        assert KERNEL.build() == KERNEL.build({}) == bytes(64)

    def test_other_integers_and_sequences_are_taken(self):
        """Integers of numpy, bools, tuples and arrays do as well as ints and lists."""
        built = PH.build({"type": np.uint8(3), "wr_cqe": True, "payload": np.arange(12, dtype=np.uint32)})
        assert built == PH.build({"type": 3, "wr_cqe": 1, "payload": tuple(range(12))})

    def test_the_stream_that_construct_leaves_in_containers_is_ignored(self):
        """`_io`, which construct puts into containers of its own, is not taken for a field."""
        outer = construct.Struct("inner" / construct.Struct("type" / construct.Int8ul))
        parsed = outer.parse(b"\x03")
        assert KERNEL.build(parsed.inner)[0] == 3

    def test_minus_one_is_a_dimension(self):
        """A dimension of -1 is eight bytes of ones; what two's complement cannot hold is refused."""
        assert TENSOR.build({"storage_dims": [-1] + [0] * 24})[256:272] == b"\xff" * 8 + bytes(8)
        assert error_of(TENSOR.build, {"origin_dims": [1 << 63] + [0] * 24}).where == "Tensor.origin_dims[0]"


class TestJoined:
    def test_halves_that_are_not_neighbours_join(self):
        """The joined value takes its low bits from one field and its high bits from another, wherever they are."""
        assert SPLIT.build({"imm": 0b1010101_10011, "a": 0xFF}).hex() == "13ff5500"
        assert SPLIT.join(SPLIT.parse(bytes.fromhex("13ff5500"))) == {"imm": 0b1010101_10011, "a": 0xFF}

    def test_a_high_half_in_front_of_its_low_half_joins(self):
        """`llwi1_immd` of the function call: 17 high bits at bit 175, 32 low bits at bit 192."""
        value = 0x1_2345_6789_ABCD & ((1 << 49) - 1)
        whole = int.from_bytes(FUNCTION_CALL.build({"llwi1_immd": value}), "little")
        assert whole == (value >> 32) << 175 | (value & 0xFFFFFFFF) << 192
        assert FUNCTION_CALL.field("llwi1_immd").read(whole.to_bytes(64, "little")) == value

    def test_short_suffixes_pair_too(self):
        """`_l` with `_h` is a pair; a field that already has the joined name prevents it; arrays never pair."""
        struct = define("edu", "Suffixes", 8, "base_l:8 base_h:8 x_low:8 x_high:8 x:8 y_low:8*2 y_high:8")
        assert list(struct.joined) == ["base"]

    def test_signed_and_too_wide_pairs_do_not_join(self):
        """Only unsigned halves of at most 64 bits together make a value."""
        struct = define("edu", "Wide", 18, "a_low:64 a_high:64 b_low:i8 b_high:8")
        assert struct.joined == {}


class TestComposition:
    def test_it_composes_with_stock_construct(self):
        """Array, Struct, Pointer and Switch hold it, parse it, build it and size it."""
        ring = construct.Struct(
            "count" / construct.Int8ul,
            "header" / construct.Pointer(2, formats.get("v100", "SqeHeader")),
            construct.Padding(1),
            "entries" / construct.Array(construct.this.count, construct.Switch(construct.this.count, {2: KERNEL})),
        )
        entry = KERNEL.build({"block_dim": 5, "rt_stream_id": 3})
        blob = b"\x02\x00" + entry * 2
        parsed = ring.parse(blob)
        assert [e.block_dim for e in parsed.entries] == [5, 5]
        assert parsed.header.rt_stream_id == 3
        assert ring.build(parsed) == blob
        assert construct.Array(3, KERNEL).sizeof() == 192

    def test_inside_other_constructs_a_short_stream_is_construct_s_own_error(self):
        """`Array` reports a StreamError, and `GreedyRange` stops at the last whole record."""
        with pytest.raises(construct.StreamError):
            construct.Array(2, KERNEL).parse(bytes(100))
        assert len(construct.GreedyRange(KERNEL).parse(bytes(150))) == 2

    def test_it_has_no_name_of_its_own(self):
        """The `name` of construct stays unset, so a parent does not take the struct for a named member."""
        assert KERNEL.name is None
        assert KERNEL.struct_name == "AicoreKernelSqe"
        assert "AicoreKernelSqe" in repr(KERNEL)


class TestTables:
    def test_gaps_overlaps_and_odd_sizes_are_refused(self):
        """Fields must follow each other and fill whole bytes."""
        assert error_of(CStruct, "edu", "Gap", [Field("a", 0, 8), Field("b", 16, 8)]).where == "Gap.b"
        assert error_of(CStruct, "edu", "Odd", [Field("a", 0, 7)]).id == "format.table"
        assert error_of(CStruct, "edu", "Empty", []).id == "format.table"

    def test_the_stated_size_is_checked(self):
        """A table that is not as long as the size beside it is refused by a registry and when its fields are used."""
        wrong = define("edu", "S", 2, "a:8")
        assert "has 1 bytes, not 2" in str(error_of(BUILTIN.extend, [wrong]))
        assert error_of(wrong.parse, bytes(2)).id == error_of(wrong.build, {"a": 1}).id == "format.table"

    @pytest.mark.parametrize("line", ["a:0", "a8", "@1 a:8", "a:8 b:8 | both", "-:8 | none", "A:8", "a:8*0", "a:8 a:8"])
    def test_a_line_that_is_not_a_table_is_refused(self, line):
        """Widths, offsets, names and meanings are checked while the table is read."""
        assert error_of(layout, line).id == "format.table"

    def test_fields_of_a_table(self):
        """Offsets follow from widths, reserved bits are numbered, kinds and meanings are kept."""
        fields = layout("@0 a:4 -:4 \n @1 b:i16*2 | two numbers", "-:f32")
        assert fields == (
            Field("a", 0, 4),
            Field("reserved_0", 4, 4, meaning="reserved, written 0", reserved=True),
            Field("b", 8, 16, 2, kind="int", meaning="two numbers"),
            Field("reserved_1", 40, 32, kind="float", meaning="reserved, written 0", reserved=True),
        )

    @given(st.integers(0, 511), st.integers(1, 64))
    def test_places_read_back(self, offset, width):
        """The word notation of a field names its first and last word and bit."""
        place = Field("x", offset, width).place
        first, last = divmod(offset, 32), divmod(offset + width - 1, 32)
        assert place.startswith(f"w{first[0]}")
        assert f"w{last[0]}" in place
        assert ("–" in place or "…" in place) == (first[0] != last[0])
