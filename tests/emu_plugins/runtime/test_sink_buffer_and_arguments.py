"""Argument words and sink buffers as they lie in device memory, byte by byte."""

from __future__ import annotations

import struct

import pytest

from formats import get

P3 = "ascend310p3"
TENSOR, HEAD, CELLS_CONTEXT = 752, 20, 48
NODE_INFO = 88 + 48 * 3 + 144 * 3 + 32
"""Head, three IR entries, three tensors, one attribute entry (add_x)."""


@pytest.fixture
def bench(lab):
    """One probe on a 310P3, loaded and not run."""
    return lab(P3)


def _joined(sqe, name):
    return sqe[f"{name}_low"] | sqe[f"{name}_high"] << 32


def _words(memory, address, count):
    return struct.unpack(f"<{count}Q", memory.read(address, 8 * count))


def _addresses(bench):
    return bench.model.details["op0"]["_tiling_context_addr"]


def test_kernel_arguments_are_tensors_workspace_and_tiling_data(bench):
    """x, n, y, workspace 0, and the address 64 bytes into the sink buffer."""
    sqe = bench.kernel_sqe()[1]
    x, n = (port.address for port in bench.model.inputs)
    words = _words(bench.device.memory, _joined(sqe, "param_addr"), 5)
    assert words[:3] == (x, n, bench.model.outputs[0].address)
    workspace = bench.device.memory.find(words[3])
    assert (workspace.label, workspace.size, workspace.address) == ("workspace 0 of op0", 4096, words[3])
    assert words[4] == _addresses(bench).buffer + 64


def test_preprocess_arguments_follow_head_and_refreshed_tensor(bench):
    """20 bytes of head, one refreshed tensor of 1392 bytes, then context, type and a zero word."""
    sqe = get("v100", "AicpuKernelSqe").parse(bench.device.streams[1].queue.entry(0))
    memory, slots = bench.device.memory, _joined(sqe, "param_addr")
    block = memory.find(slots)
    assert (block.size, slots - block.address) == (HEAD + 1392 + 3 * 8, HEAD + 1392)
    at = _addresses(bench)
    assert _words(memory, slots, 3) == (at.tiling_context, at.op_type, 0)
    assert struct.unpack("<IIIQ", memory.read(block.address, HEAD)) == (block.size, 3, 0, 0)
    n = bench.model.inputs[1].address
    refreshed = block.address + HEAD
    assert _words(memory, refreshed, 1) == (n,)
    assert struct.unpack("<Q8xQ", memory.read(refreshed + 640 + 640, 24)) == (n, 4)


def test_update_arguments_are_device_offsets(bench):
    """Key, block dim and table are offsets into the scheduler's space; the target is the kernel's stream and task."""
    sqe = get("v100", "PhModelTaskUpdateSqe").parse(bench.device.streams[1].queue.entry(1))
    at, base = _addresses(bench), 0x1240_0000_0000
    assert (sqe["tiling_key_offset"], sqe["block_dim_offset"]) == (at.tiling_key - base, at.block_dim - base)
    assert (sqe["des_stream_id"], sqe["des_task_id"], sqe["exe_stream_id"]) == (0, 7, 1)
    assert (sqe["desc_buf_offset"], sqe["tiling_tab_len"]) == ((1 << 64) - 1, 3)
    assert (sqe["pre_p"], sqe["post_p"], sqe["wr_cqe"], sqe["kernel_credit"]) == (1, 0, 1, 254)


def test_tiling_table_rows_are_ascending_and_point_at_descriptors(bench):
    """32 bytes per key: key, PC, and zeros; the PCs are 64 bytes apart."""
    sqe = get("v100", "PhModelTaskUpdateSqe").parse(bench.device.streams[1].queue.entry(1))
    memory = bench.device.memory
    address = 0x1240_0000_0000 + sqe["tiling_tab_offset"]
    assert memory.find(address).size == 3 * 32
    rows = [_words(memory, address + 32 * i, 4) for i in range(3)]
    launched = _joined(bench.kernel_sqe()[1], "pc_addr")
    assert rows == [(key, launched + 64 * key, 0, 0) for key in (0, 1, 2)]
    for key, (_, pc, _, _) in enumerate(rows):
        magic, _kernel, core, found, name = struct.unpack("<8sIIQQ", memory.read(pc, 32))
        assert (magic, core, found) == (b"SQEMUKRN", 1, key)
        assert memory.read(name, 12) == b"TilingProbe\0"


def test_two_operators_of_one_kernel_have_a_table_copy_each(lab, probe_graph):
    """Each update owns its copy of the table, as the runtime makes one per call."""
    bench = lab(P3, graph=probe_graph(nodes=2))
    struct_ = get("v100", "PhModelTaskUpdateSqe")
    queue = bench.device.streams[1].queue
    first, second = (struct_.parse(queue.entry(slot))["tiling_tab_offset"] for slot in (1, 4))
    base = 0x1240_0000_0000
    assert first != second
    assert bench.device.memory.read(base + first, 96) == bench.device.memory.read(base + second, 96)


@pytest.mark.parametrize("order", ["seed", "ge"])
def test_blocks_1_to_3_open_the_buffer(lab, order):
    """Header with capacity 16384, size 0 and the data's address; 16384 zero bytes; vector with capacity 16, size 0."""
    bench = lab(P3, sink_buffer_order=order)
    at, memory = _addresses(bench), bench.device.memory
    assert at.buffer % 128 == 0
    assert at.tiling_data == at.buffer + 64
    assert memory.read(at.buffer, 64) == struct.pack("<QQQ40x", 16384, 0, at.buffer + 64)
    assert memory.read(at.buffer + 64, 16384) == bytes(16384)
    assert memory.read(at.buffer + 64 + 16384, 192) == struct.pack("<QQ176x", 16, 0)


@pytest.mark.parametrize("order", ["seed", "ge"])
def test_blocks_7_to_9_are_context_padding_and_cells(lab, order):
    """Eight inputs and eleven outputs; pointers to cells 128 apart and aligned; the values in them, all else zero."""
    bench = lab(P3, sink_buffer_order=order)
    at, memory = _addresses(bench), bench.device.memory
    inputs, outputs = 2 + 1 + 5, 11
    texts_end = -(-(64 + 16384 + 192 + 2 * TENSOR + len("TilingProbe") + 1 + len("op0") + 1) // 8) * 8
    expected = texts_end + (NODE_INFO if order == "ge" else 0)
    assert at.tiling_context - at.buffer == expected
    counts = struct.unpack("<QQQQQ", memory.read(at.tiling_context, 40))
    pointers = at.tiling_context + 40
    node_info = at.buffer + (texts_end if order == "ge" else counts[2] - at.buffer)
    assert counts == (inputs, outputs, node_info, 0, pointers + 8 * inputs)
    cells = -(-(at.tiling_context + 48 + 8 * (inputs + outputs)) // 128) * 128
    assert _words(memory, pointers, inputs + outputs) == tuple(cells + 128 * i for i in range(inputs + outputs))
    assert memory.read(pointers + 8 * (inputs + outputs), cells - pointers - 8 * (inputs + outputs)) == bytes(
        cells - pointers - 8 * (inputs + outputs)
    )
    values = [struct.unpack("<Q", memory.read(cells + 128 * i, 8))[0] for i in range(inputs + outputs)]
    objects = at.buffer + 64 + 16384 + 192
    platform = next(a for a in memory.allocations() if a.label == "platform block").address
    refreshed = next(a for a in memory.allocations() if a.label == "tiling arguments of op0").address + HEAD + 640
    assert values[:inputs] == [objects, refreshed, objects + TENSOR, 0, platform, 0, 0, 0]
    assert values[inputs:] == [0, 0, 0, at.buffer, at.buffer + 64 + 16384, 0, 0, 0, 0, 0, 0]
    assert all(memory.read(cells + 128 * i + 8, 120) == bytes(120) for i in range(inputs + outputs))
    assert (at.tiling_key, at.block_dim) == (cells + 128 * inputs, cells + 128 * (inputs + 1))


def test_the_whole_buffer_has_the_vendors_sum(bench):
    """Context bound + data + workspaces + node info, each section rounded to 8; never less than what is used."""
    at = _addresses(bench)
    io = 3
    tiled = len("op0") + 1 + len("TilingProbe") + 1 + TENSOR * io + 48 + (8 + 16 + 256) * (io + 11 + 4)
    assert at.buffer_bytes == -(-tiled // 8) * 8 + (64 + 16384) + 192 + NODE_INFO
    assert bench.device.memory.find(at.buffer).size == at.buffer_bytes


@pytest.mark.parametrize(("operator", "capacity"), [("Knob", 16384), ("Knob16", 16)])
def test_s40_the_capacity_is_16384_or_op_para_size(lab, probe_graph, operator, capacity):
    """S40: without the attribute 16384 bytes, with it 16; the workspace vector follows directly."""
    bench = lab(P3, graph=probe_graph(operator=operator))
    at, memory = _addresses(bench), bench.device.memory
    assert _words(memory, at.buffer, 1) == (capacity,)
    assert _words(memory, at.buffer + 64 + capacity, 2) == (16, 0)
    assert bench.run(2000).ok


def test_both_orders_run_alike(lab):
    """The policy moves blocks about; nothing that runs looks at their order."""
    seed, ge = lab(P3, sink_buffer_order="seed"), lab(P3, sink_buffer_order="ge")
    for n in (3, 5):
        first, second = seed.run(n), ge.run(n)
        assert first.outputs["y0"].tobytes() == second.outputs["y0"].tobytes()
        assert first.ended == second.ended


def test_cells_after_a_run_hold_key_dim_and_workspace(bench):
    """N = 5: key 2, dim 5, tiling data of 16 bytes, one workspace of 4096 bytes."""
    bench.run(5)
    at, memory = _addresses(bench), bench.device.memory
    assert _words(memory, at.tiling_key, 1) == (2,)
    assert memory.read(at.block_dim, 4) == b"\5\0\0\0"
    assert _words(memory, at.buffer, 2) == (16384, 16)
    vector = at.buffer + 64 + 16384
    assert _words(memory, vector, 2) == (16, 1)
    assert _words(memory, vector + 56, 1) == (4096,)
