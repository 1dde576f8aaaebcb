"""Chips as data: one module per product family, a source for each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.chips.ascend910b import ASCEND910B3

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.chips import Chip


@hookimpl
def sqemu_chips() -> Iterable[Chip]:
    """The built-in chips."""
    return (ASCEND310P3, ASCEND910B3)
