"""Random plans over a program: one injection, sometimes two, each of something that the program has.

At most one limit is shrunk, since a second one need not be smaller than what the first one left.

The same seed and number give the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from emu_core.errors import DeviceFault
from emu_core.injection.buffers import CELLS, address_of_cell
from emu_core.injection.plan import (
    CorruptBuffer,
    CorruptCell,
    DelayRecord,
    DropRecord,
    Entry,
    FailTask,
    FlipContext,
    FlipField,
    Plan,
    ShrinkLimit,
    Stall,
    plan_of,
)
from emu_core.injection.targets import Place, places, sets_something

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.injection.plan import Injection
    from emu_core.memory import Allocation
    from emu_core.model import Model
    from formats import CStruct

CODES = (0x25, 0x26, 0x2A, 0x31, 0x91, 0x95, 0x103, 0x106, 0x10E, 0x10F, 0x7)
MOST_BYTES = 8
SECOND = 0.2
"""How often a plan has a second injection."""
LIMITS = {
    "streams": "max_streams", "events": "max_events", "notifies": "max_notifies", "tasks": "usable_tasks",
    "all_tasks": "persistent_tasks", "ring": "sq_depth", "completions": "cq_depth", "cores": "core_num_aic",
    "ai_cpus": "ai_cpus", "memory": "memory_bytes",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A field that bits may be flipped of."""

    place: Place
    name: str
    width: int


class Source:
    """What a program has, to draw plans from.

    Args:
        model: after an execution without a plan, so that its caller's ring shows what comes there.
        ended: virtual time at which an execution without a plan ends.
    """

    def __init__(self, model: Model, ended: int) -> None:
        device = model.device
        self.device = device
        self.ended = ended
        self.places = [p for p in places(model) if p.handler is not None]
        self.records = [p for p in self.places if p.handler is not None and sets_something(p.handler)]
        self.caller = model.caller.id
        self.nodes = sorted({p.node for p in self.places if p.node})
        self.cells = [(n, c) for n in self.nodes for c in CELLS if address_of_cell(device, n, c) is not None]
        self.buffers = [a for a in device.memory.allocations() if a.size]

    def struct(self, place: Place) -> CStruct:
        """The layout of an entry."""
        return self.device.host.registry.decode(self.device.chip.family, place.stream.queue.entry(place.slot)).struct


def draw(source: Source, seed: int, number: int) -> Plan:
    """Plan `number` of `seed`."""
    random = Random(f"{seed}:{number}")  # noqa: S311 - plans are no secrets
    count = 2 if random.random() < SECOND else 1
    drawn: list[Injection] = []
    while len(drawn) < count:
        found = random.choice(DRAWS)(random, source)
        limited = any(isinstance(one, ShrinkLimit) for one in drawn)
        if found is not None and not (limited and isinstance(found, ShrinkLimit)):
            drawn.append(found)
    return plan_of(*drawn)


def _entry(random: Random, place: Place) -> Entry:
    """`place`, named in one of the ways in which users name entries."""
    assert place.handler is not None
    if random.random() < 1 / 3 and place.node:
        return Entry(node=place.node, kind=place.handler.kind)
    if random.random() < 1 / 4:
        return Entry(kind=place.handler.kind, nth=random.choice((None, 1, 2)))
    return Entry(stream=place.stream.id, task=place.task)


def _drop(random: Random, source: Source) -> Injection | None:
    return DropRecord(_entry(random, random.choice(source.records))) if source.records else None


def _delay(random: Random, source: Source) -> Injection | None:
    if not source.records:
        return None
    return DelayRecord(_entry(random, random.choice(source.records)), random.choice((1, 600, source.ended)))


def _flip(random: Random, source: Source) -> Injection | None:
    place = random.choice(source.places)
    struct = source.struct(place)
    fields = [f for f in struct.fields if f.count is None]
    field = random.choice([f for f in fields if not f.reserved] or fields)
    entry = Entry(stream=place.stream.id, task=place.task)
    bits = tuple(sorted(random.sample(range(field.bits), min(field.bits, random.choice((1, 1, 2))))))
    moment = random.choice(("execute", "execute" if place.stream.id == source.caller else "fetch", None))
    if moment is not None:
        return FlipField(entry, field.name, bits=bits, when=moment)  # type: ignore[arg-type]  # one of the two
    return FlipField(entry, field.name, bits=bits, at_ns=random.randrange(source.ended))


def _flip_context(random: Random, source: Source) -> Injection | None:
    with_context = [p for p in source.places if _context(source, p) is not None]
    if not with_context:
        return None
    place = random.choice(with_context)
    struct = _context(source, place)
    assert struct is not None
    field = random.choice([f for f in struct.fields if f.count is None])
    bits = (random.randrange(field.bits),)
    return FlipContext(Entry(stream=place.stream.id, task=place.task), field.name, bits=bits)


def _context(source: Source, place: Place) -> CStruct | None:
    handler = place.handler
    if handler is None or handler.preload is None:
        return None
    found = source.device.contexts.at(handler.preload(place.stream.queue.entry(place.slot))[0])
    return found.struct if found is not None else None


def _fail(random: Random, source: Source) -> Injection | None:
    return FailTask(_entry(random, random.choice(source.places)), random.choice(CODES))


def _stall(random: Random, source: Source) -> Injection | None:
    place = random.choice(source.places)
    assert place.handler is not None
    ns = random.choice((None, 1, 1000, 10 * source.ended))
    whole = random.choice((Entry(stream=place.stream.id), Entry(engine=place.handler.engine), _entry(random, place)))
    return Stall(whole, ns)


def _cell(random: Random, source: Source) -> Injection | None:
    if not source.cells:
        return None
    node, cell = random.choice(source.cells)
    if not any(p.node == node and p.handler is not None and p.handler.kind == "task_update" for p in source.places):
        return None
    if random.random() < 1 / 2:
        return CorruptCell(node, cell, value=random.choice((0, 1, 2, 5, 0xFFFF)))
    return CorruptCell(node, cell, bits=(random.randrange(8 * CELLS[cell][1]),))


def _buffer(random: Random, source: Source) -> Injection | None:
    found = random.choice(source.buffers)
    size = min(random.randint(1, MOST_BYTES), found.size)
    offset = random.randint(0, found.size - size)
    if not _plain(source, found, offset, size):
        return None
    changed = random.randbytes(size).hex()
    moment: dict[str, object] = {"at_ns": random.randrange(source.ended)}
    if random.random() < 1 / 2:
        moment = {"entry": _entry(random, random.choice(source.places))}
    return CorruptBuffer(found.label, offset, **{random.choice(("bytes", "xor")): changed}, **moment)  # type: ignore[arg-type]


def _plain(source: Source, found: Allocation, offset: int, size: int) -> bool:
    try:
        source.device.memory.refuse_protected(found.address + offset, size)
    except DeviceFault:
        return False
    return True


def _shrink(random: Random, source: Source) -> Injection | None:
    limit = random.choice(sorted(LIMITS))
    present = getattr(source.device.chip, LIMITS[limit])
    if present <= 2:
        return None
    return ShrinkLimit(limit, random.choice((2, random.randint(2, present - 1), present // 2 + 1)))  # type: ignore[arg-type]


DRAWS: tuple[Callable[[Random, Source], Injection | None], ...] = (
    _drop, _delay, _flip, _flip, _flip, _flip_context, _fail, _stall, _cell, _buffer, _buffer, _buffer, _shrink,
)  # fmt: skip
"""Ways to draw an injection; those that are there more often are drawn more often."""
