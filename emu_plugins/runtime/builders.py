"""Which builder writes the entries of a chip: one per family, all with the same methods."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import InputError, Refusal
from emu_plugins.runtime.sqes import SqeBuilder
from emu_plugins.runtime.sqes_v200 import SqeBuilderV200

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats import Registry

BUILDERS: Mapping[str, type[SqeBuilder]] = MappingProxyType({"v100": SqeBuilder, "v200": SqeBuilderV200})
"""By family of a chip's entries."""


def builder_for(registry: Registry, family: str) -> SqeBuilder:
    """The builder of entries of `family`.

    Raises:
        InputError: nobody here writes entries of that family (`chip.no-engines`).
    """
    kind = BUILDERS.get(family)
    if kind is None:
        raise InputError(
            f"this loader writes no entries of family {family}",
            id="chip.no-engines",
            remedy=f"use a chip of family {' or '.join(BUILDERS)}, or load a plugin with engines and a loader for it",
            refusal=Refusal.UNSUPPORTED_HERE,
        )
    return kind(registry, family)
