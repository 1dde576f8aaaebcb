"""What the front end hands to the compiler and gets back: options, and the blob with its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from formats.blob import Blob

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """

    options: Mapping[str, str] = field(default_factory=dict)
    tiling_schedule_optimize: str | None = None
    offline: bool | None = None
    policies: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class Compiled:
    """A compilation's result: the blob, warnings for the user, and one line per decision (node, pass, text)."""

    blob: Blob
    warnings: tuple[str, ...] = ()
    decisions: tuple[tuple[str, str, str], ...] = ()
