"""Dispatch: handlers resolved once, when the device is built, into a table by SQE type.

| situation | result |
|---|---|
| one handler for a type, no selector | taken for every entry of the type |
| several with a selector | chosen by the selector field; the one without `select` takes the rest |
| two for the same type and selector value | `PluginError`, named |
| none | an SQE error (bit 3) at run time: the type is not known on this chip |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_core.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emu_core.engines import Handler

    FieldReader = Callable[[bytes], int]


@dataclass
class _Slot:
    """All handlers of one SQE type."""

    read: FieldReader | None = None
    selector: tuple[str, str] | None = None
    chosen: dict[int, Handler] = field(default_factory=dict)
    rest: Handler | None = None


class DispatchTable:
    """64 entries by SQE type; `find(sqe)` is the only thing the run loop calls."""

    def __init__(self, handlers: Iterable[Handler], reader: Callable[[str, str], FieldReader]) -> None:
        self._slots: list[_Slot | None] = [None] * 64
        for handler in handlers:
            self._add(handler, reader)

    def _add(self, handler: Handler, reader: Callable[[str, str], FieldReader]) -> None:
        if not 0 <= handler.sqe_type < len(self._slots):
            raise PluginError(
                f"{handler.engine}.{handler.kind} handles SQE type {handler.sqe_type}; types are 0 to 63",
                id="plugin.handler",
            )
        slot = self._slots[handler.sqe_type] or _Slot()
        self._slots[handler.sqe_type] = slot
        if handler.select is None:
            if slot.rest is not None:
                raise self._clash(slot.rest, handler, f"SQE type {handler.sqe_type}")
            slot.rest = handler
            return
        if handler.select in slot.chosen:
            owner = slot.chosen[handler.select]
            raise self._clash(owner, handler, f"SQE type {handler.sqe_type} with {handler.select}")
        if slot.selector not in (None, handler.select_field):
            owner = next(iter(slot.chosen.values()))
            raise self._clash(owner, handler, f"the selector of SQE type {handler.sqe_type}")
        if handler.select_field is None:
            raise PluginError(f"{handler.engine}.{handler.kind} selects by no field", id="plugin.handler")
        slot.selector = handler.select_field
        slot.read = reader(*handler.select_field)
        slot.chosen[handler.select] = handler

    @staticmethod
    def _clash(owner: Handler, second: Handler, what: str) -> PluginError:
        return PluginError(
            f"{owner.engine} and {second.engine} both handle {what}",
            id="plugin.handler-clash",
            remedy="switch one of the two plugins off",
        )

    def find(self, sqe: bytes) -> Handler | None:
        """The handler of an entry, or None."""
        slot = self._slots[sqe[0] & 0x3F]
        if slot is None:
            return None
        if slot.read is not None:
            return slot.chosen.get(slot.read(sqe), slot.rest)
        return slot.rest

    def of_type(self, sqe_type: int) -> tuple[Handler | None, dict[int, Handler], tuple[str, str] | None]:
        """Who handles an SQE type: who takes the rest, who takes which values of the selector field, and that field."""
        slot = self._slots[sqe_type] or _Slot()
        return slot.rest, dict(slot.chosen), slot.selector

    def __iter__(self) -> Iterator[Handler]:
        for slot in self._slots:
            if slot is not None:
                yield from slot.chosen.values()
                if slot.rest is not None:
                    yield slot.rest
