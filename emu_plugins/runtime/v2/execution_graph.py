"""What an execution graph is: nodes that hand values to each other, and two stages.

Nodes of stage *init* are run once, when the program is loaded; those of stage *main* at every execution. The list is an
order in which every node comes behind those it depends on, and it is the order in which the host runs them.

| kind | takes | gives |
|---|---|---|
| SinkNodeBin, SinkFFTSAICoreNodeBin, SinkMixNodeBin | | the loaded binary |
| InferShape | | shapes of the outputs |
| RunInfo | | what the compiler stored: key, block dim, data, workspaces |
| CopyD2H | | the values that the tiling reads, after one host round trip |
| Tiling | shapes, values | key, block dim, data, workspaces |
| AllocWorkspace | sizes | addresses |
| CopyTilingData | data | its address on the device |
| GetKernelEntry | binary, key | the kernel's entry |
| GetFFTSAICorePcAndPref, GetMixAddrAndPrefCnt | binary, keys of non-tail and tail | entries of both |
| BuildArgs | addresses | the argument block |
| UpdateContext | entries, block dim | what the mix context of the launch holds |
| LaunchKernel | entry or context, block dim, schedule mode, arguments | |
| DavinciModelExecute | | a static model inside, run by V1 |

The vendor's names are those of `seed 5.7` and of its public code where there are any; `RunInfo` is a constant there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stage(StrEnum):
    """When a node runs: once at load, or at each execution."""

    INIT = "init"
    MAIN = "main"


class Kind(StrEnum):
    """What a node does; see the module text."""

    SINK_BIN = "SinkNodeBin"
    SINK_FFTS_BIN = "SinkFFTSAICoreNodeBin"
    SINK_MIX_BIN = "SinkMixNodeBin"
    INFER_SHAPE = "InferShape"
    RUN_INFO = "RunInfo"
    COPY_VALUES = "CopyD2H"
    TILING = "Tiling"
    ALLOC_WORKSPACE = "AllocWorkspace"
    COPY_TILING_DATA = "CopyTilingData"
    GET_ENTRY = "GetKernelEntry"
    GET_FFTS_ENTRY = "GetFFTSAICorePcAndPref"
    GET_MIX_ENTRY = "GetMixAddrAndPrefCnt"
    BUILD_ARGS = "BuildArgs"
    UPDATE_CONTEXT = "UpdateContext"
    LAUNCH = "LaunchKernel"
    EXECUTE_MODEL = "DavinciModelExecute"


@dataclass(frozen=True)
class Edge:
    """An input of a node: its name there, and which output of which node it is."""

    name: str
    node: int
    output: str


@dataclass(frozen=True)
class Node:
    """One node.

    Attributes:
        id: its position in the graph.
        label: operator, or the model inside.
        task: index of the blob's task it stems from. op: index of the operator, None for a model inside.
        kernel: index of the blob's kernel, or None for a model inside.
        inputs: values it takes. after: nodes that must have run before, without a value.
        outputs: names of what it gives.
        args_format: of `BuildArgs`: what the argument block holds.
        schem: of `RunInfo`: the schedule mode stored with the task.
        note: why it is as it is, for people.
    """

    id: int
    kind: Kind
    stage: Stage
    label: str
    task: int
    op: int | None = None
    kernel: int | None = None
    inputs: tuple[Edge, ...] = ()
    after: tuple[int, ...] = ()
    outputs: tuple[str, ...] = ()
    args_format: str = ""
    schem: int = 0
    note: str = ""

    def source(self, name: str) -> int:
        """Id of the node that gives the input `name`.

        Raises:
            KeyError: there is no such input.
        """
        return {edge.name: edge.node for edge in self.inputs}[name]

    def as_values(self) -> dict[str, object]:
        """The node as plain JSON values; an input is `node.output`."""
        found: dict[str, object] = {
            "node": self.id,
            "kind": self.kind.value,
            "stage": self.stage.value,
            "operator": None if self.op is None else self.label,
            "task": self.task,
            "inputs": {edge.name: f"{edge.node}.{edge.output}" for edge in self.inputs},
            "after": list(self.after),
            "outputs": list(self.outputs),
        }
        extra = {"args_format": self.args_format, "note": self.note}
        return found | {name: text for name, text in extra.items() if text}


@dataclass(frozen=True)
class ExecutionGraph:
    """The nodes of a program, in the order in which they run."""

    name: str
    nodes: tuple[Node, ...] = ()

    def of(self, stage: Stage) -> Iterator[Node]:
        """Nodes of `stage`, in order."""
        return (node for node in self.nodes if node.stage is stage)

    def as_values(self) -> dict[str, object]:
        """The graph as plain JSON values."""
        return {"name": self.name, "nodes": [node.as_values() for node in self.nodes]}
