"""Importers: graphs of other formats become the JSON form that the compiler takes (`docs/graph.md`).

| input | found by | module |
|---|---|---|
| JSON graph | `{` | `emu_plugins.compiler.loading` |
| GE text graph (`ge_proto_*_Build.txt`) | `name: …` or `op {` | `ge_text`, `ge_graph` |
| ONNX model | a protobuf message whose fields are those of `ModelProto` | `onnx_graph` (extra `onnx`) |
| Python code | | `builder` |

:func:`read_graph` finds the kind by content; :class:`GraphBuilder` writes graphs in code.
"""

from __future__ import annotations

from emu_plugins.importers.builder import GraphBuilder, Tensor
from emu_plugins.importers.kinds import GraphKind, kind_of_bytes, read_graph

__all__ = ["GraphBuilder", "GraphKind", "Tensor", "kind_of_bytes", "read_graph"]
