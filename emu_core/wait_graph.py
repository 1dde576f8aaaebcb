"""Who waits for whom when nothing can run: the wait-for graph of a device, and what to do about it.

| node | edge to | because |
|---|---|---|
| a queue that cannot go on | the flag at which its entry waits | the flag is not set |
| | cores, room in the completion ring, an active slot, the host | it lacks them (`Stuck.lacks`) |
| a flag | each entry that sets it (`emu_core.setters`) | nobody else does |
| such an entry, *behind* | the queue it lies in | entries run in order |

Following the edges from any queue ends at a *root*. Roots become verdicts; each says what is wrong and one way out.

| cause | root |
|---|---|
| `cycle` | a circle of queues: each waits for an entry behind the wait of the next |
| `missing` | a flag that no entry sets |
| `fault` | an entry that would set the flag lies in a queue that stopped with an error |
| `inactive` | such an entry lies in a queue that nobody activated |
| `consumed` | all entries that set the flag have run: it was lost, or cleared again, by whom is told if it is known |
| `resource` | the queue lacks no flag but cores, room, a slot or the host |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from emu_core.setters import Setter, SetterState, setters_of
from emu_core.trace import SignalChanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.device import Device
    from emu_core.reports import Blocked
    from emu_core.signals import Signal

EVENTS_READ = 200_000
"""A longer trace is not searched for who cleared a flag."""


class Cause(StrEnum):
    """Why nothing goes on; see the module text."""

    CYCLE = "cycle"
    MISSING = "missing"
    FAULT = "fault"
    INACTIVE = "inactive"
    CONSUMED = "consumed"
    RESOURCE = "resource"


@dataclass(frozen=True)
class Stuck:
    """A queue that cannot go on; if it lacks a flag, the entries that set it. `why`: who would have to act."""

    stream: int
    name: str
    slot: int
    task: int
    kind: str
    node: str
    since: int
    lacks: str
    why: str
    is_flag: bool
    setters: tuple[Setter, ...] = ()

    @property
    def place(self) -> str:
        """Which entry waits."""
        return f"stream {self.stream} task {self.task} ({self.kind}{f' of {self.node}' if self.node else ''})"


@dataclass(frozen=True)
class Verdict:
    """One root: its cause, the queues from which it was reached (of a cycle: those in it, in order), and a way out."""

    cause: Cause
    streams: tuple[int, ...]
    what: str
    remedy: str

    def text(self) -> str:
        """Two lines of the report."""
        return f"  because: {self.what}\n  do: {self.remedy}"


@dataclass(frozen=True)
class WaitGraph:
    """All queues that cannot go on, and the verdicts, in the order of their first queue."""

    waits: tuple[Stuck, ...]
    verdicts: tuple[Verdict, ...]


def wait_graph(device: Device, blocked: Sequence[Blocked]) -> WaitGraph:
    """The graph of the queues in `blocked`."""
    flags = {b.stream: s for b in blocked if (s := device.streams[b.stream].waits_for) is not None}
    found = setters_of(device, flags.values())
    waits = tuple(_stuck(b, flags.get(b.stream), found) for b in blocked)
    return WaitGraph(waits, _verdicts(device, waits))


def _stuck(b: Blocked, flag: Signal | None, found: dict[Signal, tuple[Setter, ...]]) -> Stuck:
    setters = () if flag is None else found[flag]
    return Stuck(
        b.stream, b.name, b.slot, b.task, b.kind, b.node, b.since, b.signal, b.setter, flag is not None, setters
    )


def _verdicts(device: Device, waits: Sequence[Stuck]) -> tuple[Verdict, ...]:
    by_stream = {wait.stream: wait for wait in waits}
    roots: dict[tuple[int, ...] | str, dict[int, None]] = {}
    for wait in waits:
        root = _root(wait, by_stream)
        end = by_stream[root[0]]
        key = root if len(root) > 1 or end.is_flag else end.lacks  # those that lack the same thing are told together
        roots.setdefault(key, {}).update(dict.fromkeys((*root, wait.stream)))
    return tuple(_verdict(device, key, tuple(reached), by_stream) for key, reached in roots.items())


def _root(wait: Stuck, by_stream: dict[int, Stuck]) -> tuple[int, ...]:
    """The circle that is reached from `wait`, from its smallest stream on, or the one queue where the edges end."""
    path: list[int] = []
    while wait.stream not in path:
        path.append(wait.stream)
        ahead = next((s for s in wait.setters if s.state is SetterState.BEHIND and s.stream in by_stream), None)
        if ahead is None:
            return (wait.stream,)
        wait = by_stream[ahead.stream]
    circle = path[path.index(wait.stream) :]
    first = circle.index(min(circle))
    return (*circle[first:], *circle[:first], circle[first])  # the first again: a circle, even of one queue


def _verdict(
    device: Device, root: tuple[int, ...] | str, streams: tuple[int, ...], by_stream: dict[int, Stuck]
) -> Verdict:
    wait = by_stream[streams[0]]
    if isinstance(root, str):
        return _lacking(streams, root, by_stream)
    if len(root) > 1:
        return _cycle([by_stream[stream] for stream in root[:-1]])
    states = {setter.state: setter for setter in reversed(wait.setters)}
    for state, cause, remedy in _STATES:
        if state in states:
            setter = states[state]
            what = f"{wait.place} waits for {wait.lacks}: {setter.text()}{_cleared(device, cause, wait)}"
            return Verdict(cause, streams, what, remedy.format(setter=setter, wait=wait))
    what = f"{wait.place} waits for {wait.lacks}, which no entry of any stream sets"
    remedy = f"let a task of another stream set {wait.lacks}, or take the wait out"
    return Verdict(Cause.MISSING, streams, what, remedy)


def _lacking(streams: tuple[int, ...], lacks: str, by_stream: dict[int, Stuck]) -> Verdict:
    """Queues that lack no flag but the same thing."""
    alike = [by_stream[s] for s in streams if not by_stream[s].is_flag and by_stream[s].lacks == lacks]
    first = alike[0]
    others = ", ".join(str(stuck.stream) for stuck in alike[1:])
    more = f"; so {'do streams' if len(alike) > 2 else 'does stream'} {others}" if others else ""
    return Verdict(
        Cause.RESOURCE, streams, f"{first.place} lacks {lacks}: {first.why}{more}", _RESOURCES.get(lacks, _CORES)
    )


_CORES = "give the launch fewer blocks that wait for each other, or a chip with more cores"
_RESOURCES = {
    "room in the completion ring": "let the host read completion entries (policy completion_reader)",
    "an active slot": "use fewer streams at once: a queue keeps its slot until it is empty",
    "the host to resume it": "resume the stream",
}
_STATES = (
    (SetterState.STOPPED, Cause.FAULT, "repair the fault of stream {setter.stream} first"),
    (SetterState.INACTIVE, Cause.INACTIVE, "activate stream {setter.stream}, or bind it to the model as one that is"),
    (
        SetterState.BEHIND, Cause.RESOURCE,
        "find out what holds stream {setter.stream}: it is at task {setter.head} and should go on",
    ),
    (
        SetterState.RAN, Cause.CONSUMED,
        "set {wait.lacks} once for each wait, and do not reset it before {wait.place} has passed",
    ),
)  # fmt: skip
"""What is said of a flag whose setters are in these states; the first that applies."""


def _cleared(device: Device, cause: Cause, wait: Stuck) -> str:
    """Who cleared the flag last, if the trace tells."""
    if cause is not Cause.CONSUMED or SignalChanged not in device.trace.enabled or len(device.trace) > EVENTS_READ:
        return ""
    events = [e for e in device.trace if isinstance(e, SignalChanged) and e.signal == wait.lacks and not e.value]
    if not events:
        return ""
    last = events[-1]
    by = f"stream {last.stream} task {last.task}" if last.stream >= 0 else "the host"
    return f"; {by} cleared it at {last.time} ns"


def _cycle(waits: list[Stuck]) -> Verdict:
    """Each queue of the circle waits for an entry behind the wait of the next one."""
    following = [*waits[1:], waits[0]]
    ahead = [next(s for s in w.setters if s.stream == n.stream) for w, n in zip(waits, following, strict=True)]
    streams = tuple(wait.stream for wait in waits)
    first, setter = waits[0], ahead[0]
    if len(waits) == 1:
        what = f"{first.place} waits for {first.lacks}, which only its own stream sets later, at task {setter.task}"
        remedy = f"put task {setter.task} before task {first.task}, or on another stream"
        return Verdict(Cause.CYCLE, streams, what, remedy)
    links = [f"{w.place} waits for {w.lacks} of {s.place}" for w, s in zip(waits, ahead, strict=True)]
    what = f"a circle: {'; '.join(links)}; which stands behind stream {first.stream} task {first.task}"
    remedy = (
        f"put task {setter.task} of stream {setter.stream} before its wait, task {following[0].task}; "
        "or break another link"
    )
    return Verdict(Cause.CYCLE, streams, what, remedy)
