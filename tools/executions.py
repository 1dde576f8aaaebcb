"""What one execution showed: on the terminal, as JSON, and in files."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING

import click
import msgspec

from emu_core.trace import TaskStarted, drain
from tools.show import json_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.model import Model, Result
    from emu_core.reports import Hazard
    from emu_core.trace import Event


@dataclass(frozen=True)
class Execution:
    """One execution, or the sum of several: whether it failed, its hazards, and its result."""

    failed: bool = False
    hazards: tuple[Hazard, ...] = ()
    result: Result | None = field(default=None, compare=False)
    details: dict[str, object] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, model: Model, result: Result) -> Execution:
        """What `result` says."""
        return cls(not result.ok, result.hazards, result, dict(model.details))

    def worse(self, other: Execution) -> Execution:
        """Both together."""
        return Execution(self.failed or other.failed, self.hazards + other.hazards)

    def show(self, *, quiet: bool, as_json: bool) -> None:
        """Print the execution."""
        result = self.result
        if result is None:
            return
        if as_json:
            json_line(as_values(result, self.details))
            return
        if not quiet:
            click.echo(summary(result))
        for hazard in result.hazards:
            click.echo(f"  {hazard.text()}")
        for fault in result.faults:
            click.echo("  " + fault.text().replace("\n", "\n  "))
        if result.deadlock:
            click.echo("  " + result.deadlock.text().replace("\n", "\n  "))


def summary(result: Result) -> str:
    """One line: outcome, virtual time, patches, hazards."""
    outcome = "ok" if result.ok else "deadlock" if result.deadlock else "failed"
    updates = sum(e.field == "block_dim" and e.target == "sqe" for e in result.patches)
    return (
        f"run {result.run}: {outcome}, {(result.ended - result.started) / 1000:.1f} µs, "
        f"{updates} task update(s), {len(result.hazards)} hazard(s)"
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
        "patches": [plain(p) for p in result.patches],
        "operators": plain(details),
    }


def launch_facts(result: Result) -> list[dict[str, int | str]]:
    """Kernel, tiling key and block dim of every AI Core launch, in the order they started."""
    return [e.facts for e in result.trace if isinstance(e, TaskStarted) and e.kind == "kernel"]


def output_name(path: str, index: int, count: int) -> str:
    """The output file of execution `index`: `path`, or `OUT.3.npz` for one of several."""
    if count == 1:
        return path
    pure = PurePath(path)
    return str(pure.with_name(f"{pure.stem}.{index}{pure.suffix}"))


def ring_files(model: Model, before: dict[int, bytes], run: int | None) -> Iterator[tuple[str, bytes]]:
    """Relative names and contents of the ring dumps of one execution; `run` is given when there are several."""
    folder = "" if run is None else f"run{run}/"
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
