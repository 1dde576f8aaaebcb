"""A pair: the same work by a peer and by this product, measured in turns.

One round is peer, product, product, peer; each turn repeats its work for at least 30 ms. The figure is the median over
rounds of (peer time per item) / (product time per item), so 12 means twelve times the peer's rate. Before anything is
timed, `prepare` must have checked that both sides give the same result.

| status | meaning |
|---|---|
| ok | the ratio reaches the target |
| short | it does not |
| noisy | it does not, but others used more than a quarter of a core meanwhile, twice in a row |
| skipped | the peer is not installed here; `reason` says which |
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.bench.load import Mark

if TYPE_CHECKING:
    from collections.abc import Callable

TURN_S = 0.03
NOISE_CORES = 0.25


class PeerMissingError(Exception):
    """The peer of a pair is not here; the message says what to install."""


class UnequalError(Exception):
    """Both sides of a pair do not give the same result: nothing is measured."""


@dataclass(frozen=True)
class Side:
    """A call and how many items of work one call does."""

    call: Callable[[], object]
    items: int


@dataclass(frozen=True)
class Pair:
    """One figure to measure.

    Attributes:
        id: number of the figure, for example `R1`.
        name: what is compared. peer: with what.
        target, stretch: ratios to reach and to aim at.
        prepare: builds both sides (peer, product) and checks that they agree.
        rounds: rounds to take the median of.
        largest: for a cost, where smaller is better: the ratio must not be above `target`.
        quotient: instead of `prepare`, gives the ratio itself: a figure that is no pair of times.
    """

    id: str
    name: str
    peer: str
    target: float
    stretch: float
    prepare: Callable[[], tuple[Side, Side]] | None = None
    rounds: int = 7
    largest: bool = False
    quotient: Callable[[], float] | None = None

    def reached(self, ratio: float) -> bool:
        """Whether `ratio` meets the target."""
        return ratio <= self.target if self.largest else ratio >= self.target


@dataclass(frozen=True)
class Figure:
    """A measured pair; `low` and `high` are the smallest and largest round, `foreign` cores used by others."""

    id: str
    name: str
    peer: str
    target: float
    stretch: float
    status: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    foreign: float = 0.0
    reason: str = ""


def measure(pair: Pair) -> Figure:
    """Measure `pair`; repeated once when it falls short while others were busy."""
    if pair.prepare is None:
        return _told(pair)
    try:
        sides = pair.prepare()
    except PeerMissingError as missing:
        return Figure(pair.id, pair.name, pair.peer, pair.target, pair.stretch, "skipped", reason=str(missing))
    figure = _once(pair, *sides)
    if figure.status == "short" and figure.foreign > NOISE_CORES:
        figure = _once(pair, *sides)
        if figure.status == "short" and figure.foreign > NOISE_CORES:
            return _judged(pair, figure, "noisy")
    return figure


def _told(pair: Pair) -> Figure:
    """A figure that gives its own ratio."""
    assert pair.quotient is not None
    mark = Mark.now()
    ratio = pair.quotient()
    status = "ok" if pair.reached(ratio) else "short"
    return Figure(
        pair.id, pair.name, pair.peer, pair.target, pair.stretch, status, ratio, ratio, ratio, mark.foreign_since()
    )


def _judged(pair: Pair, figure: Figure, status: str) -> Figure:
    return Figure(
        pair.id, pair.name, pair.peer, pair.target, pair.stretch, status, figure.ratio, figure.low, figure.high,
        figure.foreign,
    )  # fmt: skip


def _once(pair: Pair, peer: Side, product: Side) -> Figure:
    peer.call()
    product.call()
    mark = Mark.now()
    ratios = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(pair.rounds):
            turns = [_turn(side) for side in (peer, product, product, peer)]
            ratios.append((turns[0] + turns[3]) / (turns[1] + turns[2]))
    finally:
        if collecting:
            gc.enable()
    if pair.largest:
        ratios = [1 / r for r in ratios]
    ratio = statistics.median(ratios)
    status = "ok" if pair.reached(ratio) else "short"
    return Figure(
        pair.id, pair.name, pair.peer, pair.target, pair.stretch, status, ratio, min(ratios), max(ratios),
        mark.foreign_since(),
    )  # fmt: skip


def _turn(side: Side) -> float:
    """Seconds per item over at least `TURN_S`."""
    calls = 0
    start = time.perf_counter()
    while True:
        side.call()
        calls += 1
        spent = time.perf_counter() - start
        if spent >= TURN_S:
            return spent / (calls * side.items)
