"""Shapes that are known at run time only: from the input arrays of an execution through the operators, to places.

| step | raises |
|---|---|
| the caller's shapes must fit the declared ones (`emu_core.model`) | `input.shape` |
| each operator infers its outputs, in list order | `run.shape`: refused, or not what the compiler saw |
| the tensors must fit the device | `run.shape` |
| tensors whose shape changed get new places | |

Tiling then sees the real shapes: it runs on the host before every launch (`emu_plugins.runtime.host_scheduled`).
Mirrors the shape inference that the vendor's unknown-shape executor runs before each launch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emu_core.errors import InputError, PluginError
from emu_core.model import fits_shape
from emu_core.operators import ShapeError, TensorInfo
from formats.dtypes import dtype_coded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.model import Port, Reshape
    from emu_core.operators import OperatorSpec
    from emu_plugins.runtime.operators import Operators
    from emu_plugins.runtime.placement import Placement
    from formats.blob import BlobOp, BlobTensor


def run_shapes(placement: Placement, operators: Operators) -> Reshape | None:
    """What places the ports of one execution; None when every shape of the blob is known."""
    unknown = placement.unknown
    return _RunShapes(placement, operators, frozenset(unknown)).bind if unknown else None


def require_shapes(placement: Placement, ops: Iterable[int]) -> None:
    """Nothing when what operators `ops` use, and what a graph that is loaded once computes, have known shapes.

    Inputs that no operator reads may be of any shape: `run_shapes` gives them a place in each execution.

    Raises:
        InputError: `blob.tensor`: a part that is loaded once names a tensor of unknown shape.
    """
    unknown, blob = set(placement.unknown), placement.blob
    used = {tensor for op in ops for tensor in (*blob.ops[op].inputs, *blob.ops[op].outputs)}
    if not blob.unknown_shape:
        used.update(set(blob.outputs) - set(blob.inputs))
    for tensor in sorted(unknown & used):
        name, shape = blob.tensors[tensor].name, list(blob.tensors[tensor].shape)
        what = f"tensor {name} has the shape {shape}, but what uses it is loaded once for all executions"
        raise InputError(what, id="blob.tensor", where=f"tensor {name}", remedy="compile the graph again")


class _RunShapes:
    def __init__(self, placement: Placement, operators: Operators, unknown: frozenset[int]) -> None:
        self._placement = placement
        self._operators = operators
        self._unknown = unknown
        self._declared = placement.blob.tensors

    def bind(self, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Place everything for input arrays of `shapes`; returns the ports, inputs and outputs."""
        blob, placement = self._placement.blob, self._placement
        infos = [TensorInfo(dtype_coded(each.dtype).name, each.shape) for each in self._declared]
        for index, shape in zip(blob.inputs, shapes, strict=True):
            infos[index] = TensorInfo(infos[index].dtype, shape)
        for number, op in enumerate(blob.ops):
            if not self._unknown.isdisjoint(op.outputs):
                for index, info in zip(op.outputs, self._inferred(number, infos), strict=True):
                    infos[index] = info
        self._check_room(infos)
        now = {i: infos[i].shape for i in sorted(self._unknown)}
        placement.reshape({i: s for i, s in now.items() if not placement.tensors[i] or s != blob.tensors[i].shape})
        self._operators.blob = placement.blob
        return placement.ports(blob.inputs), placement.ports(blob.outputs)

    def _inferred(self, number: int, infos: list[TensorInfo]) -> tuple[TensorInfo, ...]:
        """Outputs of operator `number`."""
        op = self._placement.blob.ops[number]
        where = f"operator {op.name}"
        found = inferred(op, self._operators.specs[number], tuple(None if t is None else infos[t] for t in op.inputs))
        declared = [self._declared[t] for t in op.outputs]
        if len(found) != len(declared) or not all(map(_fits, found, declared)):
            what = f"infers {_shown(found)}; when it was compiled, it was {_shown(map(_info, declared))}"
            raise InputError(what, id="run.shape", where=where, remedy="give arrays of shapes that fit each other")
        return found

    def _check_room(self, infos: list[TensorInfo]) -> None:
        chip, total = self._placement.device.chip, 0
        for index in sorted(self._unknown):
            tensor, shape = self._declared[index], infos[index].shape
            if min(shape, default=0) < 0:
                what = f"nothing says what the shape {list(shape)} is in this run"
                raise InputError(
                    what, id="blob.tensor", where=f"tensor {tensor.name}", remedy="compile the graph again"
                )
            total += math.prod(shape) * dtype_coded(tensor.dtype).size
            if total > chip.memory_bytes:
                what = (
                    f"with the shape {list(shape)} in this run, the tensors of unknown dimensions up to here have "
                    f"{total} bytes; {chip.name} has {chip.memory_bytes} of memory"
                )
                raise InputError(what, id="run.shape", where=f"tensor {tensor.name}", remedy="give smaller arrays")


def inferred(op: BlobOp, spec: OperatorSpec, inputs: tuple[TensorInfo | None, ...]) -> tuple[TensorInfo, ...]:
    """What `op` infers of its outputs for `inputs`.

    Raises:
        InputError: it refuses them (`run.shape`). PluginError: its function broke (`plugin.infer`).
    """
    attrs = {a.name: op.attrs.get(a.name, a.default) for a in spec.attrs}
    try:
        return tuple(spec.infer(inputs, {name: value for name, value in attrs.items() if value is not None}))
    except ShapeError as error:
        at, where = f"input {error.input}: " if error.input else "", f"operator {op.name}"
        raise InputError(f"{at}{error.what}", id="run.shape", where=where, remedy=error.remedy) from None
    except Exception as error:
        raise PluginError(
            f"shape inference broke: {type(error).__name__}: {error}",
            id="plugin.infer",
            where=f"operator {spec.type}",
            remedy="report it to the plugin's author",
        ) from error


def _info(tensor: BlobTensor) -> TensorInfo:
    return TensorInfo(dtype_coded(tensor.dtype).name, tensor.shape)


def _fits(found: TensorInfo, declared: BlobTensor) -> bool:
    wanted = _info(declared)
    return found.dtype == wanted.dtype and min(found.shape, default=0) >= 0 and fits_shape(found.shape, wanted.shape)


def _shown(infos: Iterable[TensorInfo]) -> str:
    return ", ".join(f"{info.dtype}{list(info.shape)}" for info in infos) or "nothing"
