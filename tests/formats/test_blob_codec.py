"""Task blob: round trip, deterministic bytes, and damage of every kind ending in a FormatError that says where."""

import math
import struct
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import FormatError, blob
from formats.blob import layout, model

U32 = st.integers(0, (1 << 32) - 1)
U64 = st.integers(0, (1 << 64) - 1)
I64 = st.integers(-(1 << 63), (1 << 63) - 1)
FLOATS = st.floats(allow_nan=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ATTRS = st.one_of(
    st.booleans(), I64, FLOATS, TEXT, st.lists(I64, max_size=3).map(tuple), st.lists(FLOATS, max_size=3).map(tuple)
)


def tuples(elements, max_size=3):
    """Short tuples."""
    return st.just(()) if elements.is_empty else st.lists(elements, max_size=max_size).map(tuple)


def index(count):
    """An index below `count`; nothing when there is nothing to point at."""
    return st.integers(0, count - 1) if count else st.nothing()


@st.composite
def ops(draw, tensors):
    """An operator over `tensors` tensors."""
    inputs = draw(tuples(st.none() | index(tensors)))
    return draw(
        st.builds(
            model.BlobOp,
            TEXT,
            TEXT,
            st.just(inputs),
            tuples(index(tensors)),
            workspaces=tuples(U64),
            attrs=st.dictionaries(TEXT, ATTRS, max_size=4),
            depends=tuples(index(len(inputs))),
            sink=st.booleans(),
            host_tiling=st.booleans(),
            custom=st.booleans(),
            tiling_key=U64,
            tiling_block_dim=U32,
            tiling_data=st.binary(max_size=80),
            tiling_capacity=U64,
            compile_info=TEXT,
        )
    )


@st.composite
def blobs(draw):
    """Any blob whose indices point at something."""
    tensor = st.builds(
        model.BlobTensor, TEXT, U32, tuples(I64), st.sampled_from(model.TensorRole), U64, st.binary(max_size=80)
    )
    tensors = draw(tuples(tensor))
    kernels = draw(tuples(st.builds(model.BlobKernel, TEXT, U32, tuples(U64))))
    made = draw(tuples(ops(len(tensors))))
    task = st.builds(
        model.BlobTask,
        U32,
        U32,
        event_id=st.none() | U32,
        op=st.none() | index(len(made)),
        kernel=st.none() | index(len(kernels)),
        block_dim=U32,
        kernel_type=U32,
        schem=U32,
        args_format=TEXT,
        so_name=TEXT,
        kernel_name=TEXT,
        node=TEXT,
        made_by=TEXT,
    )
    return model.Blob(
        chip=draw(TEXT),
        name=draw(TEXT),
        unknown_shape=draw(st.booleans()),
        streams=draw(tuples(st.builds(model.BlobStream, U32, TEXT, st.none() | U32, st.booleans()))),
        events=draw(tuples(st.builds(model.BlobEvent, U32, TEXT))),
        tasks=draw(tuples(task)),
        ops=made,
        tensors=tensors,
        kernels=kernels,
        inputs=draw(tuples(index(len(tensors)))),
        outputs=draw(tuples(index(len(tensors)))),
        policies=draw(st.dictionaries(TEXT, TEXT, max_size=3)),
    )


SAMPLE = model.Blob(
    chip="ascend310p3",
    name="sample",
    streams=(model.BlobStream(0, "main"), model.BlobStream(1, "attached", serves=0)),
    events=(model.BlobEvent(7, "tiling done"),),
    tasks=(
        model.BlobTask(model.TaskType.EVENT_WAIT, 0, event_id=7, node="n", made_by="sink"),
        model.BlobTask(model.TaskType.KERNEL, 0, op=0, kernel=0, block_dim=model.BLOCK_DIM_PLACEHOLDER),
    ),
    ops=(
        model.BlobOp(
            "add",
            "AddCustom",
            (0, None),
            (1,),
            workspaces=(20480,),
            attrs={"scale": 0.5, "dims": (1, -2), "mode": "é", "on": True, "steps": (0.25,), "n": -3},
            depends=(0,),
            sink=True,
            tiling_data=b"tiling",
        ),
    ),
    tensors=(
        model.BlobTensor("x", 0, (-1, 8), model.TensorRole.INPUT, 32),
        model.BlobTensor("c", 3, (), model.TensorRole.CONSTANT, 4, b"\x01\x02\x03\x04"),
    ),
    kernels=(model.BlobKernel("add", 0, (1, 2, 1 << 63)),),
    inputs=(0,),
    outputs=(1,),
    policies={"nop_count": "seed", "block_dim_placeholder": "seed"},
)
DATA = blob.encode(SAMPLE)
SECTIONS = {s.name: s for s in blob.sections(DATA)}


def fail(data):
    """The FormatError of decoding `data`."""
    with pytest.raises(FormatError) as caught:
        blob.decode(data)
    return caught.value


def outcome(data):
    """The FormatError of decoding `data`, or None when it decodes."""
    try:
        blob.decode(data)
    except FormatError as error:
        return error
    return None


def sealed(data):
    """The same bytes with a checksum that is right."""
    body = bytearray(data)
    body[56:60] = bytes(4)
    body[56:60] = struct.pack("<I", zlib.crc32(body))
    return bytes(body)


def patched(section, record, field, value):
    """The sample with one field of one record changed and the checksum made right."""
    data = bytearray(DATA)
    if section == "header":
        start, struct_ = 0, layout.BlobHeader
    elif section == "table":
        start, struct_ = 64, layout.SectionEntry
    else:
        start, struct_ = SECTIONS[section].offset, next(s.record for s in layout.SECTIONS if s.name == section)
    view = memoryview(data)[start + record * struct_.size : start + (record + 1) * struct_.size]
    struct_.field(field).patch(view, 0, value)
    return sealed(data)


class TestRoundTrip:
    @settings(max_examples=150, deadline=None)
    @given(blobs())
    def test_decode_gives_back_what_was_encoded(self, b):
        """Any blob survives, and encoding it again gives the same bytes."""
        data = blob.encode(b)
        again = blob.decode(data)
        assert again == b
        assert blob.encode(again) == data

    def test_types_survive(self):
        """Bools stay bools, floats floats, roles roles, and attributes keep their order."""
        again = blob.decode(DATA)
        assert again == SAMPLE
        assert [type(v) for v in again.ops[0].attrs.values()] == [float, tuple, str, bool, tuple, int]
        assert list(again.ops[0].attrs) == list(SAMPLE.ops[0].attrs)
        assert again.tensors[0].role is model.TensorRole.INPUT

    def test_special_floats_survive(self):
        """Infinities, minus zero and not-a-number keep their bits."""
        attrs = {"a": (math.inf, -math.inf, -0.0), "b": math.nan}
        again = blob.decode(blob.encode(replace(SAMPLE, ops=(replace(SAMPLE.ops[0], attrs=attrs),)))).ops[0].attrs
        assert again["a"] == attrs["a"]
        assert math.copysign(1, again["a"][2]) == -1
        assert math.isnan(again["b"])

    def test_policies_do_not_depend_on_their_order(self):
        """Equal policy sets give equal bytes."""
        turned = dict(reversed(SAMPLE.policies.items()))
        assert blob.encode(replace(SAMPLE, policies=turned)) == DATA

    def test_any_buffer_decodes(self):
        """Bytearrays and memoryviews do as well as bytes."""
        assert blob.decode(bytearray(DATA)) == blob.decode(memoryview(DATA)) == SAMPLE


class TestFile:
    def test_header(self):
        """Magic, version and checksum are where the documentation says."""
        assert DATA[:8] == b"SQEMUBLB"
        assert struct.unpack_from("<H", DATA, 8) == (1,)
        assert struct.unpack_from("<Q", DATA, 16) == (len(DATA),)
        assert struct.unpack_from("<I", DATA, 56)[0] == zlib.crc32(DATA[:56] + bytes(4) + DATA[60:])

    def test_sections_follow_each_other(self):
        """Sections start at multiples of 8 after the table, in the documented order, with zeros between."""
        listed = blob.sections(DATA)
        assert [s.name for s in listed] == [s.name for s in layout.SECTIONS]
        end = 64 + 32 * len(listed)
        for s in listed:
            assert s.offset == -(-end // 8) * 8
            assert DATA[end : s.offset] == bytes(s.offset - end)
            end = s.offset + s.size
        assert SECTIONS["tasks"].count == 2

    def test_task_records_have_64_bytes_with_a_32_bit_block_dim(self):
        """Record 1 is read as the file holds it, placeholder and all."""
        record = blob.task_record(DATA, 1)
        assert (record["type"], record["block_dim"], record["has_event"], record["has_op"]) == (0, 0xFFFFFFFF, 0, 1)
        at = SECTIONS["tasks"].offset + 64
        assert DATA[at + 8 : at + 12] == b"\xff" * 4

    @pytest.mark.parametrize("i", [-1, 2])
    def test_there_is_no_other_task(self, i):
        """A task that does not exist is a FormatError."""
        with pytest.raises(FormatError, match="there are 2"):
            blob.task_record(DATA, i)

    def test_constants_start_at_multiples_of_64(self):
        """Tiling data and constants are aligned within `data`."""
        data = SECTIONS["data"]
        assert DATA[data.offset : data.offset + data.size] == b"tiling" + bytes(58) + b"\x01\x02\x03\x04"

    def test_a_damaged_file_can_still_be_listed(self):
        """Without the checksum the sections of a damaged file are listed."""
        damaged = DATA[:-1] + b"\xff"
        with pytest.raises(FormatError, match="checksum"):
            blob.sections(damaged)
        assert blob.sections(damaged, check_crc=False) == blob.sections(DATA)


class TestEncodeRefuses:
    @pytest.mark.parametrize(
        ("change", "where"),
        [
            ({"tasks": (model.BlobTask(1 << 32, 0),)}, "TaskRecord.type"),
            ({"tasks": (model.BlobTask(0, -1),)}, "TaskRecord.stream_id"),
            ({"events": (model.BlobEvent(1 << 32, ""),)}, "EventRecord.id"),
            (
                {"tensors": (*SAMPLE.tensors, model.BlobTensor("t", 0, (1 << 63,), model.TensorRole.INPUT, 0))},
                "DimRecord",
            ),
            ({"ops": (replace(SAMPLE.ops[0], tiling_key=1 << 64),)}, "OpRecord.tiling_key"),
            ({"ops": (replace(SAMPLE.ops[0], attrs={"a": 1 << 63}),)}, "op add, attribute a"),
            ({"kernels": (model.BlobKernel("k", 0, (-1,)),)}, "KeyRecord.tiling_key"),
        ],
    )
    def test_integers_that_do_not_fit(self, change, where):
        """The record and field of an integer that does not fit are named."""
        with pytest.raises(FormatError) as caught:
            blob.encode(replace(SAMPLE, **change))
        assert caught.value.id == "format.range"
        assert caught.value.where.startswith(where)

    @pytest.mark.parametrize(
        ("change", "where"),
        [
            ({"inputs": (2,)}, "inputs[0]"),
            ({"outputs": (0, -1)}, "outputs[1]"),
            ({"tasks": (model.BlobTask(0, 0, op=1),)}, "tasks[0]"),
            ({"tasks": (model.BlobTask(0, 0, kernel=1),)}, "tasks[0]"),
            ({"ops": (replace(SAMPLE.ops[0], inputs=(2,)),)}, "ops[0]"),
            ({"ops": (replace(SAMPLE.ops[0], outputs=(2,)),)}, "ops[0]"),
            ({"ops": (replace(SAMPLE.ops[0], depends=(2,)),)}, "ops[0]"),
        ],
    )
    def test_indices_that_point_nowhere(self, change, where):
        """The holder of an index that points nowhere is named."""
        with pytest.raises(FormatError) as caught:
            blob.encode(replace(SAMPLE, **change))
        assert (caught.value.id, caught.value.where) == ("blob.index", where)

    @pytest.mark.parametrize("text", ["x" * (blob.MAX_TEXT + 1), "\ud800", 5])
    def test_text_that_is_too_long_or_no_text(self, text):
        """Long text, lone surrogates and other types are refused."""
        with pytest.raises(FormatError) as caught:
            blob.encode(replace(SAMPLE, name=text))
        assert caught.value.where == "name"

    @pytest.mark.parametrize("value", [None, (1, 2.0), (True,), [1], b"x"])
    def test_attributes_of_other_types(self, value):
        """Attributes are bool, int, float, text, or a tuple of ints or of floats."""
        with pytest.raises(FormatError) as caught:
            blob.encode(replace(SAMPLE, ops=(replace(SAMPLE.ops[0], attrs={"a": value}),)))
        assert caught.value.id == "format.type"


class TestDecodeRefuses:
    @pytest.mark.parametrize("size", [0, 1, 8, 63, 64, 200, len(DATA) - 1])
    def test_truncated_files(self, size):
        """A file that ends early says how much is there."""
        error = fail(DATA[:size])
        assert error.id == ("blob.truncated" if size else "blob.magic")
        assert error.offset == size

    def test_other_files(self):
        """Something that is no blob is refused by its first bytes."""
        assert fail(b"\x7fELF" + bytes(100)).id == "blob.magic"

    @pytest.mark.parametrize("version", [0, 2, 65535])
    def test_other_versions(self, version):
        """Another version is refused with what this release reads."""
        error = fail(patched("header", 0, "version", version))
        assert (error.id, error.offset) == ("blob.version", 8)
        assert "reads version 1" in error.remedy

    def test_bytes_after_the_blob(self):
        """A longer file is not this blob."""
        assert fail(DATA + b"\0").id == "blob.section"

    def test_a_wrong_checksum(self):
        """One flipped bit in a section is found by the checksum."""
        damaged = bytearray(DATA)
        damaged[-1] ^= 1
        assert (fail(damaged).id, fail(damaged).offset) == ("blob.crc", 56)

    @pytest.mark.parametrize(
        ("place", "id_", "reason"),
        [
            (("header", 0, "header_size", 60), "blob.section", "outside the file"),
            (("header", 0, "section_table", len(DATA)), "blob.section", "outside the file"),
            (("header", 0, "section_table", 0), "blob.section", "outside the file"),
            (("header", 0, "section_count", 3), "blob.section", "3 sections"),
            (("header", 0, "chip", 99), "blob.index", "string 99"),
            (("header", 0, "task_count", 3), "blob.index", "3 announced"),
            (("table", 2, "kind", 3), "blob.section", "kind 3"),
            (("table", 2, "record_size", 1), "blob.section", "records have 16 bytes"),
            (("table", 2, "count", 1 << 60), "blob.section", "do not make"),
            (("table", 2, "offset", 1 << 60), "blob.section", "exceed the file"),
            (("table", 2, "offset", 64), "blob.section", "overlaps"),
            (("table", 2, "offset", 641), "blob.section", "multiple of 8"),
            (("strings", 1, "offset", 0), "blob.index", "next one is 11"),
            (("strings", 0, "size", 1 << 31), "blob.index", "bytes from 0"),
            (("streams", 0, "name", 99), "blob.index", "string 99"),
            (("events", 0, "name", 99), "blob.index", "string 99"),
            (("tasks", 1, "op", 1), "blob.index", "operator 1"),
            (("tasks", 1, "kernel", 9), "blob.index", "kernel 9"),
            (("tasks", 0, "args_format", 99), "blob.index", "string 99"),
            (("provenance", 1, "node", 99), "blob.index", "string 99"),
            (("ops", 0, "input_count", (1 << 32) - 1), "blob.index", "operands from 0"),
            (("ops", 0, "input_count", 1), "blob.index", "belong to nothing"),
            (("ops", 0, "first_operand", 1), "blob.index", "next one is 0"),
            (("ops", 0, "attr_count", 1), "blob.index", "belong to nothing"),
            (("ops", 0, "data_offset", 64), "blob.index", "next ones are at 0"),
            (("ops", 0, "data_size", 1 << 40), "blob.index", "bytes from 0"),
            (("operands", 0, "value", 2), "blob.index", "input tensor 2"),
            (("operands", 4, "value", 9), "blob.index", "input it depends on 9"),
            (("attrs", 0, "kind", 9), "blob.value", "kind 9"),
            (("attrs", 1, "name", "same"), "blob.value", "twice"),
            (("attrs", 1, "first", 1), "blob.index", "next one is 0"),
            (("attrs", 1, "count", 1 << 63), "blob.index", "words from 0"),
            (("attrs", 2, "value", 99), "blob.index", "string 99"),
            (("tensors", 0, "role", 3), "blob.value", "role 3"),
            (("tensors", 0, "rank", (1 << 32) - 1), "blob.index", "dims from 0"),
            (("tensors", 1, "data_offset", 0), "blob.index", "next ones are at 64"),
            (("kernels", 0, "key_count", 4), "blob.index", "keys from 0"),
            (("inputs", 0, "tensor", 2), "blob.index", "tensor 2"),
            (("policies", 1, "name", "same"), "blob.value", "twice"),
        ],
    )
    def test_hostile_fields_with_a_right_checksum(self, place, id_, reason):
        """Every count, span and index is checked against what the file holds; the error says where."""
        section, record, field, value = place
        if value == "same":
            start = SECTIONS[section].offset
            value = struct.unpack_from("<I", DATA, start)[0]
        with pytest.raises(FormatError, match=reason) as caught:
            blob.decode(patched(section, record, field, value))
        assert caught.value.id == id_
        assert caught.value.where
        assert caught.value.offset is not None

    def test_text_that_is_not_utf_8(self):
        """Bad bytes in `text` name the string record."""
        data = bytearray(DATA)
        data[SECTIONS["text"].offset] = 0xFF
        error = fail(sealed(data))
        assert (error.id, error.where) == ("blob.text", "section strings, record 0")

    def test_as_many_provenance_records_as_tasks(self):
        """A task without provenance is refused."""
        data = bytearray(DATA)
        entry = 64 + 32 * 5
        struct.pack_into("<QQ", data, entry + 16, 8, 1)
        assert "one record per task" in str(fail(sealed(data)))

    @settings(max_examples=300, deadline=None)
    @given(st.data())
    def test_damaged_bytes_never_end_in_another_exception(self, data):
        """Flipped and overwritten bytes, checksum right or not, give a blob or a FormatError with a place."""
        body = bytearray(DATA)
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(body) - 1))
            body[at] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, len(body)) | st.just(len(body)))
        error = outcome(sealed(body)[:cut] if data.draw(st.booleans()) else bytes(body)[:cut])
        assert error is None or (error.id.startswith("blob.") and error.where)

    def test_memory_stays_within_a_small_multiple_of_the_file(self):
        """A count that announces terabytes costs no more than the file."""
        hostile = [
            patched("tensors", 0, "rank", (1 << 32) - 1),
            patched("attrs", 1, "count", 1 << 62),
            patched("ops", 0, "data_size", 1 << 50),
            patched("table", 4, "count", 1 << 58),
        ]
        tracemalloc.start()
        for data in hostile:
            fail(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200_000
