"""What a run reports beside its outputs: faults, hazards, deadlocks — all plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_core.codes import ts_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.wait_graph import WaitGraph


def _of(node: str) -> str:
    return f" of {node}" if node else ""


_QUOTES = str.maketrans({'"': '\\"', "\\": "\\\\"})


def one_line(name: str) -> str:
    """A name that a user chose, with its line breaks and other control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


@dataclass(frozen=True)
class Fault:
    """A task that failed.

    Attributes:
        id: stable id; `sqemu explain ID` tells more.
        what: one sentence. `remedy`: what to do.
        ts_code, acl_code: task scheduler code and the ACL code the host sees.
        error_type: error bits of the completion entry.
        time: virtual nanoseconds. `run`: execution of the model, from 1.
        stream, slot, task, kind, engine: where.
        consequences: what stopped because of it, one sentence each.
        node: graph node of the task, empty when it has none.
    """

    id: str
    what: str
    ts_code: int
    acl_code: int
    error_type: int
    time: int
    run: int
    stream: int
    slot: int
    task: int
    kind: str
    engine: str
    remedy: str = ""
    consequences: tuple[str, ...] = ()
    node: str = ""

    def text(self) -> str:
        """The fault in words, cause first, consequences indented below."""
        head = (
            f"fault {self.id}: stream {self.stream} task {self.task} ({self.kind}{_of(self.node)}): {self.what} "
            f"[TS {self.ts_code:#x} {ts_name(self.ts_code)}, ACL {self.acl_code}] at {self.time} ns"
        )
        tail = [f"  then: {line}" for line in self.consequences]
        return "\n".join([head, *tail, *([f"  do: {self.remedy}"] if self.remedy else [])])


@dataclass(frozen=True)
class Hazard:
    """Something that ran and may be wrong although nothing failed; `detail` holds the numbers behind `what`."""

    id: str
    what: str
    remedy: str
    time: int
    run: int
    stream: int
    slot: int
    task: int
    detail: Mapping[str, int | str] = field(default_factory=dict)
    kind: str = ""
    node: str = ""

    def text(self) -> str:
        """The hazard in words."""
        place = f"stream {self.stream} task {self.task} ({self.kind}{_of(self.node)}): " if self.stream >= 0 else ""
        name = self.id if self.id.startswith("hazard.") else f"hazard {self.id}"
        return f"{name}: {place}{self.what} at {self.time} ns; {self.remedy}"


@dataclass(frozen=True)
class Blocked:
    """A stream that can go no further: the entry at head and the flag it waits for; `setter` says who would set it."""

    stream: int
    name: str
    slot: int
    task: int
    kind: str
    signal: str
    since: int
    setter: str
    node: str = ""

    def text(self) -> str:
        """One line for the deadlock report."""
        name = one_line(self.name.translate(_QUOTES))
        return (
            f"stream {self.stream} ({name}) task {self.task} ({self.kind}{_of(self.node)}) "
            f"waits for {self.signal} "
            f"since {self.since} ns; {self.setter}"
        )


@dataclass(frozen=True)
class Deadlock:
    """Nothing is queued and work is left; `graph` tells who waits for whom, and what is wrong."""

    time: int
    run: int
    blocked: tuple[Blocked, ...]
    graph: WaitGraph | None = None

    id: str = "deadlock"

    def text(self) -> str:
        """The report: every blocked stream, what it waits for, where the setter is; then each cause and a way out."""
        return "\n".join(
            [f"deadlock at {self.time} ns: no task can run and {len(self.blocked)} stream(s) wait"]
            + [f"  {b.text()}" for b in self.blocked]
            + [verdict.text() for verdict in (self.graph.verdicts if self.graph else ())]
        )
