"""Windows: stretches of a ring decoded into columns, and what their entries do by the plans of their handlers.

A window is decoded once, however often it is executed; a write to a slot that was decoded drops it, unless the slot
is one that is executed from its bytes anyway. Most entries only take time; the others are *stops*:

| op | at a stop |
|---|---|
| `ENTRY` | nothing is known: the scheduler executes the entry, from its bytes |
| `SET`, `CLEAR` | when its time is up a flag is set or cleared |
| `ACT` | when its time is up its handler's `act` is called |
| `WAIT`, `TAKE` | it passes when a flag is set; `TAKE` clears it |
| `HOLD` | it holds a unit of a pool |
| `END` | the window ends |
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from emu_core.plans import Acts, Clears, Fixed, Holds, Sets, Waits
from emu_core.rings import SQE_BYTES
from emu_core.signals import KIND_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from emu_core.cores import CorePool
    from emu_core.device import Device
    from emu_core.engines import Handler
    from emu_core.plans import FieldName, Plan
    from emu_core.signals import SignalTable
    from emu_core.streams import Stream
    from emu_core.submissions import Submissions
    from formats.access import Piece

    Column: TypeAlias = npt.NDArray[np.integer[Any]]
    Ring: TypeAlias = npt.NDArray[np.uint8]

ENTRY, SET, CLEAR, ACT, WAIT, TAKE, HOLD, END = range(8)
CHOOSE = 255
"""Code, while decoding, of an entry whose kind another field tells."""

FIRST_WORD = 4

LONGEST = 16_384
"""Entries of the longest window."""

_OPS: dict[type, int] = {Sets: SET, Clears: CLEAR, Holds: HOLD}


Stop: TypeAlias = tuple[int, int, int, int, int]
"""An entry at which more happens than time passing: (gap, op, key, own, at).

`gap`: nanoseconds that the entries between the stop before and this one take. `op`: see the module text. `key`: key of
its flag, or nanoseconds it holds its unit, else 0. `own`: nanoseconds it takes itself. `at`: index in the window.
"""


@dataclass(frozen=True)
class Kind:
    """A handler with a plan, ready to decode: where the entry's value lies, and what it is ored with.

    `given`: fields, and what an entry must have in each to be planned.
    """

    handler: Handler
    plan: Plan
    op: int
    own: int
    value: Piece | None = None
    given: tuple[tuple[Piece, int], ...] = ()
    number: int = 0
    chosen_by: Piece | None = None

    @cached_property
    def by_first_word(self) -> bool:
        """Whether its entries are no stops and the first 32 bits of an entry tell that."""
        chosen = self.chosen_by
        return self.passes_time and (chosen is None or chosen.byte + chosen.size <= FIRST_WORD)

    @property
    def passes_time(self) -> bool:
        """Whether its entries are no stops."""
        return self.op == ENTRY


class Window:
    """Entries `lo` to `hi` (exclusive) of a ring, decoded.

    Attributes:
        hold: pool and kind of unit that entries hold, if there is one such kind only.
        run: execution of the model in which it was decoded. number: submission number of the entry in `lo`.
        stops: the last one is at the end; `at`: their indices. fresh: first slot that was not written again since.
        codes: which kind each entry is (index of `kinds`), 0 for none; uint8.
    """

    __slots__ = (
        "_durations", "_ends", "at", "codes", "fresh", "hi", "hold", "kinds", "lo", "number", "run", "signals", "stops",
        "submissions",
    )  # fmt: skip

    def __init__(self, stream: Stream, lo: int, hi: int, planner: Planner, run: int) -> None:
        units = stream.queue.view()[lo:hi]
        units = units[: planner.whole(units)]
        self.lo, self.hi, self.fresh = lo, lo + len(units), lo
        self.kinds: tuple[Kind | None, ...] = planner.kinds
        self.signals: SignalTable = planner.signals
        self.hold = planner.hold
        self.submissions: Submissions = stream.queue.submissions
        self.number: int = self.submissions.number_at(lo) or 0
        self.codes: npt.NDArray[np.uint8] = planner.codes_of(units)
        self.run = run
        for slot in stream.rewritten(run):
            if lo <= slot < self.hi:
                self.codes[slot - lo] = 0
        self._durations = planner.durations
        self._ends: Column | None = None
        self.stops: list[Stop]
        self.stops, self.at = planner.stops_of(units, self, limited=stream.model_id is not None)

    @property
    def ends(self) -> Column:
        """Nanoseconds from the start of the window to the start of each entry, counting only what takes time alone."""
        if self._ends is None:
            self._ends = np.zeros(len(self.codes) + 1, np.int64)
            np.cumsum(self._durations.take(self.codes), out=self._ends[1:])
        return self._ends

    def kind(self, at: int) -> Kind:
        """The kind of the entry at index `at`, which is planned."""
        kind: Kind | None = self.kinds[int(self.codes[at])]
        assert kind is not None
        return kind

    def hold_at(self, at: int) -> tuple[CorePool, str]:
        """The pool, and the kind of its units, that the entry at index `at` holds one of."""
        plan = self.kind(at).plan
        assert isinstance(plan, Holds)
        return plan.pool, plan.kind

    def is_stop(self, at: int) -> bool:
        """Whether the entry at index `at` is a stop."""
        place = bisect_left(self.at, at)
        return place < len(self.at) and self.at[place] == at

    def key(self, at: int) -> int:
        """The key of the stop at index `at`."""
        return self.stops[bisect_left(self.at, at)][2]


class Planner:
    """Decodes entries of one device by the plans of its handlers.

    Attributes:
        kinds: by code; code 0 is none. durations: nanoseconds of kinds that only take time, by code; int64.
        signals: the device's flags. hold: see `Window`.
    """

    def __init__(self, device: Device, watched: Iterable[str] = ()) -> None:
        self._device = device
        self.signals = device.signals
        self._limited = int(device.policies["event_wait_timeout_s"]) > 0
        header = device.layout("SqeHeader")
        flags = [header.field(name).parts for name in ("type", "pre_p", "wr_cqe")]
        words = [piece for parts in flags for piece in parts if piece.byte + piece.size <= 2]
        self._possible = len(words) == len(flags)
        kinds: list[Kind | None] = [None]
        self._lut = np.zeros(1 << 16, np.uint8)
        self._choices: list[tuple[int, Piece, npt.NDArray[np.uint8]]] = []
        self._chosen_further: set[int] = set()
        if self._possible:
            blocked = sum(p.mask << p.shift << 8 * p.byte for p in words[1:])
            self._fill(kinds, blocked, frozenset(watched))
        self.kinds = tuple(kinds)
        holds = [kind.plan for kind in kinds if kind is not None and isinstance(kind.plan, Holds)]
        self.hold = (holds[0].pool, holds[0].kind) if len(holds) == 1 else None
        self._is_stop = np.array([kind is None or not kind.passes_time for kind in kinds])
        self.durations = np.array([k.own if k is not None and k.passes_time else 0 for k in kinds], np.int64)
        self._lengths = _length_words(device)
        self._words = np.empty(LONGEST, np.uint32)
        self.useful = any(kind is not None for kind in kinds)

    def _fill(self, kinds: list[Kind | None], blocked: int, watched: frozenset[str]) -> None:
        """Give each planned handler a code, and write the codes into the table by the first 16 bits of an entry."""
        of_type = np.zeros(64, np.uint8)
        for sqe_type in range(64):
            rest, chosen, selector = self._device.dispatch.of_type(sqe_type)
            codes = {value: self._code(kinds, handler, watched) for value, handler in chosen.items()}
            code = self._code(kinds, rest, watched)
            if selector is None or not (code or any(codes.values())):
                of_type[sqe_type] = code
                continue
            piece = self._piece(selector)
            largest = max(codes)
            if piece is None or largest >= 1 << 16:
                continue
            lut = np.full(largest + 2, code, np.uint8)
            for value, each in codes.items():
                lut[value] = each
            of_type[sqe_type] = CHOOSE
            self._choices.append((sqe_type, piece, lut))
            if piece.byte + piece.size > FIRST_WORD:
                self._chosen_further.add(sqe_type)
        words = np.arange(1 << 16, dtype=np.uint32)
        self._lut = of_type.take(words & 0x3F)
        self._lut[words & blocked != 0] = 0

    def _code(self, kinds: list[Kind | None], handler: Handler | None, watched: frozenset[str]) -> int:
        if handler is None or handler.plan is None or handler.limit is not None or handler.kind in watched:
            return 0
        kind = self._kind(handler, handler.plan)
        if kind is None or len(kinds) == CHOOSE:
            return 0
        kinds.append(kind)
        return len(kinds) - 1

    def _kind(self, handler: Handler, plan: Plan) -> Kind | None:
        if isinstance(plan, Fixed):
            chosen_by = self._piece(handler.select_field) if handler.select_field else None
            return Kind(handler, plan, ENTRY, plan.duration_ns, chosen_by=chosen_by)
        if isinstance(plan, Acts):
            return Kind(handler, plan, ACT, plan.duration_ns)
        value = self._piece(plan.field)
        return None if value is None else self._stop_kind(handler, plan, value)

    def _stop_kind(self, handler: Handler, plan: Sets | Clears | Waits | Holds, value: Piece) -> Kind | None:
        if isinstance(plan, Holds):
            return Kind(handler, plan, HOLD, 0, value)
        number = self.signals.number_of(plan.signal)
        limit = (plan.limit,) if isinstance(plan, Waits) and plan.limit else ()
        conditions = (*((field, 0) for field in limit), *plan.given)
        given = tuple((piece, wanted) for field, wanted in conditions if (piece := self._piece(field)) is not None)
        if len(given) < len(conditions):
            return None
        if isinstance(plan, Waits):
            return Kind(handler, plan, TAKE if plan.clears else WAIT, 0, value, given, number)
        return Kind(handler, plan, _OPS[type(plan)], plan.duration_ns, value, given, number)

    def _piece(self, field: FieldName) -> Piece | None:
        """Where a field lies, if one aligned word of at most 32 bits holds it."""
        parts = self._device.layout(field[0]).field(field[1]).parts
        return parts[0] if len(parts) == 1 and parts[0].size <= 4 and parts[0].byte % parts[0].size == 0 else None

    def codes_of(self, units: Ring) -> npt.NDArray[np.uint8]:
        """The code of each entry; `units` is the entries, shape (entries, 64), uint8.

        Most entries of a ring begin with the same word, so only the others are looked up.
        """
        words = self._words[: len(units)]
        np.copyto(words, units.view("<u4")[:, 0])
        common = len(units) // 2
        if int(words[common]) & 0x3F in self._chosen_further:
            return self._codes_at(units)
        codes = np.empty(len(units), np.uint8)
        codes.fill(self._codes_at(units[common : common + 1])[0])
        others = np.flatnonzero(words != words[common])
        if others.size:
            codes[others] = self._codes_at(units if others.size == len(units) else units.take(others, axis=0))
        return codes

    def _codes_at(self, units: Ring) -> npt.NDArray[np.uint8]:
        codes = self._lut.take(units.view("<u2")[:, 0])
        for sqe_type, piece, lut in self._choices:
            mine = (codes == CHOOSE) & (units[:, 0] & 0x3F == sqe_type)
            # Larger values than any that is selected read the last item.
            np.copyto(codes, lut.take(_values(units, piece), mode="clip"), where=mine)
        return codes

    def whole(self, units: Ring) -> int:
        """How many entries come before the first that may be a task of several units; at least one."""
        several = len(units)
        for word, mask in self._lengths:
            found = np.flatnonzero(units.view("<u4")[:, word] & np.uint32(mask))
            several = min(several, int(found[0]) if found.size else several)
        return max(several, 1)

    def stops_of(self, units: Ring, window: Window, *, limited: bool) -> tuple[list[Stop], list[int]]:
        """The stops of a window, the end included, and their indices.

        `limited`: waits of this queue have the policy's time limit.
        """
        codes = window.codes
        common = codes[len(codes) // 2]
        at = np.flatnonzero(codes != common)
        found = codes.take(at)
        lone = self._is_stop.take(found).all() and not self._is_stop[common]
        if not lone:
            at = np.flatnonzero(self._is_stop.take(codes))
            found = codes.take(at)
        ops, keys, own = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
        for code in np.flatnonzero(np.bincount(found, minlength=1)):
            kind = self.kinds[code]
            if kind is not None and not (limited and self._limited and kind.op in (WAIT, TAKE)):
                self._fill_stops(kind, units, at, np.flatnonzero(found == code), (ops, keys, own))
        places = np.append(at, len(codes))
        # With one kind between the stops, how many there are is all that counts.
        start = (places - np.arange(len(places))) * self.durations[common] if lone else window.ends.take(places)
        columns = (np.diff(start, prepend=0), np.append(ops, END), np.append(keys, 0), np.append(own, 0))
        indices: list[int] = places.tolist()
        return list(zip(*(column.tolist() for column in columns), indices, strict=True)), indices

    @staticmethod
    def _fill_stops(kind: Kind, units: Ring, at: Column, mine: Column, columns: tuple[Column, Column, Column]) -> None:
        ops, keys, own = columns
        rows = at.take(mine)
        if kind.value is None:
            ops[mine], own[mine] = kind.op, kind.own
            return
        values = _values(units, kind.value).take(rows).astype(np.int64)
        for piece, wanted in kind.given:
            fits = _values(units, piece).take(rows) == wanted
            if not fits.all():
                rows, mine, values = rows[fits], mine[fits], values[fits]
        ops[mine] = kind.op
        own[mine] = kind.own
        keys[mine] = values if kind.op == HOLD else values << KIND_BITS | kind.number


def _values(units: Ring, piece: Piece) -> Column:
    """A field of every entry; shape (entries,)."""
    word = units.view(f"<u{piece.size}")[:, piece.byte // piece.size]
    moved = word >> word.dtype.type(piece.shift) if piece.shift else word
    whole = piece.shift + piece.mask.bit_length() == 8 * piece.size
    return moved if whole else moved & word.dtype.type(piece.mask)


def _length_words(device: Device) -> list[tuple[int, int]]:
    """32-bit words of an entry, by index, and their bits that say that a task has several units."""
    registry, family = device.host.registry, device.chip.family
    layouts = (registry.get(family, name) for name in registry.names(family))
    fields = [field for layout in layouts if (field := layout.by_name.get("sqe_length")) is not None]
    mask = reduce(or_, (((1 << f.width) - 1) << f.offset for f in fields), 0)
    words = ((word, mask >> 32 * word & 0xFFFFFFFF) for word in range(SQE_BYTES // 4))
    return [(word, bits) for word, bits in words if bits]
