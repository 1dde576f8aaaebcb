"""`--explain` with runtime V2: the execution graph, its nodes and what they depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.fitted import fitted_lines
from tools.runtime_options import V2
from tools.show import columns, json_line, lines

if TYPE_CHECKING:
    from emu_core.plugins import PluginHost
    from emu_plugins.runtime.v2 import ExecutionGraph, Node
    from formats.blob import Blob

_HEAD = ("#", "node", "stage", "operator", "takes", "gives")


def execution_as_json(blob: Blob, host: PluginHost) -> None:
    """One object with all nodes; raises as `lower`."""
    json_line({"explain": "execution graph", "runtime": V2, **_graph(blob, host).as_values()})


def execution_as_text(blob: Blob, host: PluginHost) -> None:
    """A table of the nodes; raises as `lower`."""
    graph = _graph(blob, host)
    click.echo("\n" + click.style("execution graph (runtime v2)", bold=True))
    rows = [(n.id, n.kind.value, n.stage.value, n.label, _takes(n), ", ".join(n.outputs)) for n in graph.nodes]
    below = [" ".join(filter(None, (n.args_format, n.note))) for n in graph.nodes]
    lines(fitted_lines(_HEAD, rows, columns(), right=("#",), below=below))


def _graph(blob: Blob, host: PluginHost) -> ExecutionGraph:
    from emu_plugins.runtime.v2 import lower  # noqa: PLC0415 - `sqemu compile --help` stays quick

    return lower(blob, host.chip(blob.chip), host)


def _takes(node: Node) -> str:
    """Values by node, and output where that has another name; then nodes that only come before."""
    values = [f"{e.name}\xa0{e.node}{'' if e.name == e.output else f'.{e.output}'}" for e in node.inputs]
    return ", ".join([*values, *(f"after\xa0{before}" for before in node.after)])
