"""The same programs on simpy: one process per stream, events for flags, a Resource for the cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.bench.pairs import PeerMissingError
from tools.bench.queues import RECORD, WAIT, WORK_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.bench.queues import Shape


def simpy_module() -> Any:  # noqa: ANN401 - a module without types
    """simpy; `PeerMissingError` when it is not installed."""
    try:
        import simpy  # noqa: PLC0415 - an optional peer
    except ImportError:
        raise PeerMissingError("simpy is not installed; pip install 'sqemu[bench]'") from None
    return simpy


class EventProgram:
    """A program of work, records and waits; `run` gives the time at which each stream has ended."""

    def __init__(self, shape: Shape, event_ns: int) -> None:
        self._shape = shape
        self._event_ns = event_ns
        self._simpy = simpy_module()
        self._kinds = list(shape.kinds())

    def run(self) -> list[int]:
        """Simulate it once."""
        shape, env = self._shape, self._simpy.Environment()
        periods = shape.tasks // shape.period
        flags = [[env.event() for _ in range(shape.streams)] for _ in range(periods)]
        ends = [0] * shape.streams

        def stream(number: int) -> Iterator[Any]:
            before = shape.before(number)
            for kind, period in self._kinds:
                if kind == RECORD:
                    yield env.timeout(self._event_ns)
                    flags[period][number].succeed()
                elif kind == WAIT:
                    yield flags[period][before]
                else:
                    yield env.timeout(WORK_NS)
            ends[number] = env.now

        for number in range(shape.streams):
            env.process(stream(number))
        env.run()
        return ends


class PoolProgram:
    """Streams whose every task holds one of `cores` cores for its own time; `run` gives the end of each stream."""

    def __init__(self, times: Sequence[Sequence[int]], cores: int) -> None:
        self._times = times
        self._cores = cores
        self._simpy = simpy_module()

    def run(self) -> list[int]:
        """Simulate it once."""
        env = self._simpy.Environment()
        pool = self._simpy.Resource(env, self._cores)
        ends = [0] * len(self._times)

        def stream(number: int) -> Iterator[Any]:
            for length in self._times[number]:
                with pool.request() as core:
                    yield core
                    yield env.timeout(length)
            ends[number] = env.now

        for number in range(len(self._times)):
            env.process(stream(number))
        env.run()
        return ends
