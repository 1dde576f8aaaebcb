"""`graph.schema.json` accepts what the parser accepts, and refuses what it refuses in structure."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from emu_plugins.compiler.attributes import GE_ATTRS
from emu_plugins.compiler.graph import MAX_RANK
from emu_plugins.compiler.parse import _KEYS, MAX_NAME
from formats.dtypes import BY_NAME

SAMPLES = Path(__file__).parents[2] / "data" / "graphs"


@pytest.fixture(scope="module")
def schema():
    """The schema that is shipped."""
    text = resources.files("emu_plugins.compiler").joinpath("graph.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


@pytest.fixture(scope="module")
def validator(schema):
    """Its validator."""
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_samples_are_valid(validator, path):
    """Every sample graph is valid."""
    validator.validate(json.loads(path.read_text(encoding="utf-8")))


def test_a_full_graph_is_valid(lab, validator):
    """Options, x- keys, null inputs, npz constants and attributes of all kinds are valid."""
    graph = lab.one(scale=1, sizes=[1, 2], _tiling_sink_op=True, **{"x-a": [None]})
    graph["options"] = {"ge.tiling_schedule_optimize": "1", "x-a": 3}
    graph["constants"].append({"name": "n", "dtype": "bool", "shape": [], "data": {"npz": "a.npz", "key": "k"}})
    graph["inputs"].append({"name": "u", "dtype": "int8", "shape": [-2]})
    validator.validate(graph)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "x"), (("version",), 2), (("name",), ""), (("nodes",), []), (("outputs",), []), (("more",), 1),
        (("options",), {"a": 1}), (("inputs", 0, "dtype"), "float17"), (("inputs", 0, "shape"), [1] * 26),
        (("inputs", 0, "shape"), [-3]), (("inputs", 0, "shape"), [-2, 1]), (("inputs", 0, "shape"), [1.5]),
        (("inputs", 0, "shape"), [2**63]), (("constants", 0, "shape"), [-1]), (("constants", 0, "data"), 3),
        (("constants", 0, "data"), [[1]]), (("constants", 0, "data"), {"npz": "a"}), (("nodes", 0, "inputs"), [1]),
        (("nodes", 0, "outputs"), [None]), (("nodes", 0, "attrs"), {"a": {}}), (("nodes", 0, "attrs"), {"a": [[1]]}),
        (("nodes", 0, "attrs"), {"_tiling_sink_op": 1}), (("nodes", 0, "extra"), 1),
    ],
)  # fmt: skip
def test_bad_structure_is_invalid(lab, validator, path, value):
    """Faults of structure are found by the schema alone."""
    graph = lab.one()
    at = graph
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    assert not validator.is_valid(graph)


def test_schema_and_code_agree(schema):
    """Dtypes, rank, name length, keys and GE attributes are the same in the schema and in the code."""
    defs = schema["$defs"]
    assert set(defs["dtype"]["enum"]) == set(BY_NAME)
    assert defs["staticShape"]["maxItems"] == MAX_RANK
    assert defs["name"]["maxLength"] == MAX_NAME
    assert set(defs["attrs"]["properties"]) == set(GE_ATTRS)
    parts = {"graph": schema, "input": defs["input"], "constant": defs["constant"], "node": defs["node"]}
    parts["npz"] = defs["constant"]["properties"]["data"]["oneOf"][1]
    for kind, (required, optional) in _KEYS.items():
        assert set(parts[kind]["required"]) == set(required)
        assert set(parts[kind]["properties"]) == {*required, *optional}
