"""A check for `sqemu check`: an EduStripe that cannot keep every core busy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import CheckSpec, Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core import Chip, TaskBlob


def _short_inputs(blob: TaskBlob, chip: Chip, policies: object, host: object) -> Iterator[Finding]:
    del policies, host
    for op in blob.ops:
        first = op.inputs[0] if op.type == "EduStripe" else None
        if first is not None and blob.tensors[first].shape[0] < chip.core_num:
            yield Finding(
                Level.WARNING,
                "edu.short-input",
                f"operator {op.name}",
                f"x has {blob.tensors[first].shape[0]} elements for {chip.core_num} cores",
                "some blocks will have nothing to do",
            )


SPECS = (CheckSpec("edu-cores", "every EduStripe has an element for each core", _short_inputs),)
