"""Chips as data: one table per product family, a source for each figure, and what a chip refuses to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_plugins.chips import ascend310p, ascend910b, ascend950
from emu_plugins.chips.edu import EDU_LARGE
from emu_plugins.chips.figures import EXPLANATIONS, FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.checks import CheckSpec
    from emu_core.chips import Chip
    from emu_core.device import Device
    from formats.blob import Blob

CHIPS = (*sorted((*ascend310p.CHIPS, *ascend910b.CHIPS, *ascend950.CHIPS), key=lambda chip: chip.name), EDU_LARGE)
"""The built-in chips by name; those that are no product come last."""


@hookimpl
def sqemu_chips() -> Iterable[Chip]:
    """The built-in chips."""
    return CHIPS


@hookimpl
def sqemu_checks() -> Iterable[CheckSpec]:
    """What `sqemu check` looks at in the chip itself."""
    return (FIGURES,)


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of chips mean."""
    return EXPLANATIONS


@hookimpl(tryfirst=True)
def sqemu_load(device: Device, blob: Blob) -> None:
    """Nothing, so that some loader goes on; an error when `blob` cannot be loaded into a chip of this kind."""
    from emu_plugins.chips.refusals import refuse  # noqa: PLC0415 - numpy stays off the import path of the plugin

    refuse(device, blob)
