"""JSON form of a graph to :class:`~emu_plugins.compiler.graph.Graph`: structure, types and names of keys.

Mirrors what the vendor's parsers guarantee before `GraphManager::AddGraph`: after this pass every field has
its type. All problems are noted; a bad field gets a neutral value so that the rest is still looked at.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from emu_core.operators import TensorInfo
from emu_plugins.compiler.constants import ConstantError, NpzRef, pack_numbers, raw_bytes
from emu_plugins.compiler.graph import GRAPH_FORMAT, GRAPH_VERSION, MAX_RANK, Constant, Graph, Node, TensorDecl
from emu_plugins.compiler.report import kind_of, show
from formats.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_plugins.compiler.constants import NpzLoader
    from emu_plugins.compiler.graph import RawAttr
    from emu_plugins.compiler.report import Report

_Object: TypeAlias = "Mapping[object, object]"

MAX_NAME = 255
_LARGEST_DIM = 2**63 - 1
_UNKNOWN_DIM, _UNKNOWN_RANK = -1, -2

_KEYS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "graph": (("format", "version", "name", "nodes", "outputs"), ("options", "inputs", "constants")),
    "input": (("name", "dtype", "shape"), ()),
    "constant": (("name", "dtype", "shape", "data"), ()),
    "node": (("name", "type", "inputs", "outputs"), ("attrs",)),
    "npz": (("npz", "key"), ()),
}
"""Required and optional keys of each kind of object; keys that start with `x-` are the user's own."""


def parse_graph(raw: object, report: Report, load_npz: NpzLoader) -> Graph:
    """The graph in `raw`; problems go to `report`, and with any the returned graph is only good for more checks."""
    if not isinstance(raw, Mapping):
        report.problem("graph.type", f"the graph is {kind_of(raw)}, not an object", "graph")
        return Graph("", (), ())
    _check_keys(raw, "graph", "", report)
    _check_version(raw, report)
    return Graph(
        name=_name(raw, "name", "", report),
        nodes=tuple(_node(item, f"nodes[{i}]", report) for i, item in _items(raw, "nodes", "", report)),
        outputs=tuple(_names(raw, "outputs", "", report)),
        inputs=tuple(_input(item, f"inputs[{i}]", report) for i, item in _items(raw, "inputs", "", report)),
        constants=tuple(
            _constant(item, f"constants[{i}]", report, load_npz)
            for i, item in _items(raw, "constants", "", report)
        ),
        options=_options(raw.get("options", {}), report),
    )  # fmt: skip


def _check_version(raw: _Object, report: Report) -> None:
    if "format" in raw and raw["format"] != GRAPH_FORMAT:
        report.problem("graph.format", f"format is {show(raw['format'])}", "format", f'write "{GRAPH_FORMAT}"')
    version = raw.get("version", GRAPH_VERSION)
    if type(version) is not int or version != GRAPH_VERSION:
        report.problem("graph.version", f"version is {show(version)}", "version", f"this program reads {GRAPH_VERSION}")


def _check_keys(raw: _Object, kind: str, path: str, report: Report) -> None:
    required, optional = _KEYS[kind]
    known = required + optional
    for key in raw:
        if not isinstance(key, str) or (key not in known and not key.startswith("x-")):
            hint = report.suggest(str(key)[:MAX_NAME], known, f"known keys: {', '.join(known)}") if key else ""
            report.problem("graph.unknown-key", f"unknown key {show(key)}", path or "graph", hint)
    for key in required:
        if key not in raw:
            report.problem("graph.missing-key", f"key {key!r} is missing", path or "graph")


def _object(raw: object, kind: str, path: str, report: Report) -> _Object:
    if isinstance(raw, Mapping):
        _check_keys(raw, kind, path, report)
        return raw
    report.problem("graph.type", f"is {kind_of(raw)}, not an object", path)
    return {}


def _items(raw: _Object, key: str, path: str, report: Report) -> Iterable[tuple[int, object]]:
    value = raw.get(key, ())
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    report.problem("graph.type", f"is {kind_of(value)}, not a list", _join(path, key))
    return ()


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _valid_name(value: object, path: str, report: Report) -> str:
    """`value` if it can name something, else "" after noting why not."""
    if not isinstance(value, str):
        report.problem("graph.type", f"is {kind_of(value)}, not a string", path)
    elif not value:
        report.problem("graph.name", "the name is empty", path)
    elif len(value) > MAX_NAME:
        report.problem("graph.name", f"the name has {len(value)} characters", path, f"use at most {MAX_NAME}")
    elif not value.isprintable():
        report.problem("graph.name", f"name {show(value)} has characters that cannot be printed", path)
    else:
        return value
    return ""


def _name(raw: _Object, key: str, path: str, report: Report) -> str:
    return _valid_name(raw[key], _join(path, key), report) if key in raw else ""


def _names(raw: _Object, key: str, path: str, report: Report) -> Iterable[str]:
    for i, item in _items(raw, key, path, report):
        yield _valid_name(item, f"{_join(path, key)}[{i}]", report)


def _info(raw: _Object, path: str, report: Report) -> TensorInfo:
    dtype = _name(raw, "dtype", path, report)
    if dtype and dtype not in BY_NAME:
        hint = report.suggest(dtype, BY_NAME, f"use one of {', '.join(BY_NAME)}")
        report.problem("graph.dtype", f"unknown dtype {show(dtype)}", _join(path, "dtype"), hint)
        dtype = ""
    return TensorInfo(dtype, _shape(raw, path, report))


def _shape(raw: _Object, path: str, report: Report) -> tuple[int, ...]:
    found = raw.get("shape", ())
    place = _join(path, "shape")
    if not isinstance(found, (list, tuple)):
        report.problem("graph.type", f"is {kind_of(found)}, not a list", place)
        return ()
    if len(found) > MAX_RANK:
        report.problem("graph.shape", f"{len(found)} dimensions", place, f"at most {MAX_RANK} are possible")
        return ()
    good = [_dimension(dim, f"{place}[{i}]", len(found), report) for i, dim in enumerate(found)]
    return tuple(dim for dim in good if dim is not None)


def _integer(given: object) -> int | None:
    """`given` as an integer, numpy's own included; None when it is none."""
    try:
        return None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def _dimension(given: object, place: str, rank: int, report: Report) -> int | None:
    dim = _integer(given)
    if dim is None:
        what = f"{kind_of(given)} {show(given)}" if isinstance(given, (str, bool, float)) else kind_of(given)
        report.problem("graph.shape", f"dimension is {what}, not an integer", place)
    elif dim > _LARGEST_DIM:
        report.problem("graph.shape", f"dimension {show(dim)} does not fit 64 bits", place)
    elif dim < _UNKNOWN_RANK or (dim == _UNKNOWN_RANK and rank != 1):
        remedy = "use 0 or more, -1 for an unknown dimension, or [-2] for an unknown rank"
        report.problem("graph.shape", f"dimension is {show(dim)}", place, remedy)
    else:
        return dim
    return None


def _input(item: object, path: str, report: Report) -> TensorDecl:
    raw = _object(item, "input", path, report)
    return TensorDecl(_name(raw, "name", path, report), _info(raw, path, report))


def _constant(item: object, path: str, report: Report, load_npz: NpzLoader) -> Constant:
    before = len(report.problems)
    raw = _object(item, "constant", path, report)
    name, info = _name(raw, "name", path, report), _info(raw, path, report)
    usable = "data" in raw and len(report.problems) == before
    return Constant(name, info, _data(raw["data"], info, path, report, load_npz) if usable else b"")


def _data(data: object, info: TensorInfo, path: str, report: Report, load_npz: NpzLoader) -> bytes:
    place = _join(path, "data")
    if any(dim < 0 for dim in info.shape):
        report.problem("graph.shape", "a constant has no unknown dimensions", _join(path, "shape"))
        return b""
    dtype = BY_NAME[info.dtype]
    try:
        if isinstance(data, (list, tuple)):
            return pack_numbers(data, info, dtype)
        if isinstance(data, bytes):
            return raw_bytes(data, info, dtype)
        if isinstance(data, Mapping):
            before = len(report.problems)
            raw = _object(data, "npz", place, report)
            ref = NpzRef(_name(raw, "npz", place, report), _name(raw, "key", place, report))
            return load_npz(ref, info, dtype) if len(report.problems) == before else b""
        report.problem("graph.type", f"is {kind_of(data)}, neither a list nor an npz reference", place)
    except ConstantError as error:
        report.problem("graph.constant", error.what, place, error.remedy)
    return b""


def _node(item: object, path: str, report: Report) -> Node:
    before = len(report.problems)
    raw = _object(item, "node", path, report)
    inputs = [_node_input(each, f"{path}.inputs[{i}]", report) for i, each in _items(raw, "inputs", path, report)]
    dynamic = any(isinstance(each, tuple) for each in inputs)
    node = Node(
        name=_name(raw, "name", path, report),
        type=_name(raw, "type", path, report),
        inputs=tuple(name for each in inputs for name in (each if isinstance(each, tuple) else (each,))),
        outputs=tuple(_names(raw, "outputs", path, report)),
        attrs=_attrs(raw.get("attrs", {}), _join(path, "attrs"), report),
        lists=tuple(len(each) if isinstance(each, tuple) else None for each in inputs) if dynamic else (),
    )
    return node if len(report.problems) == before else replace(node, sound=False)


def _node_input(item: object, path: str, report: Report) -> str | tuple[str, ...] | None:
    """One entry of a node's inputs: a name, None for an absent one, or the names of a dynamic one."""
    if isinstance(item, (list, tuple)):
        return tuple(_valid_name(each, f"{path}[{k}]", report) for k, each in enumerate(item))
    return None if item is None else _valid_name(item, path, report)


def _attrs(raw: object, path: str, report: Report) -> dict[str, RawAttr]:
    if not isinstance(raw, Mapping):
        report.problem("graph.type", f"is {kind_of(raw)}, not an object", path)
        return {}
    found: dict[str, RawAttr] = {}
    for key, value in raw.items():
        name = _valid_name(key, path, report)
        if name and not name.startswith("x-"):
            _keep_attr(found, name, value, f"{path}.{name}", report)
    return found


def _keep_attr(found: dict[str, RawAttr], name: str, value: object, place: str, report: Report) -> None:
    if isinstance(value, (bool, int, float, str)):
        found[name] = value
    elif isinstance(value, (list, tuple)):
        scalars = tuple(item for item in value if isinstance(item, (int, float)) and not isinstance(item, bool))
        if len(scalars) == len(value):
            found[name] = scalars
        else:
            report.problem("graph.attr", "the list holds something else than numbers", place)
    else:
        report.problem("graph.attr", f"is {kind_of(value)}", place, "an attribute is a scalar or a list of numbers")


def _options(raw: object, report: Report) -> dict[str, str]:
    if not isinstance(raw, Mapping):
        report.problem("graph.type", f"is {kind_of(raw)}, not an object", "options")
        return {}
    found: dict[str, str] = {}
    for key, value in raw.items():
        name = _valid_name(key, "options", report)
        if not name or name.startswith("x-"):
            continue
        if isinstance(value, str):
            found[name] = value
        else:
            report.problem(
                "graph.type", f"is {kind_of(value)}, not a string", f"options.{name}", f"write {_quoted(value)}"
            )
    return found


def _quoted(value: object) -> str:
    return f'"{show(value)}"' if isinstance(value, (bool, int, float)) else "a string"
