"""Runtime V2: a program as an execution graph (`reference/tiling_sink_compiler.md` 12, seed 5.7).

| | V1 | V2 |
|---|---|---|
| who orders kernels | streams and events of a model | the host, node by node |
| option `ge.tiling_schedule_optimize` | decides at compile time what sinks | never looked at |
| tiling result | cells of the device, patched into the entry by an update | a value on an edge of the graph |
| task update | one per sinking operator and execution | none |

`lower` makes the graph of any task blob, `ExecutionSchedule` runs it; policy `runtime` of the loader chooses.
"""

from __future__ import annotations

from emu_plugins.runtime.v2.execution_graph import ExecutionGraph, Kind, Node, Stage
from emu_plugins.runtime.v2.lowering import lower

__all__ = ["ExecutionGraph", "Kind", "Node", "Stage", "lower"]
