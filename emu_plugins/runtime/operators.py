"""The operators of a blob joined with their registrations, and the tiling questions they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.operators import TensorInfo
from emu_plugins.compiler.options import DETERMINISTIC, DETERMINISTIC_LEVEL
from emu_plugins.runtime.stand_in import stand_in_operator, stand_in_ops
from emu_plugins.tiling.instances import IR_COUNTS, ir_counts
from emu_plugins.tiling.request import TilingRequest
from formats.dtypes import dtype_coded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.operators import AttrValue, OperatorSpec
    from emu_core.plugins import PluginHost
    from formats.blob import Blob, BlobOp


MOST_TILING_DATA = 16 << 20
"""Bytes of tiling data an operator may ask for; a limit of ours, the same as the compiler's."""


class Operators:
    """Registrations by index of the blob's operators.

    Raises:
        InputError: an operator's type is not registered (`operator.missing`); loading needs it, because the list of
            depended inputs and the tiling function come from the registration. A timed stand-in needs none.
    """

    def __init__(self, host: PluginHost, blob: Blob) -> None:
        self.blob = blob
        self.specs: list[OperatorSpec] = []
        standing = stand_in_ops(blob)
        for index, op in enumerate(blob.ops):
            if index in standing:
                self.specs.append(stand_in_operator(op))
                continue
            if op.type not in host.operators:
                raise InputError(
                    f"operator type {op.type!r} is not registered",
                    id="operator.missing",
                    where=f"operator {op.name}",
                    remedy=f"load its plugin; operators here: {', '.join(sorted(host.operators)) or 'none'}",
                )
            self.specs.append(host.operators[op.type])
        for op, spec in zip(blob.ops, self.specs, strict=True):
            if op.tiling_capacity > MOST_TILING_DATA:
                raise InputError(
                    f"asks for {op.tiling_capacity} bytes of tiling data, at most {MOST_TILING_DATA} are allowed",
                    id="blob.capacity",
                    where=f"operator {op.name}",
                    remedy="compile the graph again",
                )
            counts = ir_counts(op.attrs, len(op.inputs))
            if not _counts_fit(counts, spec) or len(op.outputs) != len(spec.outputs):
                raise InputError(
                    f"has {len(counts)} inputs and {len(op.outputs)} outputs, the registered {op.type} has "
                    f"{len(spec.inputs)} and {len(spec.outputs)}",
                    id="operator.arity",
                    where=f"operator {op.name}",
                    remedy="compile the graph again with the plugins that are loaded now",
                )

    def request(self, index: int, data: Mapping[int, bytes] | None = None) -> TilingRequest:
        """The tiling question of operator `index`; `data`: values at hand by their place among its inputs."""
        op, spec = self.blob.ops[index], self.specs[index]
        return TilingRequest(
            op_type=op.type,
            op_name=op.name,
            inputs=tuple(None if t is None else self._info(t) for t in op.inputs),
            outputs=tuple(self._info(t) for t in op.outputs),
            attrs=tuple(_value(op.attrs.get(a.name, a.default)) for a in spec.attrs),
            data=data or {},
            capacity=op.tiling_capacity,
            counts=ir_counts(op.attrs, len(op.inputs)) if IR_COUNTS in op.attrs else (),
            deterministic=_flag(op, DETERMINISTIC),
            deterministic_level=_flag(op, DETERMINISTIC_LEVEL),
        )

    def _info(self, tensor: int) -> TensorInfo:
        found = self.blob.tensors[tensor]
        return TensorInfo(dtype_coded(found.dtype).name, found.shape)


def _counts_fit(counts: tuple[int, ...], spec: OperatorSpec) -> bool:
    """Whether `counts` tensors per IR input are what `spec` has."""
    fit = (count == 1 or each.dynamic for count, each in zip(counts, spec.inputs, strict=False))
    return len(counts) == len(spec.inputs) and all(fit)


def _flag(op: BlobOp, name: str) -> int:
    """A flag that the compiler keeps among the attributes of `op`; 0 when it is absent."""
    found = op.attrs.get(name, 0)
    return found if isinstance(found, int) and 0 <= found < 1 << 32 else 0


def _value(value: AttrValue | None) -> AttrValue:
    return 0 if value is None else value
