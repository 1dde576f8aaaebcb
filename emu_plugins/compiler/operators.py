"""Nodes meet their operators: which one, how many tensors, which attributes, which kernel.

Mirrors the vendor's verification of an `OpDesc` against its IR definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from emu_core.errors import PluginError
from emu_plugins.compiler.attributes import (
    COMPILE_INFO,
    CORE_TYPE,
    DFX_BUFFER_SIZE,
    GE_ATTRS,
    IMPLY_TYPE,
    KERNEL_LIST,
    OP_PARA_SIZE,
    PATH_PREFIX,
    REMEDIES,
    SPLIT_CORE_TYPES,
    STREAM_LABEL,
    SUPER_KERNEL_SCOPE,
    contradictions,
    convert,
    number,
    too_large,
)
from emu_plugins.compiler.graph import node_place
from emu_plugins.compiler.registration import check_declaration, package_prefix
from emu_plugins.compiler.report import kind_of, show
from emu_plugins.tiling.instances import ir_of_slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.chips import Chip
    from emu_core.kernels import KernelSpec
    from emu_core.operators import AttrSpec, AttrValue, OperatorSpec
    from emu_core.policies import PolicySpec
    from emu_plugins.compiler.graph import Graph, Node
    from emu_plugins.compiler.report import Report
    from formats.blob.model import KernelType

STAGE = "operators"

_DEFAULT_TILING_BYTES = 16_384
_BUILT_IN_IMPLY_TYPES = frozenset({3, 4, 5, 6, 7, 8, 9})


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
        counts: tensors per IR input when one of them is dynamic, an ordinary one counting 1; else empty.
    """

    index: int
    node: Node
    spec: OperatorSpec
    kernel: KernelSpec
    attrs: Mapping[str, AttrValue]
    ge_attrs: Mapping[str, AttrValue]
    counts: tuple[int, ...] = ()

    @cached_property
    def ir_of(self) -> tuple[int, ...]:
        """IR index of each input of the node."""
        return ir_of_slots(self.counts or (1,) * len(self.spec.inputs))

    def ir_indices(self, slots: Iterable[int]) -> tuple[int, ...]:
        """IR indices of inputs `slots` of the node, ascending, each once."""
        return tuple(sorted({self.ir_of[slot] for slot in slots}))

    def slot_names(self, slot: int) -> tuple[str, str]:
        """Names of input `slot` of the node: its IR name, and with its number behind when the IR input is dynamic."""
        ir = self.ir_of[slot]
        name = self.spec.inputs[ir].name
        return name, f"{name}{slot - self.ir_of.index(ir)}" if self.spec.inputs[ir].dynamic else name

    @property
    def custom(self) -> bool:
        """Custom operator: by `_fe_imply_type` when preset (`tiling_sink_compiler.md` 6.4), else by its declaration."""
        imply = self.ge_attrs.get(IMPLY_TYPE)
        return self.spec.custom if imply is None else int(number(imply)) & 0xFFFFFFFF not in _BUILT_IN_IMPLY_TYPES

    @property
    def prefix(self) -> str:
        """File name part of the operator's package, empty when it has none (`tiling_sink_compiler.md` 6.4)."""
        return package_prefix(str(self.ge_attrs.get(PATH_PREFIX, self.spec.package)))

    @property
    def own_library(self) -> bool:
        """Custom or of a package: its tiling is not in the built-in library, and it gets a log workspace."""
        return self.custom or bool(self.prefix)

    @property
    def stream_label(self) -> str:
        """Operators of one label share a main stream; those without one are on the first."""
        return str(self.ge_attrs.get(STREAM_LABEL, ""))

    @property
    def super_kernel_scope(self) -> str:
        """Operators of one scope may be fused; empty for one that is in none."""
        return str(self.ge_attrs.get(SUPER_KERNEL_SCOPE, ""))

    @property
    def has_kernel_list(self) -> bool:
        """`_kernel_list_first_name` is there, as with every dynamic-shape binary: the kernel is launched by handle."""
        return bool(self.ge_attrs.get(KERNEL_LIST, self.spec.kernel if self.compile_info else ""))

    @property
    def on_vector_core(self) -> bool:
        """The kernel goes to the separate vector cores (`_cube_vector_core_type`)."""
        return self.ge_attrs.get(CORE_TYPE) == "VectorCore"

    @property
    def split_type(self) -> KernelType | None:
        """Kernel type of an operator whose kernel is split over AI Cores and vector cores, else None."""
        return SPLIT_CORE_TYPES.get(str(self.ge_attrs.get(CORE_TYPE, "")))

    @property
    def compile_info(self) -> str:
        """`compile_info_json`; empty when the kernel is no dynamic-shape binary."""
        return str(self.ge_attrs.get(COMPILE_INFO, self.spec.compile_info))

    @property
    def tiling_capacity(self) -> int:
        """Bytes of tiling data the operator may write; absent or negative `op_para_size` means 16384."""
        given = self.ge_attrs.get(OP_PARA_SIZE, self.spec.tiling_capacity)
        size = -1 if given is None else int(number(given))
        return size if size >= 0 else _DEFAULT_TILING_BYTES

    @property
    def dfx_buffer_bytes(self) -> int:
        """`_op_dfx_buffer_size`: bytes by which workspace 0 grows."""
        return max(int(number(self.ge_attrs.get(DFX_BUFFER_SIZE, 0))), 0)

    def flag(self, name: str) -> bool:
        """GE attribute `name` is preset to true."""
        return self.ge_attrs.get(name) is True

    def place(self, part: str = "") -> str:
        """Where a problem of this node is."""
        return node_place(self.index, self.node, part)

    def input_words(self, slot: int) -> str:
        """Input `slot` of the node as messages name it: its IR name, and the tensor where that is called otherwise."""
        name, tensor = self.slot_names(slot)[1], self.node.inputs[slot]
        if tensor is None:
            return f"{name} (absent)"
        return name if tensor == name else f"{name} (tensor {tensor})"


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
            remedy += "; --plugin loads a plugin that brings others"
            report.problem(
                "graph.unknown-operator", f"no operator {show(node.type)}", node_place(index, node, "type"), remedy
            )
        return None
    if not node.sound:
        return None
    check_declaration(spec)
    before = len(report.problems)
    kernel = _kernel(spec, host, chip, node_place(index, node), report)
    _check_arity(spec, index, node, report)
    attrs, ge_attrs = _bind_attrs(spec, index, node, report)
    if kernel is None or len(report.problems) > before:
        return None
    return BoundNode(index, node, spec, kernel, attrs, ge_attrs, _counts(spec, node))


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
    wanted = ", ".join(
        f"[{each.name}0, …]" if each.dynamic else each.name + ("?" if each.optional else "") for each in spec.inputs
    )
    lists = node.lists or (None,) * len(node.inputs)
    if len(lists) != len(spec.inputs):
        what = f"{len(lists)} inputs, {spec.type} has {len(spec.inputs)}"
        remedy = f"list them all, null for an absent one: {wanted}"
        report.problem("graph.arity", what, node_place(index, node, "inputs"), remedy)
    else:
        _check_inputs(spec, index, node, lists, report)
    if len(node.outputs) != len(spec.outputs):
        what = f"{len(node.outputs)} outputs, {spec.type} has {len(spec.outputs)}"
        remedy = f"name them all: {', '.join(each.name for each in spec.outputs)}"
        report.problem("graph.arity", what, node_place(index, node, "outputs"), remedy)


def _check_inputs(spec: OperatorSpec, index: int, node: Node, lists: tuple[int | None, ...], report: Report) -> None:
    """Lists where the operator has dynamic inputs and nowhere else, and every input there that must be."""
    names = iter(node.inputs)
    for k, (count, declared) in enumerate(zip(lists, spec.inputs, strict=True)):
        taken = [next(names) for _ in range(1 if count is None else count)]
        place = node_place(index, node, f"inputs[{k}]")
        if declared.dynamic and not count:
            what = f"input {declared.name} of {spec.type} is dynamic: it takes a list of one or more tensors"
            report.problem("graph.dynamic-input", what, place, "write a list of names")
        elif count is not None and not declared.dynamic:
            what = f"input {declared.name} of {spec.type} takes one tensor, not a list"
            report.problem("graph.dynamic-input", what, place, "write one name")
        elif taken == [None] and not declared.optional:
            what = f"input {declared.name} of {spec.type} must not be absent"
            report.problem("graph.missing-input", what, place, "connect a tensor")


def _counts(spec: OperatorSpec, node: Node) -> tuple[int, ...]:
    """Tensors per IR input, or empty when none is dynamic."""
    if not any(each.dynamic for each in spec.inputs):
        return ()
    return tuple(1 if count is None else count for count in node.lists)


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
        elif (good := convert(kind, value)) is None or too_large(name, good):
            shown = show(value) if not isinstance(value, tuple) else kind_of(value)
            report.problem("graph.attr", f"{shown} is not usable here", place, REMEDIES[kind])
        else:
            (bound if name in declared else preset)[name] = good
    _note_required(declared, bound, node, node_place(index, node, "attrs"), report)
    for name, what, remedy in contradictions(preset):
        report.problem("graph.contradiction", f"{name} {what}", node_place(index, node, f"attrs.{name}"), remedy)
    return {name: value for name, value in bound.items() if value is not None}, preset


def _note_required(
    declared: Mapping[str, AttrSpec], bound: Mapping[str, AttrValue | None], node: Node, place: str, report: Report
) -> None:
    for name, each in declared.items():
        if bound[name] is None and name not in node.attrs:
            report.problem("graph.attr", f"attribute {name} is required", place, f"give a {each.kind}")
