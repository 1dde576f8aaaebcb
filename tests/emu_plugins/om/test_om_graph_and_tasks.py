"""Graph, attributes and task list of offline models (`reference/om_format.md` 6 to 8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.om import read_om
from emu_plugins.om.attributes import encoded_index, index_of
from emu_plugins.om.messages import build, classes, parse, plain
from emu_plugins.om.names import TASK_NAMES
from emu_plugins.om.schema import messages
from emu_plugins.om.tasks import PARTS
from emu_plugins.om.values import Named, Tensor
from emu_plugins.om.writer import attribute, compressed, compressed_attribute
from formats import FormatError


def numbers(message):
    """Field numbers of a message by name."""
    return {field.name: field.number for field in messages()[message]}


class TestSchema:
    @pytest.mark.parametrize(
        ("message", "wanted"),
        [
            ("ModelTaskDef", {"task": 10, "memory_size": 11, "weight_size": 14, "batch_num": 18}),
            ("TaskDef", {"id": 1, "type": 2, "stream_id": 10, "event_id": 11, "kernel": 20, "kernel_ex": 21,
                         "event_ex": 26, "kernel_with_handle": 40, "ffts_plus_task": 42, "update_pc_task": 52}),
            ("KernelDef", {"context": 1, "block_dim": 11, "args": 13, "so_name": 16, "kernel_name": 17,
                           "schedule_mode": 21}),
            ("KernelDefWithHandle", {"block_dim": 12, "args": 14, "original_kernel_key": 16, "schedule_mode": 19}),
            ("KernelContext", {"kernel_type": 1, "op_index": 4, "args_format": 10}),
            ("UpdatePcTaskDef", {"op_index": 1, "stream_id": 2, "args_format": 3}),
            ("OpDef", {"input": 5, "attr": 10, "id": 21, "stream_id": 22, "workspace_bytes": 31, "output_desc": 34}),
            ("TensorDescriptor", {"dtype": 2, "shape": 3, "size": 10, "data_offset": 18}),
            ("AttrDef", {"list": 1, "s": 2, "i": 3, "f": 4, "b": 5, "bt": 7, "func": 10, "td": 11, "t": 12, "g": 13}),
            ("FftsPlusMixAicAivCtxDef", {"tail_block_dim": 20, "kernel_name": 23, "args_format": 31}),
        ],
    )  # fmt: skip
    def test_field_numbers(self, message, wanted):
        """Fields have the published numbers."""
        found = numbers(message)
        assert {name: found[name] for name in wanted} == wanted

    def test_a_pool_of_their_own(self):
        """Nothing is registered in the pool that all users of protobuf share."""
        pool = pytest.importorskip("google.protobuf.descriptor_pool")
        with pytest.raises(KeyError):
            pool.Default().FindMessageTypeByName("sqemu.om.TaskDef")
        assert len(classes()) == len(messages())

    def test_bytes_by_hand(self):
        """A task of type 41 on stream 3 has the bytes that the wire format says."""
        made = build("TaskDef", {"type": 41, "stream_id": 3, "update_pc_task": {"op_index": 5, "args_format": b"{t}"}})
        assert made.SerializeToString() == bytes([0x10, 41, 0x50, 3, 0xA2, 0x03, 7, 0x08, 5, 0x1A, 3]) + b"{t}"

    def test_both_forms_of_lists(self):
        """Lists of numbers are read packed and one by one."""
        packed = bytes([0x0A, 3, 1, 2, 3])
        single = bytes([0x08, 1, 0x08, 2, 0x08, 3])
        assert [plain(parse("ShapeDef", data, "shape")) for data in (packed, single)] == [{"dim": [1, 2, 3]}] * 2

    def test_unknown_fields_are_passed_over(self):
        """Fields of numbers that nobody knows do not hinder reading the others."""
        data = bytes([0x10, 42, 0xFA, 0x7F, 2, 9, 9, 0xF0, 0x7F, 7])
        assert plain(parse("TaskDef", data, "task")) == {"type": 42}


VALUES = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(width=32, allow_nan=False),
    st.text("abc-_", max_size=8),
    st.lists(st.integers(-9, 9), max_size=4).map(tuple),
    st.lists(st.text("xyz", max_size=4), max_size=4).map(tuple),
)


class TestAttributes:
    @given(st.dictionaries(st.text("abcdef", min_size=1, max_size=6), VALUES, max_size=5))
    def test_round_trip(self, small, values):
        """Values of all kinds written are read again, zeros and empty lists included."""
        attrs = [attribute(name, value) for name, value in values.items()]
        assert dict(read_om(small(attrs=attrs)).models[0].attrs) == values

    def test_tensors_and_names(self, small):
        """A tensor, a descriptor and a list of lists become values of their own."""
        tensor = {"t": {"desc": {"dtype": 2, "shape": {"dim": [3, 4]}, "data_offset": 8}, "data": b"xy"}}
        lists = {"list_list_int": {"lists": [{"values": [1]}, {"values": []}]}}
        named = {"func": {"name": b"f", "attr": [attribute("k", 1)]}}
        attrs = [attribute("a", tensor), attribute("b", lists), attribute("c", named)]
        found = read_om(small(attrs=attrs)).models[0].attrs
        assert isinstance(found["a"], Tensor)
        assert (found["a"].desc.shape, found["a"].desc.data_offset, found["a"].data) == ((3, 4), 8, b"xy")
        assert found["b"] == ((1,), ())
        assert isinstance(found["c"], Named)
        assert (found["c"].name, dict(found["c"].attrs)) == ("f", {"k": 1})

    @pytest.mark.parametrize(
        ("index", "data"), [(0, b"\0\x01"), (126, b"\0\x7f"), (127, b"\0\x01\x02"), (16128, b"\0\x7f\x7f")]
    )
    def test_encoded_names(self, index, data):
        """A name is digits to base 127 behind a zero byte, each one more than its value, least significant first."""
        assert encoded_index(index) == data
        assert index_of(data) == index

    @given(st.integers(0, 127**4))
    def test_encoding_is_exact(self, index):
        """Every index is read again as it was written."""
        assert index_of(encoded_index(index)) == index

    @pytest.mark.parametrize("data", [b"\0", b"\0\0", b"\0\x80", b"\0" + b"\x01" * 6])
    def test_no_index(self, data):
        """No digits, digits out of range and too many of them are no index."""
        assert index_of(data) == -1

    def test_compressed(self, small):
        """Names and text values come from the lists of the model; literal names stay, numbers stay numbers."""
        attrs = compressed(["kernel", "axis", "names"], ["te_add", "x", "y"], [True, False, True])
        op = {
            "name": b"op", "type": b"Add", "output_desc": [{"attr": [compressed_attribute(0, 1)]}],
            "attr": [compressed_attribute(0, 0), compressed_attribute(1, 2), compressed_attribute(2, [2, 1]),
                     attribute("_ir_inputs_key", ["x1"])],
        }  # fmt: skip
        (found,) = read_om(small(ops=[op], attrs=attrs)).models[0].ops
        assert dict(found.attrs) == {
            "kernel": "te_add", "axis": 2, "names": ("y", "x"), "_ir_inputs_key": ("x1",),
        }  # fmt: skip
        assert dict(found.output_descs[0].attrs) == {"kernel": "x"}

    @pytest.mark.parametrize(("index", "value"), [(9, 0), (0, 7), (0, "text"), (0, [0, 7])])
    def test_compressed_beyond_the_lists(self, small, index, value):
        """An index beyond a list, or none at all, is refused."""
        op = {"name": b"op", "attr": [compressed_attribute(index, value)]}
        with pytest.raises(FormatError) as raised:
            read_om(small(ops=[op], attrs=compressed(["a"], ["v"], [True])))
        assert raised.value.id == "om.attribute"


class TestGraph:
    def test_inputs(self, small):
        """Data inputs are `producer:output`, an empty one is not connected, control edges are left out."""
        op = {"name": b"op", "input": [b"a:0", b"", b"with:colon:2", b"c:-1"]}
        (found,) = read_om(small(ops=[op])).models[0].ops
        assert found.inputs == ("a:0", "", "with:colon:2", "c:-1")
        assert found.data_inputs == (("a", 0), None, ("with:colon", 2))

    def test_numbers_of_outputs_that_cannot_be(self, small):
        """An output number of thousands of digits, or one that is none, is no connection."""
        op = {"name": b"op", "input": [b"a:" + b"9" * 5000, b"a:x", b"a:", b":3"]}
        (found,) = read_om(small(ops=[op])).models[0].ops
        assert found.data_inputs == (None, None, None, None)

    def test_an_id_that_is_left_out_is_0(self, small):
        """The first operator has id 0, which is not written."""
        found = read_om(small(ops=[{"name": b"a"}, {"name": b"b", "id": 1, "stream_id": 2}])).models[0].ops
        assert [(op.id, op.stream_id) for op in found] == [(0, 0), (1, 2)]


class TestTasks:
    def test_every_type_has_its_part(self, small):
        """Each task type is read with the part that belongs to it, and no other."""
        tasks = []
        for number in TASK_NAMES:
            part = PARTS.get(number)
            fields = {} if part is None else {part: {}}
            tasks.append({"type": number, "stream_id": 1, **fields})
        found = read_om(small(tasks)).models[0].task_list.tasks
        assert [task.type for task in found] == list(range(51))
        assert [task.part for task in found] == [PARTS.get(number, "") for number in range(51)]

    @pytest.mark.parametrize(
        ("numbers", "part"),
        [((0, 39, 43, 44), "kernel"), ((26, 40), "kernel_with_handle"), ((5,), "kernel_ex"), ((1, 2, 18), "event_ex"),
         ((29,), "ffts_plus_task"), ((41,), "update_pc_task"), ((13, 22), "memcpy_async"), ((31,), "cmo_task"),
         ((38,), "cmo_addr_task"), ((11, 24), "label_goto_ex"), ((12, 27), "log_timestamp")],
    )  # fmt: skip
    def test_published_parts(self, numbers, part):
        """Types and parts belong together as published; five types have none."""
        assert {PARTS[number] for number in numbers} == {part}
        assert not {3, 4, 19, 25, 42} & set(PARTS)

    def test_the_type_chooses(self, small):
        """A kernel task with an empty part of another kind beside it is read as what its type says."""
        kernel = {"context": {"kernel_type": 2, "op_index": 7}, "block_dim": 8, "kernel_name": b"te_x"}
        (task,) = read_om(small([{"kernel": kernel, "kernel_with_handle": {}}])).models[0].task_list.tasks
        assert (task.part, task.op_index, task.block_dim, task.kernel_name) == ("kernel", 7, 8, "te_x")
        (other,) = read_om(small([{"type": 26, "kernel": kernel, "kernel_with_handle": {}}])).models[0].task_list.tasks
        assert (other.part, other.op_index, other.block_dim) == ("kernel_with_handle", 0, 0)

    def test_the_sink_sequence(self, small):
        """Tasks of types 41 to 43 are read with operator, formats, library and function."""
        preprocess = {"context": {"kernel_type": 6, "op_index": 4, "args_format": b"{tiling_context}{*op_type}{}"},
                      "so_name": b"libx.so", "kernel_name": b"RunAicpuRpcSrvLaunch"}  # fmt: skip
        update = {"op_index": 4, "stream_id": 1, "args_format": b"{tiling_context.tiling_key}"}
        tasks = [{"type": 43, "stream_id": 1, "kernel": preprocess}, {"type": 42},
                 {"type": 41, "stream_id": 1, "update_pc_task": update}]  # fmt: skip
        tiling, nop, patch = read_om(small(tasks)).models[0].task_list.tasks
        assert (tiling.so_name, tiling.kernel_name, tiling.kernel_type) == ("libx.so", "RunAicpuRpcSrvLaunch", 6)
        assert (tiling.op_index, nop.op_index, patch.op_index) == (4, None, 4)
        assert patch.args_format == "{tiling_context.tiling_key}"
        assert patch.fields == {"op_index": 4, "stream_id": 1, "args_format": b"{tiling_context.tiling_key}"}

    def test_ffts_plus(self, small):
        """A mix task has blocks from the head of its entry, and name and format from its first context."""
        mix = {"kernel_name": [b"te_mix_aic", b"te_mix_aiv"], "args_format": b"{i0*}", "tail_block_dim": 4, "schem": 1}
        task = {"op_index": 3, "ffts_plus_ctx": [{"at_start_ctx": b""}, {"mix_aic_aiv_ctx": mix}]}
        with_head = {**task, "ffts_plus_sqe": {"sqe_header": {"block_dim": 20}}}
        tasks = [{"type": 29, "ffts_plus_task": each} for each in (task, with_head)]
        found = read_om(small(tasks)).models[0].task_list.tasks
        assert [(t.block_dim, t.kernel_name, t.args_format, t.schedule_mode) for t in found] == [
            (4, "te_mix_aic", "{i0*}", 1), (20, "te_mix_aic", "{i0*}", 1),
        ]  # fmt: skip

    def test_ids(self, small):
        """Event ids belong to events, notify ids to notifies; 0 is not written and still an id."""
        tasks = [{"type": 1, "event_id": 3}, {"type": 2}, {"type": 14, "notify_id": 9}, {"type": 15}, {"type": 42}]
        found = read_om(small(tasks)).models[0].task_list.tasks
        assert [(t.event_id, t.notify_id) for t in found] == [(3, None), (0, None), (None, 9), (None, 0), (None, None)]

    def test_an_empty_list(self, small):
        """A task list may have a version and no task."""
        assert read_om(small()).models[0].task_list.tasks == ()
