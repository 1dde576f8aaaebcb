"""A graph with everything the first two phases found out about it, handed to the passes that write the blob.

Mirrors what the vendor keeps on `ComputeGraph` and `OpDesc` as attributes between partitioning and task
generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.operators import TensorInfo
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode


@dataclass(frozen=True)
class Program:
    """An understood graph.

    Attributes:
        nodes: in execution order.
        infos: element type and static shape of every tensor, by name.
        marks: by node name.
        unknown_shape: the whole graph is host scheduled.
    """

    graph: Graph
    chip: Chip
    policies: PolicySet
    nodes: tuple[BoundNode, ...]
    infos: Mapping[str, TensorInfo]
    marks: Mapping[str, Marks]
    unknown_shape: bool
