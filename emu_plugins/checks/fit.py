"""Whether a program fits a chip: its limits, and that it was compiled for this chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.compiler.limits import uses_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob


def fits(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """An error per limit that is exceeded, with the largest users."""
    del host
    where = f"graph {blob.name}"
    if blob.chip != chip.name:
        what = f"was compiled for {blob.chip}, and only that chip loads it"
        remedy = f"give --chip {blob.chip}, or compile the graph for {chip.name}"
        yield Finding(Level.ERROR, "blob.chip", where, what, remedy)
    for use in uses_in_words(blob, chip, policies):
        if use.exceeded:
            yield Finding(Level.ERROR, use.id, where, use.text(chip.name), use.remedy)
