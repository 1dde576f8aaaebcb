"""What one execution showed: on the terminal, as JSON, and in files."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING

import click
import msgspec

from emu_core.trace import TaskStarted, drain
from tools.patch_table import show_patches
from tools.runtime_options import runtime_of
from tools.show import columns, json_line
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.journal import JournalEntry
    from emu_core.model import Model, Result
    from emu_core.reports import Hazard
    from emu_core.trace import Event


@dataclass(frozen=True)
class Execution:
    """One execution: whether it failed, its hazards, its result, what the loader knows of operators, the runtime."""

    failed: bool = False
    hazards: tuple[Hazard, ...] = ()
    result: Result | None = field(default=None, compare=False)
    details: dict[str, object] = field(default_factory=dict, compare=False)
    runtime: str = ""

    @classmethod
    def of(cls, model: Model, result: Result) -> Execution:
        """What `result` says."""
        return cls(not result.ok, result.hazards, result, dict(model.details), runtime_of(model.device.policies))

    def show(self, *, quiet: bool, as_json: bool, patches: bool = False) -> None:
        """Print the execution."""
        result = self.result
        if result is None:
            return
        if as_json:
            json_line({**as_values(result, self.details), "runtime": self.runtime})
            return
        if not quiet:
            click.echo(summary(result))
        for text in _reports(result):
            click.echo(_wrapped(text))
        if patches:
            show_patches([result])


def _reports(result: Result) -> list[str]:
    """Hazards and faults in the order of time, faults of the caller last, then the deadlock."""
    timed = [(h.time, 0, h.text()) for h in result.hazards] + [(f.time, 1, f.text()) for f in result.faults]
    texts = [text for _, _, text in sorted(timed, key=lambda item: item[:2])]
    return [*texts, *([f"{result.deadlock.text()}\n{_STUCK}"] if result.deadlock else [])]


_STUCK = "  do, before the next run: sqemu check PROGRAM names the waits that can never pass"


def _wrapped(text: str) -> str:
    """`text` indented, its lines wrapped; each keeps its own indent."""
    found = []
    for line in text.splitlines():
        own = "  " + " " * (len(line) - len(line.lstrip()))
        found += wrapped(line.lstrip(), columns(), first=own, others=own + "    ")
    return "\n".join(found)


def plural(count: int, noun: str) -> str:
    """`count` with its noun, for example `2 hazards`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def summary(result: Result) -> str:
    """One line: outcome, virtual time, task updates, hazards."""
    outcome = "ok" if result.ok else "deadlock" if result.deadlock else "failed"
    updates = len({(e.time, e.writer) for e in result.patches if e.tiling_key is not None})
    return (
        f"run {result.run}: {outcome}, {(result.ended - result.started) / 1000:.1f} µs, "
        f"{plural(updates, 'task update')}, {plural(len(result.hazards), 'hazard')}"
    )


def as_values(result: Result, details: dict[str, object]) -> dict[str, object]:
    """The execution as plain JSON values."""
    plain = msgspec.to_builtins
    return {
        "run": result.run,
        "ok": result.ok,
        "started": result.started,
        "ended": result.ended,
        "outputs": {n: {"dtype": str(a.dtype), "shape": list(a.shape)} for n, a in result.outputs.items()},
        "faults": [plain(f) for f in result.faults],
        "hazards": [plain(h) for h in result.hazards],
        "deadlock": plain(result.deadlock) if result.deadlock else None,
        "patches": [patch_values(p) for p in result.patches],
        "launches": launch_facts(result),
        "unwritten": dict(result.unwritten),
        "operators": plain(details),
    }


def patch_values(entry: JournalEntry) -> dict[str, object]:
    """A journal entry as plain JSON values; its writer is an object with stream, task and engine."""
    values: dict[str, object] = msgspec.to_builtins(entry)
    writer = entry.writer
    return {**values, "writer": {"stream": writer.stream, "task": writer.task, "engine": writer.engine}}


def launch_facts(result: Result) -> list[dict[str, int | str]]:
    """Kernel, tiling key and block dim of every AI Core launch, in the order they started."""
    return [e.facts for e in result.trace if isinstance(e, TaskStarted) and e.kind == "kernel"]


def output_name(path: str, index: int, count: int) -> str:
    """The output file of execution `index`: `path`, or `OUT.3.npz` for one of several."""
    pure = PurePath(path)
    if count == 1 or not pure.name or path.endswith("/"):
        return path
    return str(pure.with_name(f"{pure.stem}.{index}{pure.suffix}"))


def ring_files(model: Model, before: dict[int, bytes], run: int | None) -> Iterator[tuple[str, bytes]]:
    """Relative names and contents of the ring dumps of one execution; `run` numbers them as outputs."""
    folder = "" if run is None else f"{run}/"
    after, executed = model.rings(), model.executed()
    for stream_id, loaded in before.items():
        base = f"{folder}sq{stream_id}"
        yield f"{base}/before.bin", loaded
        yield f"{base}/after.bin", after[stream_id]
        yield f"{base}/executed.bin", executed[stream_id]


def trace_lines(events: Iterable[Event]) -> bytes:
    """Events as JSON lines, written by structlog."""
    import structlog  # noqa: PLC0415 - only when a trace is asked for

    text = StringIO()
    logger = structlog.wrap_logger(
        structlog.WriteLogger(text),
        processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )
    drain(events, logger)
    return text.getvalue().encode()
