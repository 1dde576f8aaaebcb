"""Why a task started when it did, link by link back to the host.

| link | from .. to | what it says |
|---|---|---|
| `ran` | start .. end | a task executed, and what it did for the next: was before it, set its flag, activated it |
| `coreless` | start .. a core is free | the same task had no core yet |
| `waited` | the end of a wait (no time) | a wait passed, since when it had waited and for what |
| `noticed` | flag set .. wait passes | the flag was noticed late |
| `held` | end of the task before .. start | no event says what held the queue: a slot, a pause … |
| `host` | end of the last task .. doorbell | the host submitted |

The links that take time follow each other without a gap from the first cause to the task: they are the critical path.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.trace import Doorbell, SignalChanged
from tools.trace.tasks import Tasks

if TYPE_CHECKING:
    from tools.trace.source import RecordedRun
    from tools.trace.tasks import Task

RAN, CORELESS, WAITED, NOTICED, HELD, HOST = "ran", "coreless", "waited", "noticed", "held", "host"


@dataclass(frozen=True)
class Link:
    """One link: see the module text. `task`: whose it is; None for the host. `why`: what it did for the next one."""

    what: str
    since: int
    until: int
    task: Task | None
    why: str


class Causes:
    """Causes in one execution; `tasks` are its tasks."""

    def __init__(self, run: RecordedRun) -> None:
        self.tasks = Tasks(run.events)
        self._bells: dict[int, list[tuple[int, Doorbell]]] = {}
        for at, event in enumerate(run.events):
            if isinstance(event, Doorbell):
                self._bells.setdefault(event.stream, []).append((at, event))
        self._started = run.started
        self._ends = sorted((t for t in self.tasks.all if t.ended is not None), key=lambda task: task.ended_at)
        self._end_places = [task.ended_at for task in self._ends]

    def last(self) -> Task | None:
        """The task that ended or failed last."""
        return max((t for t in self.tasks.all if t.ended_at >= 0), key=lambda task: task.ended_at, default=None)

    def path(self, task: Task) -> list[Link]:
        """From the first cause to the end of `task`, earliest first."""
        links = self.chain(task)[::-1]
        return [*links, *reversed(self._executed(task, "failed" if task.fault else "ended last"))]

    def chain(self, task: Task) -> list[Link]:
        """Why `task` started when it did, latest first; empty when it did not start."""
        found: list[Link] = []
        here: Task | None = task if task.started is not None else None
        while here is not None:
            links, before = self._one(here)
            found += links
            here = before if before is not None and before.started_at < here.started_at else None
        return found

    def _one(self, task: Task) -> tuple[list[Link], Task | None]:
        """The links from the start of `task` to the start of what caused it, latest first; and that task."""
        if task.waits_since is not None:
            return self._released(task)
        return self._came_to_head(task)

    def _released(self, task: Task) -> tuple[list[Link], Task | None]:
        """A wait that passed: who set its flag."""
        started, since = task.started or 0, task.waits_since or 0
        wait = Link(WAITED, started, started, task, f"waited for {task.signal} since {since} ns")
        setting = self.tasks.setting(task)
        if setting is None or setting[0] < task.at:
            held = Link(HELD, since, started, task, f"no event says who set {task.signal}")
            links, source = self._came_to_head(task)
            return [wait, held, *links], source
        at, event = setting
        late = [Link(NOTICED, event.time, started, task, f"noticed {task.signal} late")] if event.time < started else []
        setter = self.tasks.setter(at, event)
        if setter is None:
            return [wait, *late, Link(HOST, event.time, event.time, None, f"set {task.signal}")], None
        return [wait, *late, *self._executed(setter, f"set {task.signal}", event)], setter

    @staticmethod
    def _executed(task: Task, why: str, act: SignalChanged | None = None) -> list[Link]:
        """The execution of `task`, up to what it did if that was before its end; latest first."""
        start = task.started or 0
        end = max(act.time, start) if act is not None else task.failed or start if task.ended is None else task.ended
        cores = min(start + task.coreless, end)
        late = [Link(CORELESS, start, cores, task, "had no core")] if task.coreless else []
        return [Link(RAN, cores, end, task, why), *late]

    def _came_to_head(self, task: Task) -> tuple[list[Link], Task | None]:
        """What let `task` come to the head of its queue: the task before it, or a doorbell."""
        before, bell = self.tasks.before(task), self._bell(task)
        if before is not None and before.ended is not None and (bell is None or bell[0] < before.ended_at):
            gap = task.begun - before.ended
            held = [Link(HELD, before.ended, task.begun, task, "was held, no event says by what")] if gap > 0 else []
            return [*held, *self._executed(before, "was before it in the queue")], before
        if bell is None:
            return [], None
        return self._rung(task, *bell)

    def _bell(self, task: Task) -> tuple[int, Doorbell] | None:
        """The last doorbell of its queue before `task` was seen."""
        bells = self._bells.get(task.stream, [])
        later = bisect_right(bells, task.at, key=lambda bell: bell[0])
        return bells[later - 1] if later else None

    def _rung(self, task: Task, at: int, bell: Doorbell) -> tuple[list[Link], Task | None]:
        """Who rang a doorbell: the task that ends with it, or the host after what ended last."""
        held = [Link(HELD, bell.time, task.begun, task, "had to wait for its turn")] if task.begun > bell.time else []
        if bell.reason == "activate":
            later = bisect_right(self._end_places, at)
            by = next((t for t in self._ends[later:] if t.stream != task.stream and t.ended == bell.time), None)
            if by is not None:
                return [*held, *self._executed(by, f"activated stream {task.stream}")], by
        what = "submitted it" if bell.reason == "submit" else f"activated stream {task.stream}"
        earlier = bisect_left(self._end_places, at)
        before = self._ends[earlier - 1] if earlier else None
        since = self._started if before is None or before.ended is None else before.ended
        links = [*held, Link(HOST, since, bell.time, None, what)]
        if before is None:
            return links, None
        return [*links, *self._executed(before, "ended last before that")], before

    def holders(self, task: Task) -> list[Task]:
        """Tasks on the engine of `task` while it had no core."""
        start = task.started or 0
        until = start + task.coreless
        return [
            other
            for other in self.tasks.all
            if other is not task and other.engine == task.engine and other.started is not None
            and other.started < until and (other.ended is None or other.ended > start)
        ] if task.coreless else []  # fmt: skip
