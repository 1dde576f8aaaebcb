"""The wait-for graph as a picture: DOT for Graphviz, Mermaid for Markdown pages.

| shape | what | arrow to |
|---|---|---|
| box | a queue, at the entry that waits | the flag it waits for, or what else it lacks |
| ellipse | a flag | each entry that sets it; "nobody" when there is none |
| note | an entry that sets a flag, and where it is | the queue it stands in, when that cannot go on either |

Arrows of a circle are red.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.reports import one_line
from emu_core.setters import SetterState
from emu_core.wait_graph import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.wait_graph import WaitGraph

QUEUE, FLAG, SETTER, NOBODY = "queue", "flag", "setter", "nobody"
_DOT_SHAPES = {QUEUE: "box", FLAG: "ellipse", SETTER: "note", NOBODY: "plaintext"}
_MERMAID_SHAPES = {QUEUE: ("[", "]"), FLAG: ("([", "])"), SETTER: ("[/", "/]"), NOBODY: ("[", "]")}


@dataclass(frozen=True)
class _Node:
    id: str
    shape: str
    label: str


@dataclass(frozen=True)
class _Arrow:
    tail: str
    head: str
    label: str
    red: bool


def dot(graph: WaitGraph) -> str:
    """The picture in the language of Graphviz."""
    nodes, arrows = _parts(graph)
    lines = ["digraph waits {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    lines += [f'  {n.id} [shape={_DOT_SHAPES[n.shape]}, label="{_quoted(n.label)}"];' for n in nodes]
    for arrow in arrows:
        color = ", color=red" if arrow.red else ""
        lines.append(f'  {arrow.tail} -> {arrow.head} [label="{_quoted(arrow.label)}"{color}];')
    return "\n".join([*lines, "}", ""])


def mermaid(graph: WaitGraph) -> str:
    """The picture in the language of Mermaid."""
    nodes, arrows = _parts(graph)
    lines = ["flowchart LR"]
    for node in nodes:
        left, right = _MERMAID_SHAPES[node.shape]
        lines.append(f'  {node.id}{left}"{_entities(node.label)}"{right}')
    lines += [f'  {a.tail} -->|"{_entities(a.label)}"| {a.head}' for a in arrows]
    red = [str(index) for index, arrow in enumerate(arrows) if arrow.red]
    if red:
        lines.append(f"  linkStyle {','.join(red)} stroke:red")
    return "\n".join([*lines, ""])


def _parts(graph: WaitGraph) -> tuple[list[_Node], list[_Arrow]]:
    """Nodes and arrows, each once, in the order of the queues."""
    circles = {s for v in graph.verdicts if v.cause is Cause.CYCLE for s in v.streams}
    stuck = {wait.stream for wait in graph.waits}
    nodes: dict[str, _Node] = {}
    arrows: dict[tuple[str, str], _Arrow] = {}
    for node, leaving in _each(graph, stuck, circles):
        nodes.setdefault(node.id, node)
        for arrow in leaving:
            arrows.setdefault((arrow.tail, arrow.head), arrow)
    return list(nodes.values()), list(arrows.values())


def _each(graph: WaitGraph, stuck: set[int], circles: set[int]) -> Iterator[tuple[_Node, list[_Arrow]]]:
    flags: dict[str, str] = {}
    for wait in graph.waits:
        queue = f"s{wait.stream}"
        flag = flags.setdefault(wait.lacks if wait.is_flag else f"{wait.lacks} of {queue}", f"f{len(flags)}")
        red = wait.stream in circles
        label = f"stream {wait.stream} ({one_line(wait.name)})\ntask {wait.task} {wait.kind}"
        yield _Node(queue, QUEUE, label), [_Arrow(queue, flag, f"since {wait.since} ns", red)]
        yield _Node(flag, FLAG, wait.lacks), []
        if wait.is_flag and not wait.setters:
            yield _Node(f"{flag}x", NOBODY, "nobody sets it"), [_Arrow(flag, f"{flag}x", "", red=False)]
        for setter in wait.setters:
            entry = f"s{setter.stream}e{setter.slot}"
            held = setter.state is SetterState.BEHIND and setter.stream in stuck
            inner = red and held and setter.stream in circles
            behind = [_Arrow(entry, f"s{setter.stream}", "stands behind", inner)] if held else []
            text = f"stream {setter.stream} task {setter.task}\n{setter.kind}: {setter.state.value}"
            yield _Node(entry, SETTER, text), [_Arrow(flag, entry, "set by", inner), *behind]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", "<br/>")
