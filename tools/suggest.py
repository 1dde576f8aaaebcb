"""Names near to a mistyped one: `emu_core.suggest`."""

from __future__ import annotations

from emu_core.suggest import nearest

__all__ = ["nearest"]
