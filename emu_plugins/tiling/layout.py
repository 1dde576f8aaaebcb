"""Where everything lies in a tiling sink buffer (`device_semantics.md` 6.4, seed 5.1).

| block | content | bytes |
|---|---|---|
| 1 | TilingData header | 64 |
| 2 | tiling data | capacity rounded up to 8 |
| 3 | workspace vector | 192 |
| 4 | tensor objects: inputs that are not value-depended, then outputs | 752 each |
| 5 | operator type, operator name | length + 1 each |
| 6 | compute-node info | 88 + 48 per IR input and output + 144 per tensor + attributes |
| 7 | run context | 48 + 8 per value pointer |
| 8 | padding to 128 | |
| 9 | one value cell per context input and output | 128 each |

The seed's order is 1 2 3, context (4 5 7 8 9), node info (6); policy `sink_buffer_order=ge` gives 1 … 9 as listed.
Sizes of whole sections are upper bounds by the vendor's own sums, so the tail of a section may stay unused.
"""

from __future__ import annotations

from dataclasses import dataclass

from formats.runtime import CompileTimeTensor, NodeInfoHead, NodeInstance, RunContext, Tensor, TilingDataHeader

WORKSPACE_VECTOR = 192
MOST_WORKSPACES = 16
CELL = 128
ALIGN = 128
EXTRA_INPUTS = 5
"""Context inputs after the tensors: compile info, platform, null, deterministic, deterministic level."""
OUTPUTS = 11
PLATFORM_INPUT = 1
"""Position of the platform pointer among the extra inputs."""
DETERMINISTIC_INPUT = 3
"""Position of the deterministic flag among them; its level comes behind it."""


def round_up(value: int, unit: int) -> int:
    """`value` rounded up to a multiple of `unit`."""
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Shape:
    """Counts that decide the layout.

    Attributes:
        ir_inputs, ir_outputs: entries of the IR definition.
        inputs, outputs: tensors that are there.
        depended: how many of the inputs are value-depended (their objects lie elsewhere).
        op_type, op_name: texts.
        capacity: bytes of tiling data.
        attr_bytes: bytes of attribute entries and their values.
    """

    ir_inputs: int
    ir_outputs: int
    inputs: int
    outputs: int
    depended: int
    op_type: str
    op_name: str
    capacity: int
    attr_bytes: int

    @property
    def context_inputs(self) -> int:
        """Inputs of the context: tensors, then the five extra ones."""
        return self.inputs + self.outputs + EXTRA_INPUTS

    @property
    def tiled_size(self) -> int:
        """Upper bound of the context section by the vendor's sum."""
        io = self.inputs + self.outputs
        n = io + OUTPUTS + 4
        texts = len(self.op_name.encode()) + 1 + len(self.op_type.encode()) + 1
        return texts + Tensor.size * io + 48 + (8 + 16 + 256) * n

    @property
    def node_info_size(self) -> int:
        """Bytes of the compute-node info."""
        ir = self.ir_inputs + self.ir_outputs
        tensors = self.inputs + self.outputs
        return NodeInfoHead.size + NodeInstance.size * ir + CompileTimeTensor.size * tensors + self.attr_bytes

    @property
    def total(self) -> int:
        """Bytes of the whole buffer."""
        data = TilingDataHeader.size + round_up(self.capacity, 8)
        return round_up(self.tiled_size, 8) + data + WORKSPACE_VECTOR + self.node_info_size


@dataclass(frozen=True)
class Offsets:
    """Byte offsets of each block from the start of the buffer, which is aligned to 128."""

    data_header: int
    data: int
    workspaces: int
    tensors: int
    op_type: int
    op_name: int
    context: int
    cells: int
    node_info: int
    total: int

    def input_cell(self, index: int) -> int:
        """Cell of context input `index`."""
        return self.cells + CELL * index

    def output_cell(self, shape: Shape, index: int) -> int:
        """Cell of context output `index`."""
        return self.cells + CELL * (shape.context_inputs + index)


def offsets(shape: Shape, order: str = "seed") -> Offsets:
    """The layout of a buffer; `order` is the value of policy `sink_buffer_order`."""
    data_header = 0
    data = data_header + TilingDataHeader.size
    workspaces = data + round_up(shape.capacity, 8)
    tensors = workspaces + WORKSPACE_VECTOR
    op_type = tensors + Tensor.size * (shape.inputs - shape.depended + shape.outputs)
    op_name = op_type + len(shape.op_type.encode()) + 1
    texts_end = round_up(op_name + len(shape.op_name.encode()) + 1, 8)
    node_first = order == "ge"
    context = texts_end + (round_up(shape.node_info_size, 8) if node_first else 0)
    values = shape.context_inputs + OUTPUTS
    cells = round_up(context + RunContext.size + 8 * (values + 1), ALIGN)
    end = cells + CELL * values
    seed_node = round_up(tensors + round_up(shape.tiled_size, 8), 8)
    node_info = texts_end if node_first else seed_node
    total = max(end, node_info + shape.node_info_size)
    return Offsets(data_header, data, workspaces, tensors, op_type, op_name, context, cells, node_info, total)
