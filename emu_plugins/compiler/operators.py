"""Nodes meet their operators: which one, how many tensors, which attributes, which kernel.

Mirrors the vendor's verification of an `OpDesc` against its IR definition.
GE attribute names that the passes read (`reference/tiling_sink_compiler.md` 4.5) may be given on any node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from emu_core.errors import PluginError
from emu_plugins.compiler.graph import node_place
from emu_plugins.compiler.report import kind_of, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.chips import Chip
    from emu_core.kernels import KernelSpec
    from emu_core.operators import AttrSpec, AttrValue, OperatorSpec
    from emu_core.policies import PolicySpec
    from emu_plugins.compiler.graph import Graph, Node, RawAttr
    from emu_plugins.compiler.report import Report

STAGE = "operators"

DYNAMIC_TILING_DEPEND = "_dynamic_tiling_depend_op"
TILING_SINK = "_tiling_sink_op"
FORCE_UNKNOWN_SHAPE = "_force_unknown_shape"
NEVER_TIMEOUT = "_op_exec_never_timeout"
COMPILE_INFO = "compile_info_json"
OP_PARA_SIZE = "op_para_size"
IMPLY_TYPE = "_fe_imply_type"
DFX_BUFFER_SIZE = "_op_dfx_buffer_size"

GE_ATTRS: Mapping[str, str] = MappingProxyType(
    {
        DYNAMIC_TILING_DEPEND: "bool",
        TILING_SINK: "bool",
        FORCE_UNKNOWN_SHAPE: "bool",
        NEVER_TIMEOUT: "bool",
        COMPILE_INFO: "str",
        OP_PARA_SIZE: "int",
        IMPLY_TYPE: "int",
        DFX_BUFFER_SIZE: "int",
    }
)
"""GE attributes that a graph may preset, and their kind."""

_DEFAULT_TILING_BYTES = 16_384
_LARGEST_TILING_BYTES = 16 * 1024 * 1024
_BUILT_IN_IMPLY_TYPES = frozenset({3, 4, 5, 6, 7, 8, 9})
_MAX_DEPENDS_INDEX = 63


class Registry(Protocol):
    """What the compiler asks the plugin host for."""

    @property
    def operators(self) -> Mapping[str, OperatorSpec]:
        """Operators by type."""

    @property
    def kernels(self) -> Mapping[str, KernelSpec]:
        """AI Core kernels by name."""

    @property
    def policy_specs(self) -> tuple[PolicySpec, ...]:
        """Policies of the core and of all plugins."""


@dataclass(frozen=True)
class BoundNode:
    """A node with its operator.

    Attributes:
        index: number of the node in the graph.
        attrs: IR attributes in IR order, defaults filled in.
        ge_attrs: GE attributes as preset by the graph.
    """

    index: int
    node: Node
    spec: OperatorSpec
    kernel: KernelSpec
    attrs: Mapping[str, AttrValue]
    ge_attrs: Mapping[str, AttrValue]

    @property
    def custom(self) -> bool:
        """Custom operator: by `_fe_imply_type` when preset (`tiling_sink_compiler.md` 6.4), else by its declaration."""
        imply = self.ge_attrs.get(IMPLY_TYPE)
        return self.spec.custom if imply is None else int(_number(imply)) & 0xFFFFFFFF not in _BUILT_IN_IMPLY_TYPES

    @property
    def compile_info(self) -> str:
        """`compile_info_json`; empty when the kernel is no dynamic-shape binary."""
        return str(self.ge_attrs.get(COMPILE_INFO, self.spec.compile_info))

    @property
    def tiling_capacity(self) -> int:
        """Bytes of tiling data the operator may write; absent or negative `op_para_size` means 16384."""
        given = self.ge_attrs.get(OP_PARA_SIZE, self.spec.tiling_capacity)
        size = -1 if given is None else int(_number(given))
        return size if size >= 0 else _DEFAULT_TILING_BYTES

    @property
    def dfx_buffer_bytes(self) -> int:
        """`_op_dfx_buffer_size`: bytes by which workspace 0 grows."""
        return max(int(_number(self.ge_attrs.get(DFX_BUFFER_SIZE, 0))), 0)

    def flag(self, name: str) -> bool:
        """GE attribute `name` is preset to true."""
        return self.ge_attrs.get(name) is True

    def place(self, part: str = "") -> str:
        """Where a problem of this node is."""
        return node_place(self.index, self.node, part)

    def input_words(self, index: int) -> str:
        """IR input `index` as messages name it: its IR name, and the tensor where that is called otherwise."""
        name, tensor = self.spec.inputs[index].name, self.node.inputs[index]
        if tensor is None:
            return f"{name} (absent)"
        return name if tensor == name else f"{name} (tensor {tensor})"


def _number(value: AttrValue) -> float | int:
    return value if isinstance(value, (int, float)) else 0


def bind_node(graph: Graph, index: int, host: Registry, chip: Chip, report: Report) -> BoundNode | None:
    """Node number `index` with its operator, or None after noting what is wrong.

    Raises:
        PluginError: the operator's own declaration is broken (kernel not supplied, impossible `depends`).
    """
    node = graph.nodes[index]
    spec = host.operators.get(node.type)
    if spec is None:
        if node.type:
            remedy = report.suggest(node.type, host.operators, f"known: {', '.join(sorted(host.operators))}")
            report.problem(
                "graph.unknown-operator", f"no operator {show(node.type)}", node_place(index, node, "type"), remedy
            )
        return None
    if not node.sound:
        return None
    _check_declaration(spec)
    before = len(report.problems)
    kernel = _kernel(spec, host, chip, node_place(index, node), report)
    _check_arity(spec, index, node, report)
    attrs, ge_attrs = _bind_attrs(spec, index, node, report)
    if kernel is None or len(report.problems) > before:
        return None
    return BoundNode(index, node, spec, kernel, attrs, ge_attrs)


def _check_declaration(spec: OperatorSpec) -> None:
    if any(not 0 <= k <= min(_MAX_DEPENDS_INDEX, len(spec.inputs) - 1) for k in spec.depends):
        raise PluginError(
            f"`depends` {spec.depends} names no IR input", id="plugin.depends", where=f"operator {spec.type}"
        )
    for each in spec.attrs:
        if each.kind not in _CONVERT:
            what = f"attribute {each.name} has kind {each.kind!r}"
            remedy = f"kinds are {', '.join(_CONVERT)}"
            raise PluginError(what, id="plugin.attr-kind", where=f"operator {spec.type}", remedy=remedy)


def _kernel(spec: OperatorSpec, host: Registry, chip: Chip, place: str, report: Report) -> KernelSpec | None:
    kernel = host.kernels.get(spec.kernel)
    if kernel is None:
        raise PluginError(
            f"no plugin supplies kernel {spec.kernel!r}",
            id="plugin.kernel",
            where=f"operator {spec.type}",
            remedy="switch on the plugin that has it",
        )
    if kernel.products and chip.product not in kernel.products:
        what = f"kernel {spec.kernel} of {spec.type} does not run on {chip.name} (product {chip.product})"
        report.problem("graph.kernel", what, place, f"it runs on {', '.join(kernel.products)}")
        return None
    return kernel


def _check_arity(spec: OperatorSpec, index: int, node: Node, report: Report) -> None:
    wanted = ", ".join(each.name + ("?" if each.optional else "") for each in spec.inputs)
    if len(node.inputs) != len(spec.inputs):
        what = f"{len(node.inputs)} inputs, {spec.type} has {len(spec.inputs)}"
        remedy = f"list them all, null for an absent one: {wanted}"
        report.problem("graph.arity", what, node_place(index, node, "inputs"), remedy)
    else:
        for k, (name, declared) in enumerate(zip(node.inputs, spec.inputs, strict=True)):
            if name is None and not declared.optional:
                what = f"input {declared.name} of {spec.type} must not be absent"
                report.problem("graph.missing-input", what, node_place(index, node, f"inputs[{k}]"), "connect a tensor")
    if len(node.outputs) != len(spec.outputs):
        what = f"{len(node.outputs)} outputs, {spec.type} has {len(spec.outputs)}"
        remedy = f"name them all: {', '.join(each.name for each in spec.outputs)}"
        report.problem("graph.arity", what, node_place(index, node, "outputs"), remedy)


def _bind_attrs(
    spec: OperatorSpec, index: int, node: Node, report: Report
) -> tuple[dict[str, AttrValue], dict[str, AttrValue]]:
    declared = {each.name: each for each in spec.attrs}
    bound = {name: each.default for name, each in declared.items()}
    preset: dict[str, AttrValue] = {}
    for name, value in node.attrs.items():
        kind = declared[name].kind if name in declared else GE_ATTRS.get(name)
        place = node_place(index, node, f"attrs.{name}")
        if kind is None:
            remedy = report.suggest(name, (*declared, *GE_ATTRS), f"{spec.type} has: {', '.join(declared) or 'none'}")
            report.problem("graph.attr", f"{spec.type} has no attribute {show(name)}", place, remedy)
        elif (good := _convert(kind, value)) is None or _too_large(name, good):
            shown = show(value) if not isinstance(value, tuple) else kind_of(value)
            report.problem("graph.attr", f"{shown} is not usable here", place, _ATTR_REMEDY[kind])
        else:
            (bound if name in declared else preset)[name] = good
    _note_required(declared, bound, node, node_place(index, node, "attrs"), report)
    return {name: value for name, value in bound.items() if value is not None}, preset


def _note_required(
    declared: Mapping[str, AttrSpec], bound: Mapping[str, AttrValue | None], node: Node, place: str, report: Report
) -> None:
    for name, each in declared.items():
        if bound[name] is None and name not in node.attrs:
            report.problem("graph.attr", f"attribute {name} is required", place, f"give a {each.kind}")


def _too_large(name: str, value: AttrValue) -> bool:
    return name in (OP_PARA_SIZE, DFX_BUFFER_SIZE) and _number(value) > _LARGEST_TILING_BYTES


def _as_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63 else None


def _as_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and value.bit_length() > 1000:
        return None
    return float(value) if math.isfinite(value) else None


def _as_str(value: object) -> str | None:
    if not isinstance(value, str) or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _as_ints(value: object) -> tuple[int, ...] | None:
    found = tuple(_as_int(item) for item in value) if isinstance(value, tuple) else (None,)
    good = tuple(item for item in found if item is not None)
    return good if len(good) == len(found) else None


def _as_floats(value: object) -> tuple[float, ...] | None:
    found = tuple(_as_float(item) for item in value) if isinstance(value, tuple) else (None,)
    good = tuple(item for item in found if item is not None)
    return good if len(good) == len(found) else None


_CONVERT: Mapping[str, Callable[[object], AttrValue | None]] = {
    "bool": lambda value: value if isinstance(value, bool) else None,
    "int": _as_int,
    "float": _as_float,
    "str": _as_str,
    "list_int": _as_ints,
    "list_float": _as_floats,
}
_ATTR_REMEDY: Mapping[str, str] = {
    "bool": "give true or false",
    "int": "give an integer of 64 bits; op_para_size and _op_dfx_buffer_size at most 16 MiB",
    "float": "give a finite number",
    "str": "give text without NUL",
    "list_int": "give a list of integers of 64 bits",
    "list_float": "give a list of finite numbers",
}


def _convert(kind: str, value: RawAttr) -> AttrValue | None:
    return _CONVERT[kind](value)
