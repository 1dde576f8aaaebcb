"""`--replay`: captured entries in the rings of an emulated device, run once, written as a run record."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.model import Model
from emu_core.trace import TaskStarted
from formats.blob import Blob, BlobStream
from tools.files import STDIN, Outputs
from tools.postmortem.causes import order_of
from tools.postmortem.stand_ins import host_of
from tools.postmortem.words import counted
from tools.record.writer import RecordWriter
from tools.show import columns, json_line, lines
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emu_core.model import Result
    from emu_core.streams import Stream
    from tools.capture.model import Capture, CapturedSqe, Fault

CHIPS = {"v100": "ascend910b3", "v200": "ascend950pr_9599"}
"""The chip of a family when none is named."""


@dataclass(frozen=True)
class Loaded:
    """What went into the device: entries by stream, and how many were left out, with the reason."""

    rings: Mapping[int, tuple[CapturedSqe, ...]]
    left: tuple[str, ...]


def replay(capture: Capture, target: str, family: str, chip: str | None, *, quiet: bool) -> None:
    """Load the entries of a capture, run them, write the record `target`, and say what came of it.

    Raises:
        InputError: no entry was captured (`replay.empty`), no chip of the family, the file cannot be written.
    """
    name = chip or CHIPS.get(family)
    if name is None:
        raise InputError(
            f"no chip is known for family {family}", id="replay.chip", where="--replay", remedy="give one with --chip"
        )
    host = host_of(_failed(capture))
    device = Device(name, plugins=host, record_rings=True)
    loaded = _loadable(capture, device)
    if not loaded.rings:
        raise InputError(
            "no whole entry was captured, so there is nothing to load", id="replay.empty", where="--replay",
            remedy="give logs with the words of entries; --json shows what was read",
        )  # fmt: skip
    model = _model(device, loaded)
    before = model.rings()
    blob = Blob(device.chip.name, "captured entries", streams=tuple(
        BlobStream(stream.id, stream.name) for stream in model.streams
    ))  # fmt: skip
    result = model.execute({})
    _write(target, blob, model, result, before)
    _tell(loaded, model, result, target, quiet=quiet)


def _failed(capture: Capture) -> dict[bytes, int]:
    """TS codes (0: that of its kind) of the entries that failed by themselves, by their bytes."""
    order = order_of(capture)
    faults = [*([order.cause] if order.cause is not None else []), *order.others]
    return {fault.sqe.raw: _code(fault) for fault in faults if fault.sqe is not None and fault.sqe.whole}


def _code(fault: Fault) -> int:
    return next((r.number("code") or 0 for r in fault.records if r.kind == "exception"), 0)


def _loadable(capture: Capture, device: Device) -> Loaded:
    """Entries by stream, those of one task once, the firmware's view before the host's."""
    left = []
    by_stream: dict[int, dict[tuple[object, ...], CapturedSqe]] = {}
    unknown = max((s.stream for s in capture.sqes if s.stream is not None), default=-1) + 1
    cut = sum(not sqe.whole for sqe in capture.sqes)
    seen = {(s.stream, s.task) for s in capture.sqes if s.whole and s.side == "device"}
    for sqe in capture.sqes:
        if not sqe.whole or (sqe.side == "host" and (sqe.stream, sqe.task) in seen):
            continue
        stream = unknown if sqe.stream is None else sqe.stream
        by_stream.setdefault(stream, {}).setdefault((sqe.task, sqe.raw), sqe)
    if cut:
        left.append(f"{cut} entries are cut")
    rings = {}
    for stream, entries in sorted(by_stream.items()):
        if stream >= device.chip.max_streams:
            left.append(f"stream {stream} is beyond the {device.chip.max_streams} of {device.chip.name}")
            continue
        found = tuple(sorted(entries.values(), key=_place))
        if len(found) > device.chip.usable_tasks:
            left.append(f"stream {stream} has {len(found)} entries, {device.chip.usable_tasks} fit")
        rings[stream] = found[: device.chip.usable_tasks]
    return Loaded(rings, tuple(left))


def _place(sqe: CapturedSqe) -> tuple[int, int, int]:
    """Order in a ring: by position where the log says it, else by time, else by task."""
    return (-1 if sqe.slot is None else sqe.slot), sqe.stamp or 0, sqe.task or 0


def _model(device: Device, loaded: Loaded) -> Model:
    streams = []
    for number, entries in loaded.rings.items():
        stream = _stream(device, number)
        for sqe in entries:
            stream.queue.append(sqe.raw)
        streams.append(stream)
    caller = device.create_stream("caller", bound=False)
    found = tuple(streams)

    def launch(_model: Model) -> None:
        for stream in found:
            device.scheduler.activate(stream)

    return device.add_model(
        lambda number: Model(
            device=device, model_id=number, name="captured entries", streams=found, head_streams=found, caller=caller,
            end=None, inputs=(), outputs=(), scratch=(), launch=launch,
        )
    )  # fmt: skip


def _stream(device: Device, number: int) -> Stream:
    """The stream with the id that the log has: ids below it are taken and stay unused."""
    while True:
        taken = device.take_id("stream", device.chip.max_streams, "207008")
        if taken == number:
            device.release_id("stream", taken)
            return device.create_stream(f"captured {number}", bound=True)


def _write(target: str, blob: Blob, model: Model, result: Result, before: dict[int, bytes]) -> None:
    with Outputs() as outputs:
        path: Path = outputs.begin(target)
        with outputs.writing(target), closing(RecordWriter(path, blob, STDIN)) as writer:
            writer.add(model, result, before, None)
            writer.finish(model)
        outputs.commit()


def _tell(loaded: Loaded, model: Model, result: Result, target: str, *, quiet: bool) -> None:
    entries = sum(map(len, loaded.rings.values()))
    started = [e for e in result.trace if isinstance(e, TaskStarted)]
    faults = [{"stream": f.stream, "task": f.task, "id": f.id} for f in result.faults]
    if quiet:
        json_line({
            "section": "replay", "file": target, "chip": model.device.chip.name, "entries": entries,
            "streams": sorted(loaded.rings), "started": len(started), "faults": faults,
            "deadlock": result.deadlock is not None, "left": list(loaded.left),
        })  # fmt: skip
        return
    click.echo()
    outcome = f"{len(faults)} failed" + ("; streams are stuck" if result.deadlock else "")
    text = (
        f"replay: {counted(entries, 'entry')} of {counted(len(loaded.rings), 'stream')} in {model.device.chip.name}, "
        f"{len(started)} started, "
        f"{outcome} -> {target}"
    )
    lines(wrapped(text, columns(), first="", others="  "))
    more = (
        "Flags and place holders ran; kernels and copies were timed stand-ins, since logs have no device memory. "
        "Task ids are those of the entries, places in the ring follow the logs."
    )
    lines(wrapped(more, columns(), first="  ", others="  "))
    for line in loaded.left:
        lines(wrapped(f"left out: {line}", columns(), first="  ", others="    "))
    lines(wrapped(f"sqemu dump {target} --sqes shows the rings.", columns(), first="  ", others="  "))
