"""Damaged and hostile offline models: an error of ours or a result, in bounded time and memory, never anything else."""

from __future__ import annotations

import struct
import sys
import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.errors import PluginError, SqemuError
from emu_plugins.om import messages, program_of_om, read_om, wire
from emu_plugins.om.messages import build, parse
from emu_plugins.om.tilings import Tiling
from emu_plugins.om.writer import attribute, kernel_items, model_def, so_bins, task_info, tiling_data, write_om
from formats import FormatError

CAREFUL = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def varint(number):
    """A protobuf number."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def field(number, data):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


@pytest.fixture(scope="module")
def whole():
    """A file with every partition that is read."""
    op = {"name": b"op", "type": b"TilingProbe", "input": [b"x:0", b"n:0"], "attr": [attribute("_op_tiling_ids", [0])],
          "output_desc": [{"dtype": 1, "shape": {"dim": [4]}}], "id": 2}  # fmt: skip
    data = [{"name": name, "type": b"Data", "output_desc": [{"dtype": 1, "shape": {"dim": [4]}}], "id": i}
            for i, name in enumerate((b"x", b"n"))]  # fmt: skip
    kernel = {"context": {"op_index": 2, "kernel_type": 2, "args_format": b"{i0*}{o0*}{t}"}, "block_dim": 2}
    partitions = [
        (0, model_def({"name": b"w", "graph": [{"op": [*data, op]}]})),
        (1, b"w" * 64),
        (3, kernel_items([("te_x", b"\x7fELF")])),
        (2, task_info([{"type": 1}, {"kernel": kernel}, {"type": 19}])),
        (5, so_bins([("a.so", "v", 1, b"x")])),
        (12, tiling_data([Tiling(1, 2, b"abcd", (8,), (0,))])),
    ]
    return write_om([partitions], wide=True)


def outcome(data, host):
    """Read a file and make a blob of it; only errors of ours may come out."""
    try:
        file = read_om(data)
        return program_of_om(file, host.chip("ascend310p3"), host)
    except (FormatError, SqemuError):
        return None


class TestDamage:
    @CAREFUL
    @given(st.data())
    def test_bytes_changed(self, whole, host, data):
        """A file with a few other bytes is read or refused."""
        found = bytearray(whole)
        for _ in range(data.draw(st.integers(1, 4))):
            found[data.draw(st.integers(0, len(found) - 1))] = data.draw(st.integers(0, 255))
        outcome(bytes(found), host)

    @CAREFUL
    @given(st.data())
    def test_bytes_changed_in_the_real_file(self, real, host, data):
        """The same with the partitions of the real file that are parsed."""
        found = bytearray(real)
        places = st.one_of(st.integers(256, 308 + 154630 - 1), st.integers(606165, len(real) - 1), st.integers(0, 308))
        for _ in range(data.draw(st.integers(1, 3))):
            found[data.draw(places)] = data.draw(st.integers(0, 255))
        outcome(bytes(found), host)

    @CAREFUL
    @given(st.data())
    def test_cut_and_filled(self, whole, host, data):
        """A file that ends early, with its length corrected, is read or refused."""
        end = data.draw(st.integers(256, len(whole)))
        found = bytearray(whole[:end] + data.draw(st.binary(max_size=40)))
        struct.pack_into("<Q", found, 184, len(found) - 256)
        outcome(bytes(found), host)

    @CAREFUL
    @given(st.binary(max_size=200), st.sampled_from(["ModelDef", "ModelTaskDef"]))
    def test_any_bytes_as_a_message(self, data, message):
        """Any bytes are a message or an error with an offset in the file."""
        found = None
        try:
            parse(message, data, "partition", 500)
        except FormatError as error:
            found = error
        assert found is None or (found.id == "om.message" and 500 <= found.offset <= 500 + len(data))

    def test_what_can_be_made_of_damage_can_be_loaded_or_refused(self, whole, host):
        """Blobs of damaged task lists load or are refused with an error of ours."""
        at = whole.index(b"{i0*}{o0*}{t}")
        loaded = 0
        for place in range(at - 30, at + 20):
            found = bytearray(whole)
            found[place] ^= 0x11
            made = outcome(bytes(found), host)
            if made is None:
                continue
            try:
                Device("ascend310p3", {}, host).load(made.blob)
                loaded += 1
            except SqemuError:
                pass
            except FormatError:
                pass
        assert loaded


class TestLimits:
    def test_a_length_beyond_the_message(self):
        """A field that says it has more bytes than are left is refused at its place."""
        with pytest.raises(FormatError) as raised:
            parse("ModelTaskDef", b"\x52\xff\xff\xff\xff\x0f" + bytes(4), "TASK_INFO", 100)
        assert (raised.value.id, raised.value.offset) == ("om.message", 100)

    def test_a_number_without_end(self):
        """A number of more than ten bytes is refused."""
        with pytest.raises(FormatError) as raised:
            parse("ModelTaskDef", b"\x58" + b"\xff" * 12, "TASK_INFO")
        assert "does not end" in raised.value.what

    @pytest.mark.parametrize("tag", [0x53, 0x54, 0x56, 0x57, 0x02])
    def test_groups_and_no_fields(self, tag):
        """Groups, wire types without a meaning and field number 0 are refused."""
        with pytest.raises(FormatError):
            parse("ModelTaskDef", bytes([tag, 0, 0, 0]), "TASK_INFO")

    def test_nesting(self):
        """Attributes inside attributes are refused beyond the limit, long before Python's own."""
        data = b""
        for _ in range(400):
            data = field(2, field(2, field(10, data)))
        with pytest.raises(FormatError) as raised:
            parse("NamedAttrs", data, "MODEL_DEF")
        assert "nested" in raised.value.what
        assert wire.DEPTH < 100 < sys.getrecursionlimit() / 5

    def test_nesting_within_the_limit(self):
        """Graphs inside attributes are read down to the limit."""
        data = b""
        for _ in range(12):
            data = field(11, field(1, b"k") + field(2, field(10, data)))
        assert len(parse("GraphDef", data[: len(data)], "MODEL_DEF").attr) == 1

    def test_too_many_tasks(self, monkeypatch):
        """Tasks are counted before one is made."""
        monkeypatch.setattr(wire, "MOST_OF", {"TaskDef": 1000})
        data = b"\x52\x00" * 1001
        with pytest.raises(FormatError) as raised:
            parse("ModelTaskDef", data, "TASK_INFO")
        assert raised.value.id == "om.too-many"
        assert len(parse("ModelTaskDef", data[2:], "TASK_INFO").task) == 1000

    def test_too_many_messages(self, monkeypatch):
        """All messages of a partition together are counted, whatever their kind."""
        monkeypatch.setattr(wire, "MOST_MESSAGES", 500)
        with pytest.raises(FormatError) as raised:
            parse("ModelDef", field(7, b"\x32\x00" * 300) * 2, "MODEL_DEF")
        assert raised.value.id == "om.too-many"

    def test_too_many_bytes(self, monkeypatch):
        """A partition that is too large is not parsed at all."""
        monkeypatch.setattr(wire, "MOST_BYTES", 10)
        with pytest.raises(FormatError) as raised:
            parse("ModelDef", bytes(11), "MODEL_DEF")
        assert raised.value.id == "om.too-many"

    def test_memory_stays_near_the_file(self, monkeypatch):
        """Counting takes little more than the bytes: a list of tasks over the limit never becomes objects."""
        monkeypatch.setattr(wire, "MOST_OF", {"TaskDef": 100_000})
        data = write_om([[(0, model_def({})), (2, b"\x52\x02\x10\x01" * 100_001)]])
        tracemalloc.start()
        try:
            with pytest.raises(FormatError):
                read_om(data)
            assert tracemalloc.get_traced_memory()[1] < 2 * len(data)
        finally:
            tracemalloc.stop()

    def test_many_models_end_with_the_file(self):
        """A header of 4096 models over a short file ends where the bytes do."""
        data = write_om([[(0, model_def({}))]], header={"model_num": 4096})
        begun = time.perf_counter()
        with pytest.raises(FormatError):
            read_om(data)
        assert time.perf_counter() - begun < 5

    def test_many_tilings_are_found_at_once(self, small, host):
        """Thousands of operators with thousands of stored tilings are joined in less than some seconds."""
        count = 3000
        stored = tiling_data(Tiling(0, 1, b"", (), (number,)) for number in range(count))
        desc, inputs = [{"dtype": 1}], [b"", b""]
        graph = [
            {"name": b"o%d" % i, "type": b"TilingProbe", "id": i, "input": inputs, "output_desc": desc,
             "attr": [attribute("_op_tiling_ids", [i])]}
            for i in range(count)
        ]  # fmt: skip
        tasks = [{"kernel": {"context": {"op_index": i, "args_format": b"{t}"}, "block_dim": 1}} for i in range(count)]
        file = read_om(small(tasks, graph, more=[(12, stored)]))
        begun = time.perf_counter()
        blob = program_of_om(file, host.chip("ascend310p3"), host).blob
        assert time.perf_counter() - begun < 5
        assert {task.kernel for task in blob.tasks[:-1]} == {0}

    def test_huge_tensors_are_not_made(self, small, host):
        """A tensor of more bytes than any chip has is refused; shapes that are not known are bytes of their size."""
        desc = {"dtype": 1, "shape": {"dim": [1 << 40, 1 << 40]}}
        op = {"name": b"d", "type": b"Data", "output_desc": [desc]}
        file = read_om(small([{"type": 19}], [op]))
        with pytest.raises(FormatError) as raised:
            program_of_om(file, host.chip("ascend310p3"), host)
        assert raised.value.id == "om.value"

    @pytest.mark.parametrize(
        "task",
        [{"stream_id": 1 << 40}, {"type": 1, "event_id": 1 << 33}, {"type": 14, "notify_id": 1 << 33},
         {"kernel": {"block_dim": 1 << 40}}, {"kernel": {"context": {"kernel_type": 1 << 40}}}],
    )  # fmt: skip
    def test_numbers_that_no_blob_holds(self, small, host, task):
        """Ids and block dims beyond 32 bits are refused with the task they are of."""
        with pytest.raises(FormatError) as raised:
            program_of_om(read_om(small([task])), host.chip("ascend310p3"), host)
        assert raised.value.id == "om.value"
        assert "task 0" in raised.value.where


class TestWithoutTheExtra:
    def test_the_error_says_what_to_install(self, monkeypatch, small):
        """Without protobuf the error names the extra and how to install it."""
        data = small()
        messages.classes.cache_clear()
        monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
        try:
            with pytest.raises(PluginError) as raised:
                read_om(data)
        finally:
            messages.classes.cache_clear()
        assert raised.value.id == "extra.missing"
        assert "pip install 'sqemu[om]'" in raised.value.remedy

    def test_builders_say_wrong_names(self):
        """A field that a message does not have is a mistake of the caller."""
        with pytest.raises(KeyError):
            build("TaskDef", {"kernels": {}})
