"""The wait-for graph of a deadlock as a file: its name says in which form."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from emu_core.errors import OptionError
from emu_core.wait_pictures import dot, mermaid

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.wait_graph import WaitGraph


def _as_json(graph: WaitGraph) -> str:
    return msgspec.json.format(msgspec.json.encode(graph), indent=2).decode() + "\n"


FORMS: dict[str, Callable[[WaitGraph], str]] = {".dot": dot, ".json": _as_json, ".mmd": mermaid}
"""Suffix of the file, and what makes its text."""


def require_form(path: str) -> None:
    """Nothing when the name of `path` says a form; `OptionError` (`option.wait-graph`) else."""
    if PurePath(path).suffix not in FORMS:
        raise OptionError(
            f"--wait-graph {path}: the name does not say in which form",
            id="option.wait-graph",
            remedy=f"end it with {', '.join(FORMS)} (Graphviz, JSON, Mermaid)",
        )


def picture(path: str, graph: WaitGraph) -> bytes:
    """The graph in the form that the name of `path` says."""
    return FORMS[PurePath(path).suffix](graph).encode()
