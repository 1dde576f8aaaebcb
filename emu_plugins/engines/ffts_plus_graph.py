"""A graph of contexts on the cores of a device: what is ready starts, what ends counts its successors down.

The threads of a context ask for cores in order, at most `IN_FLIGHT` of them at a time, which is more than a chip has
cores; a context ends with its last thread. Memory effects of a thread come at its end, so that successors see them. The
first fault stops everything, and is the fault of the entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.cores import Job
from emu_core.errors import DeviceFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.clock import Clock
    from emu_core.cores import Demand, Pool
    from emu_plugins.engines.ffts_plus_contexts import ContextTask, Thread

    Prepare = Callable[[Thread], tuple[Demand, Callable[[], None]]]


IN_FLIGHT = 256


class ContextGraph:
    """Runs the contexts of one entry; a `Pool` for the scheduler.

    Args:
        clock: virtual time. cores: where the threads run. contexts: all, by index.
        prepare: what a thread needs, and what it does at its end; may raise `DeviceFault`.
    """

    def __init__(self, clock: Clock, cores: Pool, contexts: Sequence[ContextTask], prepare: Prepare) -> None:
        self._clock = clock
        self._cores = cores
        self._contexts = contexts
        self._prepare = prepare
        self._waits = [c.waits_for for c in contexts]
        self._asked = [0] * len(contexts)
        self._ended = [0] * len(contexts)
        self._running: list[tuple[int, Job]] = []
        self._fault: DeviceFault | None = None

    def submit(self, job: Job) -> None:
        """Start every context that waits for none."""
        job.asked = job.started_at = self._clock.now
        for context in self._contexts:
            if not context.waits_for:
                self._begin(job, context)

    def cancel(self, job: Job) -> None:
        """Drop all that runs."""
        del job
        running, self._running = self._running, []
        for _, part in running:
            self._cores.cancel(part)

    def why(self, job: Job) -> str:
        """What the contexts that have started wait for."""
        del job
        parts = [f"context {index}: {self._cores.why(part)}" for index, part in self._running]
        return "; ".join(parts[:4])

    def finish(self) -> None:
        """Raise the fault that stopped the graph, if one did."""
        if self._fault is not None:
            raise self._fault

    def _begin(self, job: Job, context: ContextTask) -> None:
        for _ in range(min(context.threads, IN_FLIGHT)):
            self._next(job, context)

    def _next(self, job: Job, context: ContextTask) -> None:
        """Start the next thread of `context`, if there is one and nothing failed."""
        number = self._asked[context.index]
        if number == context.threads or self._fault is not None:
            return
        self._asked[context.index] += 1
        try:
            demand, run = self._prepare(context.thread(number))
        except DeviceFault as fault:
            self._stop(job, fault)
            return
        self._start(job, context, demand, run)

    def _start(self, job: Job, context: ContextTask, demand: Demand, run: Callable[[], None]) -> None:
        def ended() -> None:
            self._running.remove(entry)
            try:
                run()
            except DeviceFault as fault:
                self._stop(job, fault)
                return
            self._thread_ended(job, context)

        part = Job(job.stream_id, job.priority, demand, ended)
        entry = (context.index, part)
        self._running.append(entry)
        self._cores.submit(part)

    def _thread_ended(self, job: Job, context: ContextTask) -> None:
        self._ended[context.index] += 1
        self._next(job, context)
        if self._ended[context.index] == context.threads:
            self._context_ended(job, context)

    def _context_ended(self, job: Job, context: ContextTask) -> None:
        for following in context.successors:
            self._waits[following] -= 1
            if not self._waits[following]:
                self._begin(job, self._contexts[following])
        if not self._running and self._fault is None:
            job.done()

    def _stop(self, job: Job, fault: DeviceFault) -> None:
        self._fault = fault
        self.cancel(job)
        job.done()
