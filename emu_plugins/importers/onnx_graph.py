"""ONNX models as graphs.

Operators keep their type whatever their domain is, as with GE's plugin for custom operators: a
`ChunkGatedDeltaRule` of domain `npu` is the registered operator of that name. Metadata whose key begins with `ge.`
are GE options.

| taken | from |
|---|---|
| graph inputs without an initializer | inputs; a symbolic dimension is -1, an input without shape has [-2] |
| initializers, `Constant` nodes with a tensor | constants |
| nodes | nodes; an empty input name is an absent optional input, a missing node name is made up |
| inputs of an operator with one dynamic input | that one takes what the others leave |
| attributes: float, int, string, floats, ints | attributes; an int becomes a bool where the operator wants one |

| not taken | |
|---|---|
| strings, sequences, maps, optional and sparse tensors, float8, 4-bit and complex types | no such element types |
| data outside of the file | only the file itself is read |
| graph and tensor attributes (`If`, `Loop`, `Scan`), model functions, training information | no control flow |
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emu_core.errors import GraphError, PluginError, Problem
from emu_plugins.importers.collect import UNSUPPORTED, Refusals, padded_inputs, padded_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emu_core.operators import OperatorSpec

DTYPES: Mapping[int, str] = MappingProxyType({
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
})  # fmt: skip
"""Element types by number of `TensorProto.DataType`."""
_EXTERNAL = 1
_FLOAT, _INT, _STRING, _FLOATS, _INTS = 1, 2, 3, 6, 7
"""Numbers of `AttributeProto.AttributeType`."""
_FIELDS: Mapping[int, str] = MappingProxyType({_FLOAT: "f", _INT: "i", _FLOATS: "floats", _INTS: "ints"})
_UNKNOWN_DIM, _UNKNOWN_RANK = -1, -2


def onnx_to_graph(data: bytes, operators: Mapping[str, OperatorSpec], *, source: str = "") -> Mapping[str, object]:
    """The graph of the ONNX model in `data`.

    Raises:
        PluginError: `extra.missing`: the package `onnx` is not installed.
        GraphError: `graph.import`: no ONNX model, or everything in it that cannot be taken.
    """
    try:
        onnx: Any = import_module("onnx")
    except ImportError:
        raise PluginError(
            "reading an ONNX model needs the extra `onnx`",
            id="extra.missing",
            where=source,
            remedy="install it: pip install 'sqemu[onnx]'",
        ) from None
    try:
        model: Any = onnx.load_model_from_string(data)
    except Exception as error:  # noqa: BLE001 - protobuf has its own exceptions by implementation
        what = f"is neither text nor an ONNX model ({type(error).__name__})"
        raise GraphError([Problem(UNSUPPORTED, what, "file", "check the file")], source=source) from None
    return _Reader(model, operators, Refusals(source)).read()


class _Reader:
    """One model on its way to a graph."""

    def __init__(self, model: Any, operators: Mapping[str, OperatorSpec], refusals: Refusals) -> None:  # noqa: ANN401 - a message of an extra
        self._model = model
        self._graph = model.graph
        self._operators = operators
        self._refusals = refusals
        self._names = {_text(node.name) for node in model.graph.node}

    def read(self) -> Mapping[str, object]:
        """The graph, or everything that is in the way."""
        graph = self._graph
        self._refuse_parts()
        initialised = {_text(tensor.name) for tensor in graph.initializer}
        constants = [self._constant(t, _text(t.name), f"initializer {_text(t.name)}") for t in graph.initializer]
        constants += [self._constant_node(node) for node in graph.node if _is_constant(node)]
        nodes = [self._node(i, node) for i, node in enumerate(graph.node) if not _is_constant(node)]
        found: dict[str, object] = {
            "format": "sqemu-graph",
            "version": 1,
            "name": _text(graph.name) or "onnx",
            "inputs": [self._input(value) for value in graph.input if _text(value.name) not in initialised],
            "constants": constants,
            "nodes": nodes,
            "outputs": [_text(value.name) for value in graph.output],
        }
        entries = ((_text(each.key), _text(each.value)) for each in self._model.metadata_props)
        options = {key: value for key, value in entries if key.startswith("ge.")}
        self._refusals.stop_if_bad()
        return {**found, **({"options": options} if options else {})}

    def _refuse_parts(self) -> None:
        model = self._model
        parts = (
            (model.functions, "the model has functions", "model", "inline them before the export"),
            (model.training_info, "the model has training information", "model", "export it for inference"),
            (self._graph.sparse_initializer, "the graph has sparse tensors", "graph", "make them dense"),
        )
        for there, what, where, remedy in parts:
            if there:
                self._refusals.note(what, where, remedy)

    def _input(self, value: Any) -> dict[str, object]:  # noqa: ANN401 - a message of an extra
        name = _text(value.name)
        where = f"input {name}"
        if not value.type.HasField("tensor_type"):
            self._refusals.note("is no tensor", where, "sequences, maps and optional values have no counterpart")
            return {}
        tensor = value.type.tensor_type
        return {"name": name, "dtype": self._dtype(tensor.elem_type, where), "shape": _dims(tensor)}

    def _dtype(self, number: int, where: str) -> str:
        if number not in DTYPES:
            self._refusals.note(f"has ONNX element type {number}", where, f"taken are {', '.join(DTYPES.values())}")
        return DTYPES.get(number, "")

    def _constant(self, tensor: Any, name: str, where: str) -> dict[str, object]:  # noqa: ANN401 - a message of an extra
        if tensor.data_location == _EXTERNAL:
            self._refusals.note("has its data in another file", where, "save the model in one file")
            return {}
        dtype = self._dtype(tensor.data_type, where)
        return {"name": name, "dtype": dtype, "shape": list(tensor.dims), "data": self._bytes(tensor, dtype, where)}

    def _bytes(self, tensor: Any, dtype: str, where: str) -> bytes:  # noqa: ANN401 - a message of an extra
        if not dtype:
            return b""
        try:
            helper: Any = import_module("onnx.numpy_helper")
            found: bytes = helper.to_array(tensor).tobytes()
        except (ValueError, TypeError) as error:
            self._refusals.note(f"its data cannot be read: {error}", where, "write the model again")
            return b""
        return found

    def _constant_node(self, node: Any) -> dict[str, object]:  # noqa: ANN401 - a message of an extra
        output = _text(node.output[0]) if node.output else ""
        where = f"node {_text(node.name) or output}"
        value = next((a.t for a in node.attribute if a.name == "value" and a.HasField("t")), None)
        if value is None or not output:
            self._refusals.note("is a Constant without a tensor", where, "give it the attribute `value` and an output")
            return {}
        return self._constant(value, output, where)

    def _node(self, index: int, node: Any) -> dict[str, object]:  # noqa: ANN401 - a message of an extra
        op_type = _text(node.op_type)
        name = _text(node.name) or self._free_name(op_type, index)
        attrs = dict(self._attributes(node, name))
        found: dict[str, object] = {
            "name": name,
            "type": op_type,
            "inputs": padded_inputs(op_type, [_text(each) or None for each in node.input], self._operators),
            "outputs": padded_outputs(op_type, [_text(each) for each in node.output], name, self._operators),
        }
        return {**found, "attrs": attrs} if attrs else found

    def _free_name(self, op_type: str, index: int) -> str:
        name = f"{op_type}_{index}"
        while name in self._names:
            name += "_"
        return name

    def _attributes(self, node: Any, name: str) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - a message of an extra
        spec = self._operators.get(_text(node.op_type))
        kinds = {each.name: each.kind for each in spec.attrs} if spec else {}
        for attribute in node.attribute:
            key, value = _text(attribute.name), _value(attribute)
            if value is None:
                what = f"attribute {key} is neither a number, a text nor a list of numbers"
                self._refusals.note(what, f"node {name}", "graphs and tensors as attributes have no counterpart")
            elif kinds.get(key) == "bool" and value in (0, 1):
                yield key, bool(value)
            else:
                yield key, value


def _dims(tensor: Any) -> list[int]:  # noqa: ANN401 - a message of an extra
    """Dimensions, -1 for a symbolic one; an unknown rank for a tensor without shape."""
    if not tensor.HasField("shape"):
        return [_UNKNOWN_RANK]
    return [dim.dim_value if dim.HasField("dim_value") else _UNKNOWN_DIM for dim in tensor.shape.dim]


def _text(value: str | bytes) -> str:
    """A text of a message; protobuf gives bytes where a damaged file has no UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _is_constant(node: Any) -> bool:  # noqa: ANN401 - a message of an extra
    return bool(_text(node.op_type) == "Constant" and _text(node.domain) in ("", "ai.onnx"))


def _value(attribute: Any) -> object:  # noqa: ANN401 - a message of an extra
    """The value of an attribute, or None for a type that has no counterpart."""
    if attribute.type == _STRING:
        return _text(attribute.s)
    field = _FIELDS.get(attribute.type)
    if field is None:
        return None
    found = getattr(attribute, field)
    return found if isinstance(found, (int, float)) else list(found)
