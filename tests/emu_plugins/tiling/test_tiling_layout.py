"""The layout of one operator's sink buffer, added up by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.tiling.layout import Shape, offsets, round_up

SHAPE = Shape(
    ir_inputs=3, ir_outputs=1, inputs=3, outputs=1, depended=1, op_type="Probe", op_name="layer/0", capacity=100,
    attr_bytes=64,
)  # fmt: skip


def test_sums_of_the_sections():
    """Node info 88 + 4 x 48 + 4 x 144 + 64; context bound 8 + 6 + 4 x 752 + 48 + 280 x 19; data 64 + 104."""
    assert SHAPE.node_info_size == 88 + 192 + 576 + 64 == 920
    assert SHAPE.tiled_size == 14 + 3008 + 48 + 5320 == 8390
    assert SHAPE.total == 8392 + 64 + 104 + 192 + 920
    assert SHAPE.context_inputs == 9


def test_seed_order_puts_the_context_before_the_node_info():
    """Blocks 1 to 3 end at 360; three tensor objects; two texts; context; cells at the next multiple of 128."""
    at = offsets(SHAPE)
    assert (at.data_header, at.data, at.workspaces, at.tensors) == (0, 64, 168, 360)
    assert (at.op_type, at.op_name) == (360 + 3 * 752, 360 + 3 * 752 + 6)
    texts_end = 2632
    assert at.op_name + 8 == 2630
    assert at.context == texts_end
    assert at.cells == 2944 == round_up(texts_end + 48 + 8 * 20, 128)
    assert at.node_info == 360 + 8392
    assert at.total == 360 + 8392 + 920


def test_ge_order_puts_the_node_info_before_the_context():
    """Everything before is the same; the context moves behind 920 bytes of node info."""
    at, seed = offsets(SHAPE, "ge"), offsets(SHAPE)
    assert (at.data, at.workspaces, at.tensors, at.op_type) == (seed.data, seed.workspaces, seed.tensors, seed.op_type)
    assert (at.node_info, at.context) == (2632, 2632 + 920)
    assert at.cells == 3840 == round_up(3552 + 48 + 8 * 20, 128)
    assert at.total == 3840 + 128 * 20


def test_cells_are_128_apart_inputs_first():
    """Nine inputs, then eleven outputs."""
    at = offsets(SHAPE)
    assert at.input_cell(8) == 2944 + 8 * 128
    assert at.output_cell(SHAPE, 0) == 2944 + 9 * 128
    assert at.output_cell(SHAPE, 1) - at.output_cell(SHAPE, 0) == 128


@given(
    st.builds(
        Shape, ir_inputs=st.integers(1, 12), ir_outputs=st.integers(1, 6), inputs=st.integers(1, 12),
        outputs=st.integers(1, 6), depended=st.integers(0, 1), op_type=st.text(max_size=30),
        op_name=st.text(max_size=30), capacity=st.integers(0, 100_000), attr_bytes=st.integers(0, 1000),
    ),
    st.sampled_from(["seed", "ge"]),
)  # fmt: skip
def test_blocks_never_overlap_and_fit(shape, order):
    """In both orders each block ends before the next one starts, and the vendor's bound covers the context section."""
    at = offsets(shape, order)
    values = shape.context_inputs + 11
    objects = shape.inputs - shape.depended + shape.outputs
    blocks = [
        (at.data_header, 64),
        (at.data, shape.capacity),
        (at.workspaces, 192),
        (at.tensors, 752 * objects),
        (at.op_type, len(shape.op_type.encode()) + 1),
        (at.op_name, len(shape.op_name.encode()) + 1),
        (at.node_info, shape.node_info_size),
        (at.context, 48 + 8 * values),
        (at.cells, 128 * values),
    ]
    ordered = sorted(b for b in blocks if b[1])
    assert all(a + size <= b for (a, size), (b, _) in pairwise(ordered))
    assert ordered[-1][0] + ordered[-1][1] <= at.total
    assert at.cells % 128 == 0


@pytest.mark.parametrize(("value", "unit", "expected"), [(0, 8, 0), (1, 8, 8), (8, 8, 8), (129, 128, 256)])
def test_round_up(value, unit, expected):
    """To the next multiple, or the same."""
    assert round_up(value, unit) == expected
