"""The check of a chip's own figures: where each is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import CheckSpec, Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob


def figures(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """A warning when the chip does not say where some of its figures are from."""
    del blob, policies
    unsourced = chip.unsourced
    if unsourced:
        of = host.supplier(chip)
        yield Finding(
            Level.WARNING,
            "chip.no-source",
            f"chip {chip.name}",
            f"{of or 'it'} does not say where {len(unsourced)} of its figures are from: {', '.join(unsourced)}",
            "give sources={figure: where it is from, or 'absent: ' and what is assumed} with the chip",
        )


FIGURES = CheckSpec("figures", "every figure of the chip has a source", figures)
EXPLANATIONS = {
    "chip.field": "A plugin makes a chip that cannot be: a field is missing, unknown, or has a value that cannot be.\n"
    "cause: Chip(...) was called without a figure, with a misspelled one, or with one that does not fit the others.\n"
    "do: Change the field that the message names; docs/plugins.md, Chip, says what each means.",
    "chip.no-layouts": "Nothing describes the queue entries of a chip: its family is not known, or lacks layouts.\n"
    "cause: The family of the chip is misspelled, or the plugin with the layouts is not loaded.\n"
    "do: Give the layouts in the hook sqemu_structs, load the plugin that has them, or use a family that is known.",
    "chip.no-source": "A chip does not say where a figure is from, so nobody can tell a fact from a guess.\n"
    "cause: The plugin gave the chip without a text in sources for it.\n"
    "do: Name the page, the table or the measurement; begin with `absent: ` when nobody states the figure.",
}
"""What the ids of chips mean, for `sqemu explain`."""
