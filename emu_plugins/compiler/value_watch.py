"""Watching which values a tiling function asks for and cannot have at compile time.

No vendor counterpart: it only decides what a refusal says, so that a shape that fits nowhere is not blamed on a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from emu_core.tiling import TilingContext, TilingFunction


class ValueWatch:
    """A tiling function that runs `tiling` and notes in `missing` the inputs whose value it asked for in vain.

    `missing` holds IR input indices in the order in which they were first asked for.
    """

    def __init__(self, tiling: TilingFunction) -> None:
        self._tiling = tiling
        self.missing: list[int] = []

    def __call__(self, context: TilingContext) -> None:
        """Run the tiling function; what it raises passes through."""
        self._tiling(cast("TilingContext", _WatchedContext(context, self.missing)))


class _WatchedContext:
    """`context` itself, but for `input_data`, which notes what it has no value for."""

    def __init__(self, context: TilingContext, missing: list[int]) -> None:
        self._context = context
        self._missing = missing

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the context has
        return getattr(self._context, name)

    def input_data(self, index: int, instance: int = 0) -> bytes | None:
        """As the context answers."""
        data = self._context.input_data(index, instance) if instance else self._context.input_data(index)
        if data is None and index not in self._missing:
            self._missing.append(index)
        return data
