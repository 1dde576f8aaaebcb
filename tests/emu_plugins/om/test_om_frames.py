"""Header and partition tables of offline models (`reference/om_format.md` 2, 3)."""

from __future__ import annotations

import struct

import pytest

from emu_plugins.om import is_om, read_om
from emu_plugins.om.container import read_container
from emu_plugins.om.layout import STRUCTS
from emu_plugins.om.writer import model_def, task_info, write_om
from formats import FormatError

DEF = model_def({"name": b"m"})
TASKS = task_info([{"type": 19}])


def header(**changes):
    """256 bytes of a header, written by hand, for 10 bytes behind it."""
    raw = bytearray(256)
    struct.pack_into("<III", raw, 0, 0x444F4D49, 256, 0x20000000)
    struct.pack_into("<I", raw, 76, 10)
    for place, (form, value) in changes.items():
        struct.pack_into("<" + form, raw, int(place[1:]), value)
    return bytes(raw)


def refused(data):
    """The error of reading `data`."""
    with pytest.raises(FormatError) as raised:
        read_om(data)
    return raised.value


class TestHeader:
    def test_sizes(self):
        """Header, table entries and heads have the published sizes."""
        sizes = {struct.struct_name: struct.size for struct in STRUCTS}
        assert sizes == {
            "OmHeader": 256, "OmTable": 4, "OmTable64": 8, "OmPartition": 12, "OmPartition64": 24, "OmKernelItem": 12,
            "OmSoItem": 16, "OmTilingHead": 12, "OmTilingRun": 56, "OmTensorBase": 32,
        }  # fmt: skip

    def test_fields_lie_where_they_are_published(self):
        """Each number written at its published byte is read under its name."""
        places = {
            "headsize": (4, 256), "version": (8, 0x20000000), "length": (76, 10), "modeltype": (82, 2),
            "genmode": (83, 1), "ops": (116, 7), "om_ir_version": (152, 2), "model_num": (156, 1),
            "platform_type": (180, 1), "need_check_os_cpu_info": (192, 1), "is_unknow_model": (193, 1),
        }  # fmt: skip
        one_byte = {82, 83, 180, 192, 193}
        raw = bytearray(header())
        for place, value in places.values():
            struct.pack_into("<B" if place in one_byte else "<I", raw, place, value)
        parsed = STRUCTS[0].parse(bytes(raw))
        assert {name: parsed[name] for name in places} == {name: value for name, (_, value) in places.items()}

    def test_magic(self):
        """The file begins with the letters IMOD, which is the published number in memory order."""
        data = write_om([[(0, DEF)]])
        assert data[:4] == b"IMOD" == (0x444F4D49).to_bytes(4, "little")
        assert is_om(data)
        assert not is_om(b"SQEMUBLB")

    @pytest.mark.parametrize(
        ("data", "wanted"),
        [
            (b"", "om.header"),
            (b"IMOD", "om.header"),
            (b"\x7fELF" + bytes(300), "om.header"),
            (b"PK\x03\x04" + bytes(300), "om.zip"),
            (header(), "om.header"),
            (header(b4=("I", 128)) + bytes(10), "om.header"),
            (header(b80=("B", 1)) + bytes(10), "om.encrypted"),
            (header(b8=("I", 0x10000000), b82=("B", 1)) + bytes(10), "om.mobile"),
            (header(b156=("I", 1 << 31)) + bytes(10), "om.header"),
            (header(b184=("Q", 11)) + bytes(10), "om.header"),
            (header() + bytes(10), "om.table"),
        ],
    )
    def test_refusals(self, data, wanted):
        """Each kind of file that cannot be read is refused with its own id and what to do."""
        error = refused(data)
        assert error.id == wanted
        assert error.remedy

    def test_an_old_version_is_read(self, small):
        """Version 1.0 with a model type other than that of mobile files is an ordinary old file."""
        assert read_om(small(header={"version": 0x10000000})).header.version == 0x10000000

    def test_no_number_of_models_means_one(self, small):
        """A header that says 0 models has one."""
        assert len(read_om(small(header={"model_num": 0})).models) == 1


class TestTables:
    @pytest.mark.parametrize(("wide", "first"), [(False, 256 + 4 + 12 * 2), (True, 256 + 8 + 24 * 2)])
    def test_both_forms(self, wide, first):
        """Data begins behind a table of 4 + 12 n or 8 + 24 n bytes, and follows in table order."""
        data = write_om([[(0, DEF), (2, TASKS)]], wide=wide)
        found = read_container(data).models[0].partitions
        assert [(each.type, each.offset, each.size) for each in found] == [
            (0, first, len(DEF)), (2, first + len(DEF), len(TASKS)),
        ]  # fmt: skip
        assert [each.stored_offset for each in found] == [0, len(DEF)]
        assert data[found[1].offset :] == TASKS

    def test_the_form_follows_the_header(self):
        """The 64-bit form is that of files with a 64-bit length, and of data-flow models."""
        assert not read_container(write_om([[(0, DEF)]])).header.wide
        assert read_container(write_om([[(0, DEF)]], wide=True)).header.wide
        flow = write_om([[(0, b"x"), (6, b"y"), (7, b"z"), (7, b"w")]], wide=True, header={"modeltype": 3})
        assert [each.type for each in read_container(flow).models[0].partitions] == [0, 6, 7, 7]
        assert read_om(flow).models[0].definition is None

    @pytest.mark.parametrize("wide", [False, True])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_saved_aligned(self, wide, count):
        """Where partitions were aligned to 32 bytes, they lie at the offsets of the table."""
        data = write_om([[(0, DEF), (1, b"w" * 33), (2, TASKS)]] * count, wide=wide, aligned=True)
        models = read_container(data).models
        assert len(models) == count
        for model in models:
            assert [each.offset % 32 for each in model.partitions] == [0, 0, 0]
            assert [bytes(each.data) for each in model.partitions] == [DEF, b"w" * 33, TASKS]

    def test_the_first_of_a_type_counts(self):
        """Of two partitions of one type the first is read."""
        data = write_om([[(0, DEF), (0, model_def({"name": b"other"}))]])
        assert read_om(data).models[0].name == "m"

    @pytest.mark.parametrize("count", [0, 9, 0xFFFFFFFF])
    @pytest.mark.parametrize("wide", [False, True])
    def test_numbers_of_partitions(self, count, wide):
        """1 to 8 partitions are possible; another number is refused before anything is taken for entries."""
        data = bytearray(write_om([[(0, DEF)]], wide=wide))
        struct.pack_into("<I", data, 256, count)
        error = refused(bytes(data))
        assert (error.id, error.offset) == ("om.table", 256)

    def test_a_partition_beyond_the_file(self):
        """A size that exceeds the file is refused, with partition and place."""
        data = bytearray(write_om([[(0, DEF)]]))
        struct.pack_into("<I", data, 256 + 4 + 8, 1 << 31)
        error = refused(bytes(data))
        assert error.id == "om.table"
        assert "MODEL_DEF" in error.what

    def test_bytes_left_over(self):
        """What follows the last partition is an error."""
        error = refused(write_om([[(0, DEF)]], header={"length": 16 + len(DEF) + 5}) + b"extra")
        assert error.id == "om.table"
        assert "5 bytes follow" in error.what

    def test_no_graph(self):
        """A model without MODEL_DEF is refused; other partitions may be missing."""
        assert refused(write_om([[(2, TASKS)]])).id == "om.table"
        model = read_om(write_om([[(0, DEF)]])).models[0]
        assert (model.task_list.tasks, model.kernels, model.libraries, model.tilings, len(model.weights)) == (
            (), (), (), (), 0,
        )  # fmt: skip


class TestSeveralModels:
    def test_dynamic_file(self):
        """A file of three models is dynamic, the tables lie one behind the other's data."""
        tasks = [task_info([{"kernel": {"context": {"kernel_type": kind}, "block_dim": 8}}]) for kind in (2, 7, 7)]
        parts = [[(0, DEF), (3, b""), (2, tasks[0])]]
        parts += [[(0, DEF), (1, b"w"), (3, b""), (2, each)] for each in tasks[1:]]
        file = read_om(write_om(parts, wide=True))
        assert file.header.dynamic
        assert [[p.type for p in m.parts.partitions] for m in file.models] == [[0, 3, 2], [0, 1, 3, 2], [0, 1, 3, 2]]
        assert [m.task_list.tasks[0].kernel_type for m in file.models] == [2, 7, 7]
        first = file.models[0].parts.partitions[-1]
        assert file.models[1].parts.table_offset == first.offset + first.size

    def test_one_model_may_be_dynamic(self, small):
        """A single model is dynamic when the header says so, and the version is not an old one."""
        assert read_om(small(header={"is_unknow_model": 1})).header.dynamic
        assert not read_om(small(header={"is_unknow_model": 1, "version": 0x10000000})).header.dynamic
        assert not read_om(small()).header.dynamic
