"""What an operator's plugin registered about its tiling, and declarations that cannot be right.

Mirrors the vendor's `IMPL_OP(…).TilingInputsDataDependency` with `DataDependentInterpreter`, and
`OpDefFactory::OpTilingSinkRegister` with its sink list (`reference/tiling_sink_compiler.md` 3). One declaration serves
both sides here: an operator whose `placements` name the AI CPU has its tiling function on the device as well.

| declaration | what happens |
|---|---|
| an input of `depends` that does not exist, or number 64 or more | `plugin.depends` |
| the AI CPU without the host | `graph.host-placement` as soon as such a node depends on a value |
| no `depends` | nothing is ever marked; a preset `_tiling_sink_op` is refused (`graph.sink-depends`) |
| no AI CPU | gate G3 fails |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import PluginError
from emu_core.operators import Placement
from emu_plugins.compiler.attributes import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.operators import OperatorSpec
    from emu_core.policies import PolicySet

MAX_DEPENDS_INDEX = 63
"""Largest IR index that tiling may read: the mask of the registration has 64 bits."""


def depends_of(spec: OperatorSpec, policies: PolicySet) -> tuple[int, ...]:
    """IR inputs whose value the tiling of `spec` reads, ascending; none when its policy says `none`."""
    if spec.depends_policy and policies[spec.depends_policy] == "none":
        return ()
    return tuple(sorted(set(spec.depends)))


def dependency_mask(depends: Iterable[int]) -> int:
    """The vendor's 64-bit `tiling_dependency`: bit k is set when tiling reads IR input k."""
    return sum(1 << index for index in set(depends))


def sink_list(operators: Iterable[OperatorSpec]) -> tuple[str, ...]:
    """Types whose tiling function exists on the device, sorted: what `OpIsTilingSink` answers with yes."""
    return tuple(sorted(spec.type for spec in operators if spec.placements & Placement.AICPU))


def package_prefix(path_prefix: str) -> str:
    """The part of a path name prefix that names files: what stands behind its first `_`."""
    return path_prefix.partition("_")[2]


def check_declaration(spec: OperatorSpec) -> None:
    """Nothing when the declaration can be used.

    Raises:
        PluginError: `plugin.depends`, `plugin.attr-kind` or `plugin.package`.
    """
    where = f"operator {spec.type}"
    last = min(MAX_DEPENDS_INDEX, len(spec.inputs) - 1)
    if any(not 0 <= k <= last for k in spec.depends):
        what = f"`depends` {spec.depends} names no IR input"
        raise PluginError(what, id="plugin.depends", where=where, remedy=f"its inputs have the numbers 0 to {last}")
    for each in spec.attrs:
        if each.kind not in KINDS:
            what = f"attribute {each.name} has kind {each.kind!r}"
            raise PluginError(what, id="plugin.attr-kind", where=where, remedy=f"kinds are {', '.join(KINDS)}")
    if spec.package and not package_prefix(spec.package):
        what = f"package {spec.package!r} names no library"
        raise PluginError(what, id="plugin.package", where=where, remedy="write it as group_name, for example ops_mine")
