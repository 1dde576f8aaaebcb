"""What the tables say to readers: rows, schemas, rendered values, names, meanings, C text."""

import struct

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN, FormatError, define, describe, json_schema, render, render_value
from formats.cheader import c_header, macro_prefix, to_c
from formats.enums import ENUMS, enum_of, name_of
from formats.meanings import MEANINGS, SLOTS, TOPICS
from formats.strategies import records

KERNEL = formats.get("v100", "AicoreKernelSqe")
STRUCTS = st.sampled_from(BUILTIN.structs)


def field(struct_name, name, family="v100"):
    """A field by name."""
    return formats.get(family, struct_name).by_name[name]


class TestRows:
    @pytest.mark.parametrize("s", BUILTIN.structs, ids=lambda s: f"{s.family}.{s.struct_name}")
    def test_every_named_field_has_a_meaning(self, s):
        """No field of this release reads `not documented`."""
        assert [f.name for f in s.named_fields if f.meaning in ("", "not documented")] == []

    def test_a_name_nobody_documented_says_so(self):
        """A plugin's field without a meaning is shown as not documented."""
        assert define("edu", "S", 1, "zzz:8").fields[0].meaning == "not documented"

    def test_meanings_are_used(self):
        """Every meaning belongs to a field of a struct, apart from unused parts of instruction slots."""
        used = {f.name for s in BUILTIN.structs for f in s.fields}
        slots = tuple(f"{slot}_" for slot in SLOTS)
        assert [name for name in MEANINGS if name not in used and not name.startswith(slots)] == []

    def test_every_name_has_one_meaning(self):
        """No field name is explained in two topics."""
        assert sum(len(topic) for topic in TOPICS) == len(MEANINGS)

    def test_rows_read_like_the_reference(self):
        """A row has the byte, the words and bits, the width and the meaning of its field."""
        rows = {r.name: r for r in describe(KERNEL)}
        assert rows["wrr_ratio"].as_json() == {
            "byte": 9, "place": "w2[15:12]", "width": "4", "name": "wrr_ratio", "enum": "", "unit": "",
            "meaning": "weight of the round robin; 1", "joined": "",
        }  # fmt: skip
        assert (rows["pc_addr_high"].byte, rows["pc_addr_high"].place, rows["pc_addr_high"].joined) == (
            36,
            "w9[15:0]",
            "pc_addr",
        )
        payload = {r.name: r for r in describe(formats.get("v100", "PhSqe"))}["payload"]
        assert (payload.width, payload.place) == ("12×32", "w4–w15")
        assert sum(r.name == "–" for r in describe(KERNEL)) == 10

    def test_a_struct_overrides_a_meaning(self):
        """The same field name may mean something else in another struct."""
        assert field("EventRecordSqe", "timeout").meaning != field("EventWaitSqe", "timeout").meaning


class TestSchema:
    @settings(max_examples=60, deadline=None)
    @given(data=st.data(), s=STRUCTS)
    def test_records_that_build_satisfy_the_schema(self, data, s):
        """What the strategy draws, and what parse gives, is valid by the schema."""
        validator = jsonschema.Draft202012Validator(json_schema(s))
        validator.validate(data.draw(records(s)))
        validator.validate(dict(s.parse(bytes(s.size))))

    @pytest.mark.parametrize(
        "bad", [{"nope": 1}, {"block_dim": -1}, {"block_dim": 65536}, {"block_dim": "8"}, {"pc_addr": 1 << 48}]
    )
    def test_what_build_refuses_the_schema_refuses(self, bad):
        """Unknown names, values that do not fit and other types fail validation and build alike."""
        assert list(jsonschema.Draft202012Validator(json_schema(KERNEL)).iter_errors(bad))
        with pytest.raises(FormatError):
            KERNEL.build(bad)

    def test_arrays_have_their_length(self):
        """An array property fixes its number of elements."""
        payload = json_schema(formats.get("v100", "PhSqe"))["properties"]["payload"]
        assert (payload["minItems"], payload["maxItems"], payload["items"]["maximum"]) == (12, 12, (1 << 32) - 1)


class TestRendering:
    @pytest.mark.parametrize(
        ("f", "value", "text"),
        [
            (field("PhSqe", "type"), 3, "3 (PLACE_HOLDER)"),
            (field("PhSqe", "type"), 33, "33 (unknown)"),
            (field("PhSqe", "task_type"), 101, "101 (MODEL_TASK_UPDATE)"),
            (field("PhSqe", "pre_p"), 1, "1 (TS_CPU)"),
            (field("AicoreKernelSqe", "block_dim"), 8, "8 blocks"),
            (field("AicoreKernelSqe", "task_id"), 9, "9"),
            (KERNEL.joined["pc_addr"], 0x12C0C0200000, "0x12c0c0200000"),
            (field("PhModelTaskUpdateSqe", "tiling_key_offset"), 4096, "0x1000"),
            (field("CqeError", "error_type"), 0b101, "5 (EXCEPTION|TIMEOUT)"),
            (field("CqeError", "error_type"), 0x80, "128 (BIT_7)"),
            (field("CqeError", "error_type"), 0, "0"),
            (field("CqeError", "sqe_type"), 20, "20 (CONDITION)"),
            (field("TilingTabl", "mix_type"), 2, "2 (MIX_AIV)"),
            (field("WriteValueSqe", "sub_type"), 1, "1 (EVENT_RESET)"),
            (field("FunctionCallSqe", "conds_sub_type"), 9, "9 (MEM_WAIT_VALUE)"),
            (field("AicpuKernelSqe", "topic_type"), 7, "7 (TS_CPU)"),
            (field("AicpuKernelSqe", "kernel_type"), 4, "4 (CUSTOM_AICPU)"),
            (field("Tensor", "origin_dims", "runtime"), [-1, 3], "[-1, 3]"),
        ],
    )
    def test_values_read_as_text(self, f, value, text):
        """Names of enums and of bits, units, addresses in hexadecimal, lists; an unknown number says so."""
        assert render_value(f, value) == text

    def test_a_float_is_kept_as_bits_and_shown_as_a_number(self):
        """The scale 80^-0.5 is a float32 bit pattern in values and a decimal number when shown."""
        tiling = formats.get("runtime", "CgdrTilingData")
        bits = int.from_bytes(struct.pack("<f", 80**-0.5), "little")
        assert tiling.parse(tiling.build({"scaleValue": bits}))["scaleValue"] == bits
        assert render_value(tiling.by_name["scaleValue"], bits) == "0.111803"

    def test_a_record_renders_with_joined_addresses(self):
        """Halves do not show, the joined value does, in the place of the low half."""
        shown = dict(render(KERNEL, KERNEL.parse(KERNEL.build({"pc_addr": 0x123456789ABC}))))
        assert shown["pc_addr"] == "0x123456789abc"
        assert "pc_addr_low" not in shown
        assert list(shown).index("pc_addr") < list(shown).index("param_addr")

    def test_enums_belong_to_families(self):
        """`type` is numbered per family; families without SQEs have no enum for it."""
        assert name_of(enum_of("v100", "type"), 1) == "AICPU"
        assert name_of(enum_of("v201", "type"), 1) == "AI_VECTOR"
        assert name_of(enum_of("arch5162", "type"), 9) == "WRITE_VALUE"
        assert enum_of("blob", "type") == ""
        assert all(f.enum in ENUMS for s in BUILTIN.structs for f in s.fields if f.enum)


class TestC:
    def test_bit_fields_have_macros_and_members_have_offsets(self):
        """`pmg` is at bit 224 with 2 bits; `pc_addr_low` is a plain member at byte 32."""
        text = to_c(KERNEL)
        assert "#define AICORE_KERNEL_SQE_PMG_BIT 224\n#define AICORE_KERNEL_SQE_PMG_WIDTH 2" in text
        assert "uint32_t pc_addr_low;" in text
        assert "_Static_assert(offsetof(AicoreKernelSqe, pc_addr_low) == 32" in text
        assert "_Static_assert(sizeof(AicoreKernelSqe) == 64" in text

    def test_long_reserved_runs_are_byte_arrays(self):
        """Ten reserved words become 40 bytes."""
        assert "uint8_t reserved_4[40];" in to_c(formats.get("v100", "EventWaitSqe"))

    def test_names_become_macros(self):
        """Macro names are the struct name in upper case with underscores between words."""
        assert macro_prefix(formats.get("v100", "CqeSysCnt")) == "CQE_SYS_CNT"

    def test_a_header_is_guarded(self):
        """A whole header has its include guard and includes."""
        text = c_header([KERNEL], guard="EDU_H")
        assert text.startswith("#ifndef EDU_H\n#define EDU_H\n")
        assert text.endswith("#endif  /* EDU_H */\n")

    @pytest.mark.parametrize("table", ["n:4*2", "-:65 a:7"])
    def test_what_c_cannot_say_is_refused(self, table):
        """Arrays of half bytes, and reserved runs over 64 bits that are no whole bytes, have no C form."""
        size = 1 if "*" in table else 9
        with pytest.raises(FormatError) as caught:
            to_c(define("edu", "S", size, table))
        assert caught.value.id == "format.no-c"
