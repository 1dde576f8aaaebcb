"""`sqemu trace`: look into a recorded run: what happened, who wrote what, why, and as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from tools.options import debug_option, json_option, plugin_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tools.trace.source import RecordedRun, Recording

F = TypeVar("F", bound="Callable[..., Any]")


@click.group("trace")
def command() -> None:
    """Look into a recorded run: a record (.sqr) or the JSON lines of `sqemu run --trace`; `-` is standard input."""


def _common(function: F) -> F:
    """The options of every subcommand."""
    for option in (debug_option, json_option, plugin_option):
        function = option(function)
    return function


def _run_option(which: str) -> Callable[[F], F]:
    """`--run K`: one execution, counted from 0."""
    text = f"Which execution, from 0; {which} if not given."
    return click.option("--run", "run", type=click.IntRange(0), metavar="K", help=text)


def _open(file: str, without: Sequence[str]) -> Recording:
    """The recording in `file`, read with the events of all plugins declared."""
    from tools.given_plugins import make_host  # noqa: PLC0415 - `sqemu trace --help` stays quick
    from tools.trace.source import read_recording  # noqa: PLC0415

    make_host(tuple(without))
    return read_recording(file)


def _chosen(recording: Recording, run: int | None) -> Sequence[RecordedRun]:
    return recording.runs if run is None else (recording.run(run),)


@command.command("events")
@click.argument("names", nargs=-1, metavar="[EVENT...]")
@click.option("--schema", is_flag=True, help="One JSON Schema of a line of a trace.")
@_common
def events(names: tuple[str, ...], schema: bool, without: tuple[str, ...], as_json: bool) -> None:
    """List every declared event, those of plugins too, with its fields, units and meanings."""
    from tools.given_plugins import make_host  # noqa: PLC0415
    from tools.trace.show_events import show_events  # noqa: PLC0415

    make_host(without)
    show_events(names, as_json=as_json, schema=schema)


@command.command("summary")
@click.argument("file")
@_run_option("all")
@_common
def summary(file: str, run: int | None, without: tuple[str, ...], as_json: bool) -> None:
    """Counts, times, busy shares and waits by stream, engine and kind."""
    from tools.trace.show_summary import show_summary  # noqa: PLC0415

    recording = _open(file, without)
    show_summary(recording, _chosen(recording, run), as_json=as_json)


@command.command("patches")
@click.argument("file")
@_run_option("all")
@_common
def patches(file: str, run: int | None, without: tuple[str, ...], as_json: bool) -> None:
    """Every patch of a submitted entry or context: field, bits, values, tiling key, table row, writer."""
    from tools.trace.show_writes import show_patches  # noqa: PLC0415

    show_patches(_chosen(_open(file, without), run), as_json=as_json)


@command.command("journal")
@click.argument("file")
@click.option("--field", metavar="NAME", help="A field (block_dim, Struct.field), or the label of a tiling cell.")
@click.option("--task", "task", metavar="STREAM:TASK", help="Only this entry.")
@_run_option("all")
@_common
def journal(
    file: str, field: str | None, task: str | None, run: int | None, without: tuple[str, ...], as_json: bool
) -> None:
    """History and last writer of a field of entries or contexts, or of a tiling cell; or how it was loaded."""
    from tools.given_plugins import make_host  # noqa: PLC0415
    from tools.trace.show_writes import Wanted, show_journal  # noqa: PLC0415
    from tools.trace.source import read_recording  # noqa: PLC0415
    from tools.trace.tasks import parse_task  # noqa: PLC0415

    wanted = Wanted(field, parse_task(task) if task is not None else None)
    host = make_host(without)
    recording = read_recording(file)
    show_journal(recording, _chosen(recording, run), wanted, host, as_json=as_json)


@command.command("why")
@click.argument("file")
@click.argument("task", metavar="STREAM:TASK")
@click.option("--nth", type=click.IntRange(1), help="Which execution of the entry, from 1; the last if not given.")
@_run_option("the last one")
@_common
def why(file: str, task: str, nth: int | None, run: int | None, without: tuple[str, ...], as_json: bool) -> None:
    """Why a task started when it did, or never: what it waited for, who released that, and so on to the host."""
    from tools.trace.show_why import show_why  # noqa: PLC0415
    from tools.trace.tasks import parse_task  # noqa: PLC0415

    name = parse_task(task)
    recording = _open(file, without)
    show_why(recording, recording.run(run), name, nth, as_json=as_json)


@command.command("critical-path")
@click.argument("file")
@_run_option("the last one")
@_common
def critical_path(file: str, run: int | None, without: tuple[str, ...], as_json: bool) -> None:
    """What the time of an execution went for: the chain of causes up to what ended last."""
    from tools.trace.show_why import show_path  # noqa: PLC0415

    recording = _open(file, without)
    show_path(recording, recording.run(run), as_json=as_json)


@command.command("sql")
@click.argument("file")
@click.argument("statement", required=False)
@_run_option("all")
@_common
def sql(file: str, statement: str | None, run: int | None, without: tuple[str, ...], as_json: bool) -> None:
    """Ask a database of the run: tables events, tasks, patches, faults, hazards; without STATEMENT their columns."""
    from tools.trace.database import show_sql  # noqa: PLC0415

    recording = _open(file, without)
    show_sql(_chosen(recording, run), statement, as_json=as_json)


@command.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("--ignore-times", is_flag=True, help="Times may differ.")
@_run_option("all")
@_common
def diff(a: str, b: str, ignore_times: bool, run: int | None, without: tuple[str, ...], as_json: bool) -> int:
    """Compare two recorded runs: outcome, time, the first difference of each stream, patches, hazards, faults.

    Exit code 0 when they are equal, 1 when they differ.
    """
    from tools.trace.differences import show_differences  # noqa: PLC0415

    return show_differences(_open(a, without), _open(b, without), run, times=not ignore_times, as_json=as_json)


@command.command("timeline")
@click.argument("file")
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="FILE.json or FILE.pftrace.")
@click.option("--chip", metavar="CHIP", help="Whose cores to draw; a record says it itself.")
@_run_option("all")
@_common
def timeline(
    file: str, target: str, chip: str | None, run: int | None, without: tuple[str, ...], as_json: bool
) -> None:
    """Write a timeline for Perfetto: streams, engines, cores, pipes, AI CPU, patches, and who released whom."""
    from tools.given_plugins import make_host  # noqa: PLC0415
    from tools.trace.source import read_recording  # noqa: PLC0415
    from tools.trace.timeline import form_of, write_timeline  # noqa: PLC0415

    form_of(target)
    host = make_host(without)
    recording = read_recording(file)
    runs = _chosen(recording, run)
    write_timeline(recording, runs, target, host, chip=chip, source=file, as_json=as_json)
