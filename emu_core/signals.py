"""Flags that streams wait on: events, notifies, and whatever a plugin adds.

| operation | effect |
|---|---|
| `set` | the flag is set; every stream that waits on it is woken |
| `clear` | the flag is not set |
| wait on a set flag | passes; whether the flag stays set is the engine's business (event: stays, notify: cleared) |
| wait on a clear flag | the stream parks until `set`, then looks again |
"""

from __future__ import annotations

from dataclasses import dataclass

MEMORY = "memory"
"""Kind of the flags that stand for a value at an address; the address is their id."""


@dataclass(frozen=True, order=True)
class Signal:
    """A flag's identity, for example ``Signal("event", 3)``."""

    kind: str
    id: int

    def __str__(self) -> str:
        return f"{self.kind} {self.id:#x}" if self.kind == MEMORY else f"{self.kind} {self.id}"


class SignalTable:
    """All flags of a device, with the streams parked on each and who set it last (stream, task, time)."""

    def __init__(self) -> None:
        self._set: set[Signal] = set()
        self._parked: dict[Signal, list[int]] = {}

    def is_set(self, signal: Signal) -> bool:
        """Whether the flag is set."""
        return signal in self._set

    def set(self, signal: Signal) -> list[int]:
        """Set the flag; returns the ids of the streams that were parked on it, in order of arrival."""
        self._set.add(signal)
        return self._parked.pop(signal, [])

    def clear(self, signal: Signal) -> None:
        """Clear the flag."""
        self._set.discard(signal)

    def clear_all(self) -> None:
        """Clear every flag; parked streams stay parked."""
        self._set.clear()

    def park(self, signal: Signal, stream_id: int) -> None:
        """Note that `stream_id` waits for the flag."""
        self._parked.setdefault(signal, []).append(stream_id)

    def unpark(self, stream_id: int) -> None:
        """Forget that `stream_id` waits for anything."""
        for signal in [s for s, parked in self._parked.items() if stream_id in parked]:
            self._parked[signal].remove(stream_id)
            if not self._parked[signal]:
                del self._parked[signal]
