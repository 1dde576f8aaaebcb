"""Names and order: every tensor has one producer, every name is used once, and the nodes have an order.

Mirrors the vendor's `ComputeGraph::TopologicalSorting` and its name checks. Iterative throughout: the
length of a chain of nodes is limited by memory, not by the stack.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from emu_plugins.compiler.graph import node_place
from emu_plugins.compiler.report import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.report import Report

_LONGEST_CYCLE_SHOWN = 8


def check_names(graph: Graph, report: Report) -> None:
    """Note names of nodes, tensors and outputs that are used twice."""
    _check_doubles(((f"nodes[{i}].name", node.name) for i, node in enumerate(graph.nodes)), "node", report)
    _check_doubles(_declared(graph), "tensor", report)
    _check_doubles(((f"outputs[{i}]", name) for i, name in enumerate(graph.outputs)), "output", report)


def check_uses(graph: Graph, report: Report) -> None:
    """Note an empty graph and reads of tensors that nothing produces, and warn of tensors that nothing reads.

    Only meaningful when every name could be read: a broken declaration would make its readers look guilty.
    """
    if not graph.nodes:
        report.problem("graph.empty", "the graph has no nodes", "nodes", "add at least one operator")
    if not graph.outputs:
        report.problem("graph.empty", "the graph has no outputs", "outputs", "name the tensors you want back")
    known = {name: None for _, name in _declared(graph)}
    used: set[str] = set()
    for place, name in _uses(graph):
        used.add(name)
        if name not in known:
            hint = report.suggest(name, known, "declare it as an input or constant, or name it as an output of a node")
            report.problem("graph.dangling", f"nothing produces tensor {show(name)}", place, hint)
    for kind, declared in (("input", graph.inputs), ("constant", graph.constants)):
        for tensor in declared:
            if tensor.name not in used:
                report.warn(f"{kind} {show(tensor.name)} is not used")


def _declared(graph: Graph) -> Iterator[tuple[str, str]]:
    yield from ((f"inputs[{i}].name", tensor.name) for i, tensor in enumerate(graph.inputs))
    yield from ((f"constants[{i}].name", tensor.name) for i, tensor in enumerate(graph.constants))
    for i, node in enumerate(graph.nodes):
        yield from ((node_place(i, node, f"outputs[{k}]"), name) for k, name in enumerate(node.outputs))


def _uses(graph: Graph) -> Iterator[tuple[str, str]]:
    for i, node in enumerate(graph.nodes):
        for k, name in enumerate(node.inputs):
            if name is not None:
                yield node_place(i, node, node.input_part(k)), name
    yield from ((f"outputs[{i}]", name) for i, name in enumerate(graph.outputs))


def _check_doubles(named: Iterable[tuple[str, str]], kind: str, report: Report) -> None:
    first: dict[str, str] = {}
    for place, name in named:
        if name and first.setdefault(name, place) != place:
            what = f"{kind} name {show(name)} is taken already"
            report.problem("graph.duplicate-name", what, place, f"it was first used at {first[name]}")


def order_nodes(graph: Graph, report: Report) -> tuple[int, ...]:
    """Node numbers in execution order: of the nodes that are ready, the one listed first comes first.

    Nodes on a cycle and behind it are left out, after noting every cycle that is reached by going backwards.
    """
    producers = producer_of(graph)
    waits_for = [
        {producers[name] for name in node.inputs if name is not None and name in producers} for node in graph.nodes
    ]
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for reader, sources in enumerate(waits_for):
        for source in sources:
            readers[source].append(reader)
    missing = [len(sources) for sources in waits_for]
    ready = [i for i, count in enumerate(missing) if not count]
    order: list[int] = []
    while ready:
        done = heapq.heappop(ready)
        order.append(done)
        for reader in readers[done]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.nodes):
        _note_cycles(graph, waits_for, set(range(len(graph.nodes))) - set(order), report)
    return tuple(order)


def producer_of(graph: Graph) -> Mapping[str, int]:
    """Number of the producing node by tensor name, for tensors that a node produces."""
    return {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}


def _note_cycles(graph: Graph, waits_for: list[set[int]], stuck: set[int], report: Report) -> None:
    """Note one cycle per way back from the stuck nodes; nodes that only wait behind a cycle are not blamed."""
    done: set[int] = set()
    for start in sorted(stuck):
        path: list[int] = []
        seen: dict[int, int] = {}
        at = start
        while at not in seen and at not in done:
            seen[at] = len(path)
            path.append(at)
            at = min(waits_for[at] & stuck)
        if at not in done:
            _note_cycle(graph, at, path[seen[at] + 1 :], report)
        done.update(path)


def _note_cycle(graph: Graph, at: int, backwards: list[int], report: Report) -> None:
    cycle = [graph.nodes[i].name for i in (at, *reversed(backwards))]
    shown = " -> ".join(cycle[:_LONGEST_CYCLE_SHOWN]) + (" -> …" if len(cycle) > _LONGEST_CYCLE_SHOWN else "")
    what = f"nodes wait for each other: {shown} -> {cycle[0]}"
    report.problem("graph.cycle", what, node_place(at, graph.nodes[at]), "break the cycle")
