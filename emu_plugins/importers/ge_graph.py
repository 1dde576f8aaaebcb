"""GE text graphs (`ge_proto_*_Build.txt`: a `ModelDef` or `GraphDef` in protobuf's text form) as graphs.

| GE | here (`reference/om_format.md` 8) |
|---|---|
| `Data` operators, by their attribute `index` | graph inputs |
| `Const`, `Constant` with attribute `value` | constants |
| `NetOutput` | graph outputs, in the order of its inputs |
| other operators | nodes; tensor `name:k` is output k |
| `input` entries `producer:k`, empty for an unconnected one | inputs; by name where `_input_name_key` tells the names |
| attributes that the operator declares, GE attributes that the compiler reads | attributes; all others are dropped |
| attributes of the graph whose key begins with `ge.` | options |

Not taken: several graphs in one model (subgraphs), control edges, element types without a counterpart, and constants
whose data are elsewhere (`FileConstant`).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import GraphError, Problem
from emu_plugins.compiler.attributes import GE_ATTRS
from emu_plugins.importers.collect import UNSUPPORTED, Refusals, named_inputs, padded_inputs, padded_outputs
from emu_plugins.importers.ge_text import TextError, parse_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.operators import OperatorSpec
    from emu_plugins.importers.collect import Entry
    from emu_plugins.importers.ge_text import Message, Value

DTYPES: Mapping[str, str] = MappingProxyType({
    "DT_FLOAT": "float32", "DT_FLOAT16": "float16", "DT_INT8": "int8", "DT_UINT8": "uint8", "DT_INT16": "int16",
    "DT_UINT16": "uint16", "DT_INT32": "int32", "DT_INT64": "int64", "DT_UINT32": "uint32", "DT_UINT64": "uint64",
    "DT_BOOL": "bool", "DT_DOUBLE": "float64", "DT_BF16": "bfloat16", "DT_BFLOAT16": "bfloat16",
})  # fmt: skip
"""Element types by name in `ge_ir.proto`."""
_INPUTS, _CONSTANTS, _OUTPUT = frozenset({"Data", "RefData"}), frozenset({"Const", "Constant"}), "NetOutput"
_CONTROL = "-1"


def ge_text_to_graph(text: str, operators: Mapping[str, OperatorSpec], *, source: str = "") -> Mapping[str, object]:
    """The graph in `text`.

    Raises:
        GraphError: `graph.import`: the text is no message, or everything in it that cannot be taken.
    """
    try:
        message = parse_text(text)
    except TextError as error:
        found = Problem(UNSUPPORTED, error.what, f"line {error.line}", "a GE text graph is protobuf text")
        raise GraphError([found], source=source) from None
    refusals = Refusals(source)
    graphs = _messages(message, "graph")
    if len(graphs) > 1:
        refusals.note(f"the model has {len(graphs) - 1} subgraphs", "model", "inline them")
    graph = graphs[0] if graphs else message
    name = _text(graph, "name") or _text(message, "name") or "ge"
    return _Reader(graph, name, operators, refusals).read()


class _Reader:
    """One graph message on its way to a graph."""

    def __init__(self, graph: Message, name: str, operators: Mapping[str, OperatorSpec], refusals: Refusals) -> None:
        self._graph = graph
        self._name = name
        self._operators = operators
        self._refusals = refusals
        self._ops = _messages(graph, "op")
        self._types = {_text(op, "name"): _text(op, "type") for op in self._ops}

    def read(self) -> Mapping[str, object]:
        """The graph, or everything that is in the way."""
        data = [op for op in self._ops if _text(op, "type") in _INPUTS]
        data.sort(key=lambda op: _index(_attributes(op).get("index", {})))
        found: dict[str, object] = {
            "format": "sqemu-graph",
            "version": 1,
            "name": self._name,
            "inputs": [{"name": _text(op, "name"), **self._desc(op, "output_desc")} for op in data],
            "constants": [self._constant(op) for op in self._ops if _text(op, "type") in _CONSTANTS],
            "nodes": [self._node(op) for op in self._ops if self._is_node(_text(op, "type"))],
            "outputs": [name for name in self._outputs() if name is not None],
        }
        options = {
            key: _shown(value)
            for key, value in _attributes(self._graph).items()
            if key.startswith("ge.") and isinstance(_shown(value), str)
        }
        self._refusals.stop_if_bad()
        return {**found, **({"options": options} if options else {})}

    @staticmethod
    def _is_node(op_type: str) -> bool:
        return op_type not in _INPUTS | _CONSTANTS | {_OUTPUT}

    def _outputs(self) -> list[str | None]:
        """Tensors that `NetOutput` reads; without one, those that the graph itself lists."""
        ends = [op for op in self._ops if _text(op, "type") == _OUTPUT]
        if ends:
            return [name for op in ends for name in self._sources(op)]
        return [self._tensor(str(_decoded(each)), "graph") for each in self._graph.get("output", [])]

    def _desc(self, op: Message, field: str) -> dict[str, object]:
        """Element type and shape of the first tensor description of `op`."""
        found = _messages(op, field)
        where = f"op {_text(op, 'name')}"
        if not found:
            self._refusals.note(f"has no {field}", where, "write the graph with its tensor descriptions")
            return {}
        return self._type_and_shape(found[0], where)

    def _type_and_shape(self, desc: Message, where: str) -> dict[str, object]:
        dtype = str(_first(desc, "dtype", "DT_FLOAT"))
        if dtype not in DTYPES:
            self._refusals.note(f"has element type {dtype}", where, f"taken are {', '.join(DTYPES)}")
        dims = [dim for shape in _messages(desc, "shape") for dim in shape.get("dim", [])]
        return {"dtype": DTYPES.get(dtype, ""), "shape": dims}

    def _constant(self, op: Message) -> dict[str, object]:
        name = _text(op, "name")
        tensors = _messages(_attributes(op).get("value", {}), "t")
        if not tensors:
            self._refusals.note("is a constant without data", f"op {name}", "write the weights into the text as well")
            return {}
        data = b"".join(each for each in tensors[0].get("data", []) if isinstance(each, bytes))
        descs = _messages(tensors[0], "desc")
        found = self._type_and_shape(descs[0], f"op {name}") if descs else self._desc(op, "output_desc")
        return {"name": name, **found, "data": data}

    def _node(self, op: Message) -> dict[str, object]:
        name, op_type = _text(op, "name"), _text(op, "type")
        outputs = [f"{name}:{k}" for k in range(len(_messages(op, "output_desc")))]
        found: dict[str, object] = {
            "name": name,
            "type": op_type,
            "inputs": self._ir_inputs(op, op_type),
            "outputs": padded_outputs(op_type, outputs, name, self._operators),
        }
        attrs = self._attrs(op, op_type)
        return {**found, "attrs": attrs} if attrs else found

    def _ir_inputs(self, op: Message, op_type: str) -> list[Entry]:
        """Inputs by IR index: by name where the text tells the names of its instances, else in order."""
        sources, spec = self._sources(op), self._operators.get(op_type)
        attributes = _attributes(op)
        names = [_decoded(each) for each in _listed(attributes.get("_input_name_key", {}), "s")]
        places = _listed(attributes.get("_input_name_value", {}), "i")
        if spec is None or not names or len(names) != len(places):
            return padded_inputs(op_type, sources, self._operators)
        pairs = zip(names, places, strict=True)
        by_name = {str(n): sources[k] for n, k in pairs if isinstance(k, int) and k < len(sources)}
        return named_inputs(spec, by_name)

    def _sources(self, op: Message) -> list[str | None]:
        """Tensors of the data inputs of `op`, None for one that is not connected."""
        where = f"op {_text(op, 'name')}"
        listed = [str(_decoded(each)) for each in op.get("input", [])]
        control = [each for each in listed if each.rpartition(":")[2] == _CONTROL]
        if control:
            what = f"has control edges from {', '.join(control[:4])}"
            self._refusals.note(what, where, "data edges alone order the operators of a graph; drop them")
        return [self._tensor(each, where) if each else None for each in listed if each not in control]

    def _tensor(self, source: str, where: str) -> str:
        """Name of the tensor `producer:k`."""
        producer, colon, number = source.rpartition(":")
        if not colon or not number.isdigit():
            self._refusals.note(f"input {source!r} is not producer:number", where, "check the text")
        op_type = self._types.get(producer, "")
        return producer if op_type in _INPUTS | _CONSTANTS else source

    def _attrs(self, op: Message, op_type: str) -> dict[str, object]:
        spec = self._operators.get(op_type)
        wanted = {*GE_ATTRS, *((each.name for each in spec.attrs) if spec else ())}
        found = {key: _shown(value) for key, value in _attributes(op).items() if key in wanted}
        return {key: value for key, value in found.items() if value is not None}


def _messages(message: Message, field: str) -> list[Message]:
    return [each for each in message.get(field, []) if isinstance(each, dict)]


def _first(message: Message, field: str, otherwise: Value) -> Value:
    found = message.get(field, [])
    return found[0] if found else otherwise


def _decoded(value: Value) -> Value:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _text(message: Message, field: str) -> str:
    return str(_decoded(_first(message, field, "")))


def _attributes(message: Message) -> dict[str, Message]:
    """Attributes of an operator or graph: map entries of key and value."""
    return {
        _text(entry, "key"): values[0] for entry in _messages(message, "attr") if (values := _messages(entry, "value"))
    }


def _index(value: Message) -> int:
    found = _first(value, "i", 0)
    return found if isinstance(found, int) else 0


def _listed(value: Message, field: str) -> Sequence[Value]:
    return [each for listed in _messages(value, "list") for each in listed.get(field, [])]


def _shown(value: Message) -> object:
    """An attribute's value, or None for a kind that has no counterpart."""
    if "b" in value:
        return _first(value, "b", "false") in ("true", 1, "t", "True")
    for field in ("i", "s"):
        if field in value:
            return _decoded(value[field][0])
    if "f" in value:
        number = value["f"][0]
        return float(number) if isinstance(number, (int, float)) else None
    for field in ("i", "f"):
        if numbers := _listed(value, field):
            return list(numbers)
    return None
