"""Building the bytes of a tiling sink buffer; mirrors `ArgsFormatUtils::SinkTilingContext`.

The bytes are the same for host and device; only the base address differs. Every pointer inside is a full address.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from struct import Struct
from typing import TYPE_CHECKING

from emu_plugins.tiling.attributes import encode_attributes
from emu_plugins.tiling.layout import MOST_WORKSPACES, OUTPUTS, PLATFORM_INPUT, Offsets, Shape, offsets
from formats.dtypes import dtype_named
from formats.runtime import (
    AttrEntry,
    CompileTimeTensor,
    NodeInfoHead,
    NodeInstance,
    PlatformBlock,
    RefreshedTensor,
    RunContext,
    Tensor,
    TilingDataHeader,
    VectorHeader,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emu_core.chips import Chip
    from emu_core.operators import TensorInfo
    from emu_plugins.tiling.request import TilingRequest

ND = 2
MOST_DIMS = 25
_DIMS = Struct(f"<{MOST_DIMS}q")
_DIMS_AT = tuple(Tensor.by_name[name].offset // 8 for name in ("origin_dims", "storage_dims"))
_DATA_ADDR, _DATA_SIZE = Tensor.field("data_addr"), Tensor.field("data_size")
_OBJECT_AT = RefreshedTensor.by_name["tensor"].offset // 8


@dataclass(frozen=True)
class Addresses:
    """Where the parts of a built buffer are: what `_tiling_context_addr` holds, and the cells behind it."""

    op_type: int
    tiling_context: int
    tiling_data: int
    tiling_key: int
    block_dim: int


@dataclass(frozen=True)
class SinkBuffer:
    """A buffer to be copied to its base address in one piece."""

    image: bytes
    addresses: Addresses
    shape: Shape
    offsets: Offsets


def shape_of(request: TilingRequest, depended: Mapping[int, int]) -> Shape:
    """Counts of the buffer for `request`; `depended`: place in its inputs to the address of its tensor object."""
    return Shape(
        ir_inputs=request.ir_inputs,
        ir_outputs=len(request.outputs),
        inputs=sum(i is not None for i in request.inputs),
        outputs=len(request.outputs),
        depended=len(depended),
        op_type=request.op_type,
        op_name=request.op_name,
        capacity=request.capacity,
        attr_bytes=len(encode_attributes(request.attrs)),
    )


def tensor_object(info: TensorInfo, data_address: int = 0, data_size: int = 0) -> bytes:
    """A tensor object (752 bytes) in ND format; `data_address` 0 means that no value is at hand."""
    described = _described(info)
    if not data_address and not data_size:
        return described
    raw = bytearray(described)
    _DATA_ADDR.patch(raw, 0, data_address)
    _DATA_SIZE.patch(raw, 0, data_size)
    return bytes(raw)


@lru_cache(maxsize=4096)
def _described(info: TensorInfo) -> bytes:
    """A tensor object without data: the scalars through the layout, the two rows of dims packed in one go each."""
    rank = len(info.shape)
    scalars = {
        "origin_dim_num": rank,
        "storage_dim_num": rank,
        "origin_format": ND,
        "storage_format": ND,
        "dtype": dtype_named(info.dtype).code,
    }
    raw = bytearray(Tensor.build(scalars))
    for at in _DIMS_AT:
        _DIMS.pack_into(raw, at, *info.shape, *(0,) * (MOST_DIMS - rank))
    return bytes(raw)


def refreshed_tensor(info: TensorInfo, address: int, size: int) -> bytes:
    """A refreshed tensor (1392 bytes): the data address, rewritten before every run, and the object at its place."""
    head = RefreshedTensor.build({"device_addr": address})[:_OBJECT_AT]
    return head + tensor_object(info, address, size)


def platform_block(chip: Chip) -> bytes:
    """The platform numbers of `chip` as a tiling function asks for them."""
    name = chip.soc_name.encode("ascii")[:31].ljust(32, b"\0")
    return PlatformBlock.build(
        {
            "core_num": chip.core_num,
            "core_num_aic": chip.core_num_aic,
            "core_num_aiv": chip.core_num_aiv,
            "prefetch_num": chip.prefetch_num,
            "ub_bytes": chip.ub_bytes,
            "l1_bytes": chip.l1_bytes,
            "l0a_bytes": chip.l0a_bytes,
            "l0b_bytes": chip.l0b_bytes,
            "l0c_bytes": chip.l0c_bytes,
            "l2_bytes": chip.l2_bytes,
            "soc_name": list(name),
        }
    )


class _Image:
    """Bytes being filled, with the base address they will have."""

    def __init__(self, base: int, size: int) -> None:
        self.base = base
        self.raw = bytearray(size)

    def put(self, offset: int, data: bytes) -> int:
        """Write `data`; returns its address."""
        self.raw[offset : offset + len(data)] = data
        return self.base + offset


def build_sink_buffer(
    request: TilingRequest,
    base: int,
    *,
    platform: int,
    depended: Mapping[int, int],
    order: str = "seed",
    deterministic: int | None = None,
    deterministic_level: int | None = None,
) -> SinkBuffer:
    """The whole buffer for address `base` (a multiple of 128).

    Args:
        request: the tiling question; its `data` is not looked at.
        platform: address of the platform block, 0 for none.
        depended: place among the inputs of each value-depended one to the address of its tensor object.
        order: value of policy `sink_buffer_order`.
        deterministic, deterministic_level: the two flags of the context; None: as the request says.
    """
    shape = shape_of(request, depended)
    at = offsets(shape, order)
    image = _Image(base, at.total)
    _data_blocks(image, at, shape)
    tensors = _tensors(image, at, request, depended)
    op_type = image.put(at.op_type, request.op_type.encode() + b"\0")
    op_name = image.put(at.op_name, request.op_name.encode() + b"\0")
    _node_info(image, at, request, (op_name, op_type))
    flags = (
        request.deterministic if deterministic is None else deterministic,
        request.deterministic_level if deterministic_level is None else deterministic_level,
    )
    extra = [0, platform, 0, *flags]
    assert extra[PLATFORM_INPUT] == platform
    _context(image, at, shape, [*tensors, *extra])
    addresses = Addresses(
        op_type, base + at.context, base + at.data, base + at.output_cell(shape, 0), base + at.output_cell(shape, 1)
    )
    return SinkBuffer(bytes(image.raw), addresses, shape, at)


def _data_blocks(image: _Image, at: Offsets, shape: Shape) -> None:
    header = {"capacity": shape.capacity, "data_size": 0, "data_addr": image.base + at.data}
    image.put(at.data_header, TilingDataHeader.build(header))
    image.put(at.workspaces, VectorHeader.build({"capacity": MOST_WORKSPACES, "size": 0}))


def _tensors(image: _Image, at: Offsets, request: TilingRequest, depended: Mapping[int, int]) -> list[int]:
    """Addresses of all tensor objects in context order; those that are not depended are written here."""
    addresses = []
    offset = at.tensors
    infos = [*enumerate(request.inputs), *((-1, o) for o in request.outputs)]
    for index, info in infos:
        if info is None:
            continue
        if index in depended:
            addresses.append(depended[index])
            continue
        addresses.append(image.put(offset, tensor_object(info)))
        offset += Tensor.size
    return addresses


def _node_info(image: _Image, at: Offsets, request: TilingRequest, texts: tuple[int, int]) -> None:
    attrs = encode_attributes(request.attrs)
    present = [i for i in request.inputs if i is not None]
    ir = request.ir_inputs + len(request.outputs)
    offset = at.node_info + NodeInfoHead.size
    start = 0
    for count in _instances(request):
        image.put(offset, NodeInstance.build({"start": start, "count": count}))
        start += count
        offset += NodeInstance.size
    for index in range(len(request.outputs)):
        image.put(offset, NodeInstance.build({"start": index, "count": 1}))
        offset += NodeInstance.size
    for info in (*present, *request.outputs):
        described = {"dtype": dtype_named(info.dtype).code, "origin_format": ND, "storage_format": ND}
        image.put(offset, CompileTimeTensor.build(described))
        offset += CompileTimeTensor.size
    assert offset == at.node_info + NodeInfoHead.size + NodeInstance.size * ir + CompileTimeTensor.size * (
        len(present) + len(request.outputs)
    )
    attr_address = image.put(offset, attrs)
    image.put(
        at.node_info,
        NodeInfoHead.build(
            {
                "name": texts[0],
                "type": texts[1],
                "ir_inputs": request.ir_inputs,
                "ir_outputs": len(request.outputs),
                "inputs": len(present),
                "outputs": len(request.outputs),
                "attrs": attr_address,
                "attrs_size": len(attrs),
                "attr_count": len(request.attrs),
            }
        ),
    )
    assert len(attrs) >= AttrEntry.size * len(request.attrs)


def _instances(request: TilingRequest) -> Iterator[int]:
    """Connected tensors of each IR input."""
    slots = iter(request.inputs)
    for count in request.counts or (1,) * len(request.inputs):
        yield sum(info is not None for info in islice(slots, count))


def _context(image: _Image, at: Offsets, shape: Shape, inputs: list[int]) -> None:
    """Run context and value cells: inputs as given, outputs 3 and 4 pointing at blocks 1 and 3, the others 0."""
    outputs = [0] * OUTPUTS
    outputs[3] = image.base + at.data_header
    outputs[4] = image.base + at.workspaces
    pointers = at.context + RunContext.size
    for index, value in enumerate([*inputs, *outputs]):
        cell = image.put(at.cells + 128 * index, value.to_bytes(8, "little"))
        image.put(pointers + 8 * index, cell.to_bytes(8, "little"))
    image.put(
        at.context,
        RunContext.build(
            {
                "input_count": shape.context_inputs,
                "output_count": OUTPUTS,
                "node_info": image.base + at.node_info,
                "output_start": image.base + pointers + 8 * shape.context_inputs,
            }
        ),
    )
