"""Where the entries of rings come from, for messages and traces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Graph node, and index in the model's task list (-1: no model task)."""

    node: str = ""
    model_task: int = -1


NOWHERE = Origin()
"""An entry that no model task stands behind."""
