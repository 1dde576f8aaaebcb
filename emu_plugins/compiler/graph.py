"""The graph as frozen values, after :mod:`emu_plugins.compiler.parse` has checked its JSON form.

Mirrors the vendor's `ge::ComputeGraph` with `OpDesc` and `GeTensorDesc`, reduced to what the compiler reads.
The JSON form is described in `docs/graph.md` and by `graph.schema.json` beside this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.operators import TensorInfo

RawAttr: TypeAlias = bool | int | float | str | tuple[int | float, ...]
"""An attribute as the graph gives it, before its operator says which kind it must be."""

GRAPH_FORMAT = "sqemu-graph"
GRAPH_VERSION = 1
MAX_RANK = 25
"""Dimensions of a shape (`reference/tiling_sink_compiler.md` 14.4: unknown rank reserves 25 words)."""


@dataclass(frozen=True)
class TensorDecl:
    """A graph input; `info.shape` may hold -1 or be (-2,)."""

    name: str
    info: TensorInfo


@dataclass(frozen=True)
class Constant:
    """A constant; `data` are its bytes in the carrier of its dtype, little endian, row major."""

    name: str
    info: TensorInfo
    data: bytes


@dataclass(frozen=True)
class Node:
    """An operator instance: tensor names per IR input (None: absent) and IR output, attributes as given.

    Attributes:
        inputs: the names one after the other, those of a dynamic input as well.
        lists: per entry of the node's list how many names it is a list of, or None for a plain one; empty when all are
            plain.

    `sound` is False when the parser had to put neutral values in; then only its type is worth a look.
    """

    name: str
    type: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    attrs: Mapping[str, RawAttr] = field(default_factory=dict)
    sound: bool = True
    lists: tuple[int | None, ...] = ()

    def input_part(self, slot: int) -> str:
        """Where input number `slot` of `inputs` stands in the node: `inputs[1]`, or `inputs[1][0]` in a list."""
        at = 0
        for entry, count in enumerate(self.lists):
            if slot < at + (1 if count is None else count):
                return f"inputs[{entry}]" if count is None else f"inputs[{entry}][{slot - at}]"
            at += 1 if count is None else count
        return f"inputs[{slot - at + len(self.lists)}]"


@dataclass(frozen=True)
class Graph:
    """A whole graph; nodes stand in the order of the file, which need not be an execution order."""

    name: str
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    inputs: tuple[TensorDecl, ...] = ()
    constants: tuple[Constant, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


def node_place(index: int, node: Node, part: str = "") -> str:
    """Where a problem is: JSON path of node number `index`, then the node's name."""
    path = f"nodes[{index}]" + (f".{part}" if part else "")
    return f"{path} (node {node.name})" if node.name else path
