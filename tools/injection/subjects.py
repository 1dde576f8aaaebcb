"""Programs for campaigns: the graph of the demo, and one ChunkGatedDeltaRule."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from tools.demo import scene
from tools.injection.compared import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.plugins import PluginHost
    from tools.demo.scene import Arrays

SUBJECTS: Mapping[str, tuple[str, ...]] = MappingProxyType({"demo": tuple(scene.OPERATORS), "cgdr": ("cgdr",)})
"""Operators of the demo's graph that a program has."""
EXECUTIONS = 2


def subject_called(name: str, host: PluginHost, chip: str) -> tuple[Program, list[Arrays]]:
    """The program of that name, compiled for `chip`, and the inputs of its executions."""
    wanted = SUBJECTS[name]
    blob = compile_graph(_part(wanted), chip, CompileOptions(offline=False, source=name), host)
    return Program(blob, chip, {}, host), [scene.demo_inputs(index) for index in range(EXECUTIONS)]


def _part(operators: tuple[str, ...]) -> dict[str, object]:
    """The demo's graph with these operators alone."""
    graph: dict[str, Any] = scene.demo_graph(sink=True)
    nodes = [node for node in graph["nodes"] if node["name"] in operators]
    used = {name for node in nodes for name in node["inputs"]}
    inputs = [one for one in graph["inputs"] if one["name"] in used]
    made = [name for node in nodes for name in node["outputs"]]
    return {**graph, "nodes": nodes, "inputs": inputs, "outputs": [n for n in made if n in graph["outputs"]]}
