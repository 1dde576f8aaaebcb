"""Flags that streams wait on: events, notifies, and whatever a plugin adds.

| operation | effect |
|---|---|
| `set` | the flag is set (a counted one: to a value); every stream that waits on it is woken |
| `clear` | the flag is not set |
| wait on a set flag | passes; whether the flag stays set is the engine's business (event: stays, notify: cleared) |
| wait on a clear flag | the stream parks until `set`, then looks again |
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

MEMORY = "memory"
"""Kind of the flags that stand for a value at an address; the address is their id."""

NUMBERS = MappingProxyType({MEMORY: "#x"})
"""How the ids of flags of a kind are written, if not as decimal numbers."""

KIND_BITS = 8
"""Bits of a flag's key that tell its kind."""


@dataclass(frozen=True, order=True)
class Signal:
    """A flag's identity, for example ``Signal("event", 3)``."""

    kind: str
    id: int

    def __str__(self) -> str:
        return _text(self.kind, self.id)


def _text(kind: str, number: int) -> str:
    return f"{kind} {number:{NUMBERS.get(kind, '')}}"


class SignalTable:
    """All flags of a device, with the streams parked on each.

    Inside, a flag is one integer, its *key*: plans of entries carry keys, and looking one up costs little.

    Attributes:
        values: of every flag that is set, by key. parked: ids of the streams that wait, by key, in order of arrival.
    """

    def __init__(self) -> None:
        self.values: dict[int, int] = {}
        self.parked: dict[int, list[int]] = {}
        self._kinds: dict[str, int] = {}
        self._fired: dict[int, int] = {}

    def number_of(self, kind: str) -> int:
        """The number of a kind of flags, 0 to 255; given out as they are asked for."""
        return self._kinds.setdefault(kind, len(self._kinds))

    def key(self, signal: Signal) -> int:
        """Id times 256 plus the number of its kind."""
        return signal.id << KIND_BITS | self.number_of(signal.kind)

    def signal(self, key: int) -> Signal:
        """The flag of a key; inverse of `key`."""
        return Signal(list(self._kinds)[key & (1 << KIND_BITS) - 1], key >> KIND_BITS)

    def is_set(self, signal: Signal) -> bool:
        """Whether the flag is set."""
        return self.key(signal) in self.values

    def value(self, signal: Signal) -> int:
        """The value of a counted flag; 0 while it is clear."""
        return self.values.get(self.key(signal), 0)

    def set(self, signal: Signal, value: int = 1) -> list[int]:
        """Set the flag; returns the ids of the streams that were parked on it, in order of arrival."""
        key = self.key(signal)
        self.values[key] = value
        return self.parked.pop(key, [])

    def fired(self, signal: Signal, now: int) -> None:
        """Note that the flag was set at `now`; matters where events are noticed late (`emu_core.notice`)."""
        self._fired[self.key(signal)] = now

    def fired_at(self, signal: Signal) -> int:
        """When the flag was set last; 0 before it ever was."""
        return self._fired.get(self.key(signal), 0)

    def clear(self, signal: Signal) -> None:
        """Clear the flag."""
        self.values.pop(self.key(signal), None)

    def clear_all(self) -> None:
        """Clear every flag; parked streams stay parked."""
        self.values.clear()

    def park(self, signal: Signal, stream_id: int) -> None:
        """Note that `stream_id` waits for the flag."""
        self.parked.setdefault(self.key(signal), []).append(stream_id)

    def unpark(self, stream_id: int) -> None:
        """Forget that `stream_id` waits for anything."""
        for key in [k for k, parked in self.parked.items() if stream_id in parked]:
            self.parked[key].remove(stream_id)
            if not self.parked[key]:
                del self.parked[key]
