"""Which format a file has, by its content, and its graph as the compiler's mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from emu_core.errors import GraphError, Problem
from emu_core.extensions import HEAD
from emu_plugins.compiler.loading import load_graph_text
from emu_plugins.om.magic import MAGIC_BYTES
from formats.magic import BLOB_START

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.extensions import ImporterSpec
    from emu_core.operators import OperatorSpec

_TEXT_START = re.compile(r"(?:\s|#[^\n]*\n)*[A-Za-z_]\w*\s*(?::|\{|<)")
_ONNX_FIELDS = frozenset({0x08, 0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72, 0xA2, 0xCA})
"""First bytes of the fields of an ONNX `ModelProto`: tag and wire type; most writers begin with `ir_version`, 8."""
_WHERE = "file"
_REMEDY = "give a graph (JSON, ONNX, or GE text) or a blob written by `sqemu compile`"
_RUN = "give it to `sqemu run`, `check` or `dump`"


class GraphKind(StrEnum):
    """Formats of graphs."""

    JSON = "JSON graph"
    GE_TEXT = "GE text graph"
    ONNX = "ONNX model"


def kind_of_bytes(data: bytes) -> GraphKind | None:
    """The format of `data`, or None when it is neither UTF-8 text nor like an ONNX model.

    Text is JSON unless it begins like a protobuf text message: a field name with `:`, `{` or `<`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return GraphKind.ONNX if data[0] in _ONNX_FIELDS else None
    if data[:1] in {b"\x08", b"\x12"} or "\0" in text:
        return GraphKind.ONNX
    return GraphKind.GE_TEXT if _TEXT_START.match(text) else GraphKind.JSON


def read_graph(
    data: bytes,
    operators: Mapping[str, OperatorSpec],
    *,
    source: str = "",
    foreign: Callable[[bytes], ImporterSpec | None] | None = None,
) -> Mapping[str, object]:
    """The graph in `data` as the mapping that the compiler takes.

    Args:
        data: a whole file of any format that is known here.
        operators: the registered ones by type: an importer completes optional inputs and outputs from their definition.
        source: file name for messages.
        foreign: gives the importer of a plugin for a file that begins like this, if there is one; asked before ours.
            What its `read` gives is taken as it is.

    Raises:
        GraphError: no known format (`graph.json`), or what the importer cannot take, all of it together.
        PluginError: `extra.missing`: the format needs an extra that is not installed.
    """
    if data.startswith(BLOB_START):
        raise GraphError([Problem("graph.json", "is a task blob, compiled already", _WHERE, _RUN)], source=source)
    if data.startswith(MAGIC_BYTES):
        raise GraphError([Problem("graph.json", "is an offline model, compiled already", _WHERE, _RUN)], source=source)
    importer = foreign(data[:HEAD]) if foreign is not None and data else None
    if importer is not None:
        return importer.read(data, operators, source)
    kind = kind_of_bytes(data) if data else GraphKind.JSON
    if kind is None:
        raise _refused(f"is neither a task blob nor a graph: byte {_first_bad(data)} is no UTF-8 text", source)
    if kind is GraphKind.ONNX:
        from emu_plugins.importers.onnx_graph import onnx_to_graph  # noqa: PLC0415 - an extra, rarely used

        return onnx_to_graph(data, operators, source=source)
    text = data.decode("utf-8-sig")
    if kind is GraphKind.GE_TEXT:
        from emu_plugins.importers.ge_graph import ge_text_to_graph  # noqa: PLC0415 - rarely used

        return ge_text_to_graph(text, operators, source=source)
    graph = load_graph_text(text, source=source)
    if not isinstance(graph, Mapping):
        raise GraphError(
            [Problem("graph.json", "is not a JSON object", "graph", "see docs/graph.md for the form of a graph")],
            source=source,
        )
    return graph


def _first_bad(data: bytes) -> int:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _refused(what: str, source: str) -> GraphError:
    return GraphError([Problem("graph.json", what, _WHERE, _REMEDY)], source=source)
