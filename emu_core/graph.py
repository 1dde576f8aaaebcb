"""What the front end hands to the compiler and gets back: options, and the blob with its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from formats.blob import Blob

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TaskBlob: TypeAlias = Blob
"""What a compilation gives: see `formats.blob`, whose `encode` and `decode` turn it into bytes and back."""


@dataclass(frozen=True)
class CompileOptions:
    """Options of one compilation.

    Attributes:
        options: GE options by key (`--option k=v`).
        tiling_schedule_optimize: value of the command-line flag of that name, or None when not given.
        offline: True, False, or None: as the graph's `ge.buildGraphMode` says, else offline.
        policies: policy values by name.
        source: file name for messages.
        session_options, global_options: GE options of the session and of the process; the graph's come before them.
        progress: called for each node twice: when it meets its operator, and when it has been tiled.
        details: also fill `explanation` and `snapshots` of the result, which costs time and memory per node.
        after_pass: called with the name of each pass of the compiler and its account of the graph, ready for JSON.
        never_sinks: whoever runs the program tiles on the host in any case: no warning says how to sink a tiling.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    tiling_schedule_optimize: str | None = None
    offline: bool | None = None
    policies: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    session_options: Mapping[str, str] = field(default_factory=dict)
    global_options: Mapping[str, str] = field(default_factory=dict)
    details: bool = False
    progress: Callable[[], object] | None = None
    after_pass: Callable[[str, Mapping[str, object]], object] | None = None
    never_sinks: bool = False


@dataclass(frozen=True)
class Compiled:
    """A compilation's result.

    Attributes:
        blob: what the loader reads.
        warnings: for the user.
        decisions: one line per decision (node, pass, text); an empty node is the graph.
        explanation: what was decided about each node, ready for JSON; empty unless `CompileOptions.details`.
        snapshots: the graph after each pass (name of the pass, ready for JSON), likewise.
    """

    blob: Blob
    warnings: tuple[str, ...] = ()
    decisions: tuple[tuple[str, str, str], ...] = ()
    explanation: Mapping[str, object] = field(default_factory=dict)
    snapshots: tuple[tuple[str, Mapping[str, object]], ...] = ()
