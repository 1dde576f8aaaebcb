"""`sqemu trace timeline`: a recording as a file that Perfetto opens."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from emu_core.errors import OptionError
from tools.files import Outputs
from tools.show import json_line, safe
from tools.trace.chrome import chrome_json
from tools.trace.cores import cores_of
from tools.trace.scene import scene_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.plugins import PluginHost
    from tools.trace.scene import Scene, Slice
    from tools.trace.source import RecordedRun, Recording

JSON, PFTRACE = ".json", ".pftrace"


def form_of(target: str) -> str:
    """The form that the end of a file name says; `OptionError` (`trace.timeline-form`) for another one."""
    suffix = PurePath(target).suffix
    if suffix not in (JSON, PFTRACE):
        raise OptionError(
            f"{safe(target)} ends neither in {JSON} nor in {PFTRACE}", id="trace.timeline-form", where="-o",
            remedy="name a file that does: Chrome's JSON, or a trace of Perfetto",
        )  # fmt: skip
    return suffix


def write_timeline(
    recording: Recording,
    runs: Sequence[RecordedRun],
    target: str,
    host: PluginHost,
    *,
    chip: str | None,
    source: str,
    as_json: bool,
) -> None:
    """Write the timeline of `runs` to `target`; `chip` is asked for its cores where the recording names none."""
    form, name = form_of(target), chip or recording.chip
    cores = cores_of(host.chip(name), host.kernels) if name else None
    scene = scene_of(recording, runs, cores)
    if form == JSON:
        data = chrome_json(scene)
    else:
        from tools.trace.perfetto import perfetto_trace  # noqa: PLC0415 - numpy only for this form

        data = perfetto_trace(scene)
    with Outputs(never=(source,)) as outputs:
        outputs.write(target, data)
        outputs.commit()
    _tell(scene, target, len(data), as_json=as_json)


def _tell(scene: Scene, target: str, size: int, *, as_json: bool) -> None:
    tracks = [track for group in scene.groups for track in group.tracks]
    found = {
        "file": target,
        "bytes": size,
        "tracks": len(tracks),
        "slices": sum(_count(each) for track in tracks for each in track.slices),
        "instants": sum(len(track.instants) for track in tracks),
        "flows": scene.flows,
    }
    if as_json:
        json_line(found)
        return
    counts = ", ".join(f"{found[name]} {name}" for name in ("tracks", "slices", "instants", "flows"))
    click.echo(f"{safe(target)}: {size} bytes, {counts}")
    click.echo("  open it at ui.perfetto.dev, or in chrome://tracing if it is JSON")


def _count(each: Slice) -> int:
    return 1 + sum(map(_count, each.children))
