"""The whole pipeline as the libraries' own guides would have it written: construct, pluggy, simpy, structlog, json.

Each stream is a simpy process. Each entry is parsed by construct, handed to the plugins through a first-result hook of
pluggy, waited for, and logged through structlog with standard logging underneath; patches parse, change and build the
target; the trace is a Chrome trace, dumped at the end.
"""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pluggy
import structlog

from tools.bench.peers import simpy_module
from tools.bench.queues import PATCH, RECORD, WAIT, WORK, WORK_NS
from tools.bench.stock import stock_construct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from formats import CStruct
    from tools.bench.queues import Shape, Units

_spec, _impl = pluggy.HookspecMarker("naive"), pluggy.HookimplMarker("naive")


class _Spec:
    @_spec(firstresult=True)
    def duration(self, kind: int) -> int | None:
        """Nanoseconds of an entry of this kind; None from who does not know it."""


class _Works:
    @_impl
    def duration(self, kind: int) -> int | None:
        """Work and patches."""
        return WORK_NS if kind in (WORK, PATCH) else None


class _Records:
    def __init__(self, event_ns: int) -> None:
        self._event_ns = event_ns

    @_impl
    def duration(self, kind: int) -> int | None:
        """Event records."""
        return self._event_ns if kind == RECORD else None


class _Waits:
    @_impl
    def duration(self, kind: int) -> int | None:
        """Event waits."""
        return 0 if kind == WAIT else None


def plugin_manager(event_ns: int) -> pluggy.PluginManager:
    """Three plugins that each know some kinds; the one that knows most entries is asked first."""
    manager = pluggy.PluginManager("naive")
    manager.add_hookspecs(_Spec)
    for plugin in (_Waits(), _Records(event_ns), _Works()):
        manager.register(plugin)
    return manager


def json_logger(out: io.StringIO) -> Any:  # noqa: ANN401 - structlog's own proxy type
    """A structlog logger that renders JSON through a handler of the standard library, by its documentation."""
    shared: list[Any] = [structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso")]
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logger = logging.Logger("sqemu-bench-naive", logging.INFO)  # noqa: LOG001 - the root's handlers are not ours
    logger.addHandler(handler)
    return structlog.wrap_logger(
        logger,
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    ).bind()


class NaivePipeline:
    """A program of `tools.bench.queues` on the libraries.

    Attributes:
        rings: as the run leaves them. ends: when each stream ended. log, trace: what was written.
    """

    def __init__(self, shape: Shape, rings: Sequence[Units], layouts: dict[str, CStruct], event_ns: int) -> None:
        self._shape = shape
        self._given = [ring.tobytes() for ring in rings]
        self._event_ns = event_ns
        self._simpy = simpy_module()
        self._kernel = stock_construct(layouts["AicoreKernelSqe"])
        self._record = stock_construct(layouts["EventRecordSqe"])
        self._wait = stock_construct(layouts["EventWaitSqe"])
        self.rings: list[bytearray] = []
        self.ends: list[int] = []
        self.log = self.trace = ""

    def run(self) -> None:
        """Run it once, from the rings as they were given."""
        self.rings = [bytearray(ring) for ring in self._given]
        self.ends = [0] * self._shape.streams
        env, out = self._simpy.Environment(), io.StringIO()
        slices: list[Any] = []
        hook, log = plugin_manager(self._event_ns).hook, json_logger(out)
        flags: dict[int, Any] = {}
        for number in range(self._shape.streams):
            env.process(self._stream(env, number, hook, log, slices, flags))
        env.run()
        self.log = out.getvalue()
        self.trace = json.dumps({"traceEvents": slices})

    def _stream(
        self,
        env: Any,  # noqa: ANN401 - simpy has no types
        number: int,
        hook: Any,  # noqa: ANN401 - hooks are made at run time
        log: Any,  # noqa: ANN401 - structlog's own proxy type
        slices: list[Any],
        flags: dict[int, Any],
    ) -> Iterator[Any]:
        ring = self.rings[number]
        layouts = {RECORD: self._record, WAIT: self._wait}
        for slot in range(self._shape.tasks):
            raw = bytes(ring[64 * slot : 64 * slot + 64])
            sqe = layouts.get(raw[0] & 63, self._kernel).parse(raw)
            started = env.now
            length = hook.duration(kind=sqe["type"])
            if length:
                yield env.timeout(length)
            if sqe["type"] == RECORD:
                flags.setdefault(sqe["event_id"], env.event()).succeed()
            elif sqe["type"] == WAIT:
                yield flags.setdefault(sqe["event_id"], env.event())
            elif sqe["type"] == PATCH:
                self._patch(ring, sqe, log.info, env.now, number)
            log.info("task.done", time=env.now, stream=number, slot=slot, task=slot, kind=sqe["type"], started=started)
            slices.append(
                {"name": sqe["type"], "ph": "X", "ts": started, "dur": env.now - started, "pid": 0, "tid": number}
            )
        self.ends[number] = env.now

    def _patch(self, ring: bytearray, sqe: Any, info: Any, now: int, number: int) -> None:  # noqa: ANN401 - as above
        at = sqe["param_addr_low"]
        target = self._kernel.parse(bytes(ring[64 * at : 64 * at + 64]))
        before, target["pc_addr_low"] = target["pc_addr_low"], sqe["pc_addr_low"]
        ring[64 * at : 64 * at + 64] = self._kernel.build(target)
        after = sqe["pc_addr_low"]
        info("sqe.patch", time=now, stream=number, slot=at, field="pc_addr_low", before=before, after=after)
