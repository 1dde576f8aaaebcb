"""A graph with everything the first two phases found out about it, handed to the passes that write the blob.

Mirrors what the vendor keeps on `ComputeGraph` and `OpDesc` as attributes between partitioning and task
generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from emu_plugins.compiler.sink import check_tiling_sink

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.operators import TensorInfo
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.partition import Partition


@dataclass(frozen=True)
class Program:
    """An understood graph.

    Attributes:
        nodes: in execution order.
        infos: element type and static shape of every tensor, by name.
        marks: by node name.
        partition: which nodes are of unknown shape, and whether the whole graph is.
    """

    graph: Graph
    chip: Chip
    policies: PolicySet
    nodes: tuple[BoundNode, ...]
    infos: Mapping[str, TensorInfo]
    marks: Mapping[str, Marks]
    partition: Partition

    @property
    def unknown_shape(self) -> bool:
        """The graph is host scheduled, apart from static models inside."""
        return self.partition.unknown_graph

    def owner_unknown(self, bound: BoundNode) -> bool:
        """The graph that owns the node, the whole or a static model inside, is host scheduled."""
        return bound.node.name not in self.partition.static

    def sinks(self, bound: BoundNode) -> bool:
        """FE's own condition, asked afresh by every pass that needs it."""
        return check_tiling_sink(bound, self.marks[bound.node.name], unknown_graph=self.owner_unknown(bound))

    def units(self) -> tuple[tuple[BoundNode, ...], ...]:
        """Neighbours in the execution order with one owner: each static model, and what is host scheduled between."""
        kept = [part.nodes for part in self.partition.parts if part.kept]
        owner = {name: at for at, names in enumerate(kept) for name in names}
        groups = groupby(self.nodes, key=lambda bound: owner.get(bound.node.name, -1))
        return tuple(tuple(members) for _, members in groups)
