"""The context as a tiling function sees it, against the request it was built from."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.operators import TensorInfo
from emu_core.tiling import PlatformInfo, StorageShape, TilingError
from emu_plugins.tiling.build import build_sink_buffer, tensor_object
from emu_plugins.tiling.context import MemoryTilingContext
from emu_plugins.tiling.host import HostMemory
from emu_plugins.tiling.request import TilingRequest

KIB = 1024
INFO = st.builds(
    TensorInfo, st.sampled_from(["float16", "float32", "int32", "bfloat16"]),
    st.lists(st.integers(-1, 1 << 40), max_size=8).map(tuple),
)  # fmt: skip
CODES = {"float32": 0, "float16": 1, "int32": 3, "bfloat16": 27}


@pytest.mark.parametrize("order", ["seed", "ge"])
def test_what_was_asked_is_what_is_read(place, request_of, order):
    """Names, shapes, element types, the absent input, and nothing at positions that do not exist."""
    context = place(request_of(attrs=(7, 0.5)), order=order).context
    assert (context.op_type, context.op_name) == ("Probe", "layer/0")
    assert context.input_shape(0) == StorageShape((4, 8), (4, 8))
    assert context.input_shape(2) == StorageShape((2,), (2,))
    assert context.output_shape(0) == StorageShape((3, 1, 2), (3, 1, 2))
    assert [d and (d.dtype, d.format) for d in map(context.input_desc, range(4))] == [(1, 2), None, (3, 2), None]
    assert [context.input_tensor(i) for i in (-1, 0, 1, 2, 3)] == [False, True, False, True, False]
    assert [context.input_shape(i) for i in (-1, 1, 3)] == [None] * 3
    assert [context.output_shape(i) for i in (-1, 1)] == [None] * 2
    assert (context.attrs.num, context.attrs.get_int(0), context.attrs.get_float(1)) == (2, 7, 0.5)


def test_platform_numbers_of_a_910b3(place, request_of):
    """20 cubes and 40 vectors; the sizes of the platform file; the vendor's spelling of the name."""
    assert place(request_of()).context.platform == PlatformInfo(
        "Ascend910B3", 20, 20, 40, 192 * KIB, 512 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, 192 * KIB * KIB
    )
    assert place(request_of(), platform=False).context.platform is None


def test_values_are_there_only_for_depended_inputs_that_have_them(place, request_of):
    """A depended input with bytes, one without, and one that is not depended."""
    value = struct.pack("<2i", 5, -6)
    assert place(request_of(data={2: value}), depended=[2]).context.input_data(2) == value
    assert place(request_of(), depended=[2]).context.input_data(2) is None
    assert place(request_of(data={2: value})).context.input_data(2) is None
    assert place(request_of()).context.input_data(1) is None


def test_s39_a_context_of_six_inputs_with_an_external_one(place):
    """S39: input 3 is the external object, level 1 is context input 11; key 0x123 and dim 40 land in aligned cells."""
    inputs = tuple(TensorInfo("float16", (k + 1,)) for k in range(6))
    request = TilingRequest("S39", "s39", inputs, (TensorInfo("float16", (6,)),))
    placed = place(request, depended=[3], deterministic_level=1)
    context, memory, at = placed.context, placed.memory, placed.buffer.addresses
    shape, offsets = placed.buffer.shape, placed.buffer.offsets
    assert memory.u64(placed.base + offsets.input_cell(3)) == placed.objects[3]
    assert context.input_shape(3) == StorageShape((4,), (4,))
    flags = [memory.u64(placed.base + offsets.input_cell(i)) for i in range(7, 12)]
    assert (flags[0], flags[2:], shape.context_inputs) == (0, [0, 0, 1], 12)
    context.set_tiling_key(0x123)
    context.set_block_dim(40)
    assert placed.poked == []
    context.commit()
    assert placed.poked == [at.tiling_key, at.block_dim]
    assert at.tiling_key % 128 == at.block_dim % 128 == 0
    assert at.block_dim - at.tiling_key == 128
    assert (memory.u64(at.tiling_key), memory.u64(at.block_dim)) == (0x123, 40)
    assert memory.c_string(at.op_type) == "S39"


def test_everything_a_function_sets_is_written_at_commit(place, request_of):
    """Data and its size, workspaces and their number, schedule mode; the rest of the buffer does not change."""
    placed = place(request_of(capacity=32))
    context, base, at = placed.context, placed.base, placed.buffer.offsets
    before = bytearray(placed.image())
    context.set_tiling_key(-1)
    context.set_block_dim(1 << 33 | 9)
    context.set_workspaces((100, 200))
    context.set_schedule_mode(1)
    context.write_tiling_data(b"data")
    assert placed.image() == bytes(before)
    context.commit()

    def put(offset, data):
        before[offset : offset + len(data)] = data

    put(at.data_header + 8, struct.pack("<Q", 4))
    put(at.data, b"data")
    put(at.workspaces + 8, struct.pack("<Q", 2))
    put(at.workspaces + 56, struct.pack("<QQ", 100, 200))
    cell = placed.buffer.addresses.tiling_key - base
    put(cell, b"\xff" * 8)
    put(cell + 128, struct.pack("<I", 9))
    put(cell + 6 * 128, struct.pack("<I", 1))
    assert placed.image() == bytes(before)


def test_nothing_set_is_nothing_written(place, request_of):
    """A function that sets nothing leaves the old values."""
    placed = place(request_of())
    before = placed.image()
    placed.context.commit()
    assert placed.image() == before


@pytest.mark.parametrize("size", [0, 31, 32])
def test_tiling_data_up_to_the_capacity_fit(place, request_of, size):
    """32 bytes of capacity hold 32 bytes."""
    placed = place(request_of(capacity=32))
    placed.context.write_tiling_data(bytes(size))
    placed.context.commit()
    assert placed.memory.u64(placed.base + 8) == size


def test_tiling_data_over_the_capacity_are_refused_and_nothing_is_written(place, request_of):
    """33 bytes are one too many; the error carries the number."""
    placed = place(request_of(capacity=32))
    before = placed.image()
    placed.context.set_tiling_key(5)
    with pytest.raises(TilingError, match="33 bytes of tiling data do not fit the capacity of 32 bytes") as caught:
        placed.context.write_tiling_data(bytes(33))
    assert caught.value.detail == {"over": 1}
    assert placed.image() == before


@pytest.mark.parametrize("sizes", [(1,) * 17, (-1,), (1 << 64,)])
def test_workspaces_that_do_not_fit_are_refused(place, request_of, sizes):
    """At most sixteen numbers of 64 bits."""
    with pytest.raises(TilingError, match="fit"):
        place(request_of()).context.set_workspaces(sizes)


def test_sixteen_workspaces_fit(place, request_of):
    """The vector's full capacity, the last element at its end."""
    placed = place(request_of(capacity=8))
    placed.context.set_workspaces(tuple(range(1, 17)))
    placed.context.commit()
    vector = placed.base + placed.buffer.offsets.workspaces
    assert struct.unpack("<16Q", placed.memory.read(vector + 56, 128)) == tuple(range(1, 17))


def test_bytes_that_are_no_context_are_refused():
    """Zeros, and counts that no context has."""
    memory = HostMemory()
    for head in ((0, 11), (5, 10), (5000, 11)):
        at = memory.place(struct.pack("<5Q", *head, 0, 0, 0))
        with pytest.raises(TilingError, match=f"no tiling context lies at {at:#x}"):
            MemoryTilingContext(memory, at, memory.write)


def test_attributes_without_a_pointer_or_of_impossible_size_are_absent(place, request_of):
    """The node info says where the table is and how long; neither is believed blindly."""
    placed = place(request_of(attrs=(1,)))
    node = placed.base + placed.buffer.offsets.node_info
    for offset, value in ((56, 1 << 21), (48, 0)):
        placed.memory.write(node + offset, value.to_bytes(8, "little"))
        context = MemoryTilingContext(placed.memory, placed.buffer.addresses.tiling_context, placed.poke)
        assert context.attrs is None


def test_a_null_tensor_pointer_is_an_absent_tensor(place, request_of):
    """The cell of input 0 is zero: there is a descriptor but no object."""
    placed = place(request_of())
    placed.memory.write(placed.base + placed.buffer.offsets.input_cell(0), bytes(8))
    assert not placed.context.input_tensor(0)
    assert placed.context.input_shape(0) is None
    assert placed.context.input_desc(0).dtype == 1


@given(st.lists(st.none() | INFO, min_size=1, max_size=5), st.lists(INFO, min_size=1, max_size=3), st.booleans())
def test_any_request_is_read_back(inputs, outputs, swap):
    """Builder and reader agree on every position, in both orders."""
    request = TilingRequest("T", "n", tuple(inputs), tuple(outputs))
    memory = HostMemory()
    memory.place(bytes(8))
    built = build_sink_buffer(request, memory.next_address(), platform=0, depended={}, order="ge" if swap else "seed")
    memory.place(built.image)
    context = MemoryTilingContext(memory, built.addresses.tiling_context, memory.write)
    for index, info in enumerate(inputs):
        expected = None if info is None else StorageShape(info.shape, info.shape)
        assert context.input_shape(index) == expected
        desc = context.input_desc(index)
        assert (desc.dtype if desc else None) == (CODES[info.dtype] if info else None)
    assert [context.output_shape(i).origin for i in range(len(outputs))] == [o.shape for o in outputs]


def test_a_tensor_object_keeps_its_data_pointer_at_byte_640():
    """752 bytes; pointer at 640, size at 656, element type at 596."""
    raw = tensor_object(TensorInfo("int32", (2, 3)), 0x12C0_4000_0000, 24)
    assert len(raw) == 752
    assert struct.unpack_from("<QQQ", raw, 640) == (0x12C0_4000_0000, 0, 24)
    assert struct.unpack_from("<I", raw, 596) == (3,)
    assert struct.unpack_from("<3q", raw, 0) == (2, 2, 3)
    assert struct.unpack_from("<3q", raw, 248) == (2, 2, 3)
