"""Problems of the graph that `sqemu op` makes, in the words of the operator: its user has no graph to look into."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core.errors import GraphError

if TYPE_CHECKING:
    from emu_core.errors import Problem
    from emu_core.operators import OperatorSpec

_NODE = re.compile(r"nodes\[0\](?:\.(?P<part>[a-z]+)(?:\[(?P<index>\d+)\]|\.(?P<key>\w+))?)?(?: \(node [^)]*\))?")
_TENSOR = re.compile(r"inputs\[\d+\](?:\.\w+)?(?: \(input (?P<name>[^)]*)\))")


def in_words(spec: OperatorSpec, error: GraphError) -> GraphError:
    """`error` with every place named by the operator's input, output or attribute instead of a path in the graph."""
    return GraphError([_reworded(spec, problem) for problem in error.problems], source=error.source)


def warning_in_words(spec: OperatorSpec, text: str) -> str:
    """A warning of the compiler with its place, if it has one, named likewise."""
    found = _NODE.match(text)
    return _place(spec, found) + text[found.end() :] if found else text


def _reworded(spec: OperatorSpec, problem: Problem) -> Problem:
    where = problem.where
    if node := _NODE.fullmatch(where):
        where = _place(spec, node)
    elif tensor := _TENSOR.fullmatch(where):
        where = f"input {tensor['name']}"
    return replace(problem, where=where, what=problem.what.removeprefix(f"{where}: "))


def _place(spec: OperatorSpec, node: re.Match[str]) -> str:
    part, index, key = node["part"], node["index"], node["key"]
    names = {"inputs": [i.name for i in spec.inputs], "outputs": [o.name for o in spec.outputs]}.get(part, [])
    if index is not None and int(index) < len(names):
        return f"{part.removesuffix('s')} {names[int(index)]}"
    return f"attribute {key}" if key else f"operator {spec.type}"
