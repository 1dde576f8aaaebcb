"""Changes just before an entry is fetched: where in the ring that is.

While head is *h*, the entries up to *h* + P are fetched (P: prefetch depth). So an entry in slot *s* is fetched when
the entry in slot *s* − P − 1 retires, and as long as that one has not, a change of the ring is seen. Entries in slots
0 to P are fetched when their queue starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_core.injection.targets import Place, Targets


@dataclass
class Fetches:
    """When the entries of one injection are fetched.

    Attributes:
        at_start: those that are fetched as soon as their queue starts. by_place: the others, by stream and slot of the
            entry before whose end it is. kinds: kinds of those entries.
    """

    at_start: list[Place] = field(default_factory=list)
    by_place: dict[tuple[int, int], list[Place]] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)


def fetches_of(found: list[Place], targets: Targets) -> Fetches:
    """When each entry of `found` is fetched."""
    result = Fetches()
    for place in found:
        last = place.slot - place.stream.window.depth - 1
        before = [p for p in targets.places_on(place.stream) if p.slot <= last]
        if not before or before[-1].handler is None:
            result.at_start.append(place)
            continue
        result.by_place.setdefault((place.stream.id, before[-1].slot), []).append(place)
        result.kinds.add(before[-1].handler.kind)
    return result
