"""A compiler pass: graphs that use the first name of the operator, `EduStripes`, are compiled as `EduStripe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core import PassSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import PassInput

FIRST_NAME, NAME = "EduStripes", "EduStripe"


def _renamed(given: PassInput) -> Mapping[str, Any] | None:
    """A new graph, or None when no node has the first name; the graph that was given stays as it is."""
    nodes = given.graph.get("nodes")
    if not isinstance(nodes, list):
        return None  # the compiler says what is wrong with it
    old = [node for node in nodes if isinstance(node, dict) and node.get("type") == FIRST_NAME]
    if not old:
        return None
    given.warn(f"{len(old)} nodes are called {FIRST_NAME}; compiled as {NAME}")
    return {**given.graph, "nodes": [{**node, "type": NAME} if node in old else node for node in nodes]}


SPECS = (PassSpec("edu-first-name", "import", _renamed, "EduStripes becomes EduStripe"),)
