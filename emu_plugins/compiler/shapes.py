"""Element types and shapes of all tensors, from the graph inputs through each operator's `infer`.

Mirrors the vendor's `InferShapePass` (`InferShapeAndType` of each operator) and the data type check of FE's
`OpKernelInfo`. A tensor whose producer is in trouble stays unknown, and its readers are not blamed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emu_core.errors import PluginError
from emu_core.operators import ShapeError, TensorInfo
from emu_plugins.compiler.graph import MAX_RANK
from emu_plugins.compiler.report import show
from formats.dtypes import BY_NAME

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report

STAGE = "shapes"
_OVERFLOW = 1 << 63
"""Sizes in bytes are signed 64-bit numbers."""


def tensor_bytes(info: TensorInfo) -> int:
    """Size in bytes of a tensor; 0 when its shape is known at run time only."""
    if min(info.shape, default=0) < 0:
        return 0
    return math.prod(info.shape) * BY_NAME[info.dtype].size


class Shapes:
    """Infers tensor by tensor; `known` maps a tensor name to its info, or to None when it cannot be told."""

    def __init__(self, graph: Graph, chip: Chip, report: Report) -> None:
        self._chip = chip
        self._report = report
        self.known: dict[str, TensorInfo | None] = {}
        for i, tensor in enumerate(graph.inputs):
            self._keep(tensor.name, tensor.info, f"inputs[{i}].shape (input {tensor.name})")
        for i, constant in enumerate(graph.constants):
            self._keep(constant.name, constant.info, f"constants[{i}].shape (constant {constant.name})")

    def infer(self, bound: BoundNode) -> None:
        """Note the outputs of `bound`, or what is wrong with its inputs.

        Raises:
            PluginError: the operator's `infer` broke its contract.
        """
        names = bound.node.inputs
        inputs = tuple(None if name is None else self.known.get(name) for name in names)
        if any(name is not None and info is None for name, info in zip(names, inputs, strict=True)):
            return
        if not self._dtypes_fit(bound, inputs):
            return
        outputs = self._ask(bound, inputs)
        if all(info is None or min(info.shape, default=0) >= 0 for info in inputs):
            outputs = self._known_only(bound, outputs)
        for k, (name, info) in enumerate(zip(bound.node.outputs, outputs, strict=False)):
            self._keep(name, info, bound.place(f"outputs[{k}]"))
        if outputs:
            listed = ", ".join(f"{o.dtype}{list(o.shape)}" for o in outputs)
            self._report.decide(bound.node.name, STAGE, f"outputs are {listed}")

    def _dtypes_fit(self, bound: BoundNode, inputs: tuple[TensorInfo | None, ...]) -> bool:
        fit = True
        for k, (info, ir) in enumerate(zip(inputs, bound.ir_of, strict=True)):
            declared = bound.spec.inputs[ir]
            if info is not None and declared.dtypes and info.dtype not in declared.dtypes:
                what = f"input {bound.input_words(k)}: {bound.spec.type} does not take {info.dtype}"
                remedy = f"it takes {', '.join(declared.dtypes)}"
                self._report.problem("graph.dtype", what, bound.place(bound.node.input_part(k)), remedy)
                fit = False
        return fit

    def _ask(self, bound: BoundNode, inputs: tuple[TensorInfo | None, ...]) -> tuple[TensorInfo, ...]:
        where = f"operator {bound.spec.type}"
        try:
            outputs = bound.spec.infer(inputs, bound.attrs)
        except ShapeError as error:
            self._refused(bound, error)
            return ()
        except Exception as error:
            what = f"shape inference broke: {type(error).__name__}: {error}"
            raise PluginError(
                what, id="plugin.infer", where=where, remedy="report it to the plugin's author"
            ) from error
        if len(outputs) != len(bound.spec.outputs) or any(o.dtype not in BY_NAME for o in outputs):
            what = f"shape inference gave {len(outputs)} outputs or an unknown dtype"
            raise PluginError(what, id="plugin.infer", where=where, remedy="report it to the plugin's author")
        return outputs

    def _known_only(self, bound: BoundNode, outputs: tuple[TensorInfo, ...]) -> tuple[TensorInfo, ...]:
        """`outputs`, or none when a shape depends on more than shapes: no run could tell it before the launch."""
        bad = [k for k, info in enumerate(outputs) if min(info.shape, default=0) < 0]
        for k in bad:
            what = f"the shape {list(outputs[k].shape)} has unknown dimensions although those of all inputs are known"
            remedy = "such an operator is unsupported here: its shape depends on values"
            self._report.problem("graph.unknown-shape", what, bound.place(f"outputs[{k}]"), remedy)
        return () if bad else outputs

    def _refused(self, bound: BoundNode, error: ShapeError) -> None:
        at = next((k for k in range(len(bound.node.inputs)) if error.input in bound.slot_names(k)), None)
        if at is None:
            self._report.problem("graph.shape", error.what, bound.place("inputs"), error.remedy)
        else:
            what = f"input {bound.input_words(at)}: {error.what}"
            self._report.problem("graph.shape", what, bound.place(bound.node.input_part(at)), error.remedy)

    def _keep(self, name: str, info: TensorInfo, place: str) -> None:
        self.known[name] = info if self._usable(info, place) else None

    def _usable(self, info: TensorInfo, place: str) -> bool:
        if not info.dtype:
            return False
        unknown = min(info.shape, default=0) < 0
        if len(info.shape) > MAX_RANK:
            self._report.problem(
                "graph.shape", f"{len(info.shape)} dimensions", place, f"at most {MAX_RANK} are possible"
            )
        elif unknown:
            return True
        elif (size := tensor_bytes(info)) >= _OVERFLOW:
            what = f"the size of shape {list(info.shape)} overflows 64 bits"
            self._report.problem("graph.size", what, place, "make it smaller")
        elif size > self._chip.memory_bytes:
            what = f"the tensor has {show(size)} bytes, {self._chip.name} has {self._chip.memory_bytes} of memory"
            self._report.problem("graph.size", what, place, "make it smaller")
        else:
            return True
        return False
