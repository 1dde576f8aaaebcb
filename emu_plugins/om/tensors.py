"""The tensors of an offline model as those of a task blob: inputs, constants with their bytes, intermediates."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.om.cursor import om_error
from emu_plugins.om.values import Tensor, TensorDesc, dtype_name
from formats.blob import BlobTensor, TensorRole
from formats.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.reader import OmModel
    from emu_plugins.om.values import Op

DATA = frozenset({"Data", "RefData", "AnnData"})
CONSTANT = frozenset({"Const", "Constant"})
OUTPUT = "NetOutput"
OUTPUT_NAMES = "attr_model_out_nodes_name"
LARGEST = 1 << 46
"""Bytes that a tensor may have; far more than any chip has memory."""
_BYTE = BY_NAME["uint8"]


class Tensors:
    """Tensors in the order in which they were asked for.

    Attributes:
        found: the tensors. inputs, outputs: indices of the ports, in order.
    """

    def __init__(self, model: OmModel) -> None:
        self._model = model
        self._ops: Mapping[str, Op] = MappingProxyType({op.name: op for op in model.ops})
        self._index: dict[tuple[str, int], int] = {}
        self.found: list[BlobTensor] = []
        data = [op for op in model.ops if op.type in DATA]
        ports = [self.of(op.name, 0) for op in sorted(data, key=_number)]
        self.inputs = tuple(dict.fromkeys(index for index in ports if index is not None))
        ends = [end for op in model.ops if op.type == OUTPUT for end in op.data_inputs if end is not None]
        last = [self.of(*end) for end in ends]
        self.outputs = tuple(dict.fromkeys(index for index in last if index is not None))
        self._name_outputs(model.attrs.get(OUTPUT_NAMES))

    def _name_outputs(self, names: object) -> None:
        """Call outputs as the model does: their producers may be conversions that the compiler put there."""
        if not isinstance(names, tuple) or len(names) != len(self.outputs) or len(set(names)) != len(names):
            return
        others = {each.name for index, each in enumerate(self.found) if index not in self.outputs}
        if others.isdisjoint(names):
            for index, name in zip(self.outputs, names, strict=True):
                self.found[index] = replace(self.found[index], name=str(name))

    def of(self, producer: str, output: int) -> int | None:
        """Index of an output of an operator; None when there is no such operator or output."""
        key = producer, output
        if key not in self._index:
            op = self._ops.get(producer)
            if op is None or not 0 <= output < len(op.output_descs):
                return None
            self._index[key] = len(self.found)
            self.found.append(self._made(op, output))
        return self._index[key]

    def inputs_of(self, op: Op) -> tuple[int | None, ...]:
        """Indices of the data inputs of `op`."""
        return tuple(None if each is None else self.of(*each) for each in op.data_inputs)

    def outputs_of(self, op: Op) -> tuple[int, ...]:
        """Indices of the outputs of `op`."""
        found = (self.of(op.name, output) for output in range(len(op.output_descs)))
        return tuple(index for index in found if index is not None)

    def size(self, index: int | None) -> int:
        """Bytes of a tensor; 0 for None."""
        return 0 if index is None else self.found[index].size

    def _made(self, op: Op, output: int) -> BlobTensor:
        desc = op.output_descs[output]
        dtype, shape, size = _described(desc, f"operator {op.name}")
        name = op.name if output == 0 and len(op.output_descs) == 1 else f"{op.name}:{output}"
        if op.type in DATA:
            return BlobTensor(name, dtype, shape, TensorRole.INPUT, size)
        if op.type in CONSTANT:
            return BlobTensor(name, dtype, shape, TensorRole.CONSTANT, size, self._weights(op, size))
        return BlobTensor(name, dtype, shape, TensorRole.INTERMEDIATE, size)

    def _weights(self, op: Op, size: int) -> bytes:
        """The bytes of a constant: its own, or those of the weights that its value points at."""
        value = op.attrs.get("value")
        if not isinstance(value, Tensor):
            raise om_error("om.weights", "is a constant without a value", f"operator {op.name}")
        weights, start = self._model.weights, value.desc.data_offset
        data = value.data or bytes(weights[start : start + size] if 0 <= start <= len(weights) else b"")
        if len(data) < size:
            what = f"needs {size} bytes of weights at {start}, the partition has {len(weights)}"
            raise om_error("om.weights", what, f"operator {op.name}")
        return data[:size]


def _number(op: Op) -> int:
    found = op.attrs.get("index")
    return found if isinstance(found, int) else 0


def _described(desc: TensorDesc, where: str) -> tuple[int, tuple[int, ...], int]:
    """Element type, shape and bytes; types without whole bytes and unknown shapes are bytes of the stored size."""
    known = BY_NAME.get(dtype_name(desc.dtype))
    size = 0
    if known is not None and min(desc.shape, default=0) >= 0:
        size = math.prod(desc.shape) * known.size
        found = known.code, desc.shape, size
    else:
        size = max(desc.size, 0)
        found = _BYTE.code, (size,), size
    if size > LARGEST:
        raise om_error("om.value", f"has a tensor of {size} bytes, at most {LARGEST} are taken", where)
    return found
