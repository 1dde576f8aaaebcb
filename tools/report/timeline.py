"""The timeline as data of the page: tracks with columns of slices, instants, flows.

A track's slices are in the order of a walk down its tree: `depth` says how deep each lies, and those of one depth
follow each other in time without an overlap. So the script finds what is visible by bisection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.report.columns import deltas
from tools.trace.cores import cores_of
from tools.trace.scene import scene_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.report.columns import Strings
    from tools.report.subject import Subject
    from tools.trace.scene import Slice, Track


def timeline(subject: Subject, strings: Strings) -> dict[str, object]:
    """Groups (name, numbers of tracks), tracks, and flows as (track, slice) of both ends, one flat list.

    Columns of a track: `start` as differences to the one before, `length`, `name`, `depth`, `task`, `slot`; of its
    instants `at`, `what`, `about` (a text).
    """
    scene = scene_of(subject.recording, subject.recording.runs, cores_of(subject.chip, subject.host.kernels))
    groups: list[list[int]] = []
    tracks: list[dict[str, object]] = []
    leaving: dict[int, tuple[int, int]] = {}
    arriving: dict[int, tuple[int, int]] = {}
    for group in scene.groups:
        groups.append([strings.number(group.name), len(tracks), len(tracks) + len(group.tracks)])
        for track in group.tracks:
            walked = list(_walk(track))
            for at, (each, _) in enumerate(walked):
                leaving |= dict.fromkeys(each.flows_out, (len(tracks), at))
                arriving |= dict.fromkeys(each.flows_in, (len(tracks), at))
            tracks.append(_columns(track, walked, strings))
    both = sorted(leaving.keys() & arriving.keys())
    return {
        "groups": groups,
        "tracks": tracks,
        "flows": [n for flow in both for n in (*leaving[flow], *arriving[flow])],
    }


def _walk(track: Track) -> Iterator[tuple[Slice, int]]:
    """Every slice with its depth, parents first."""
    left = [(each, 0) for each in reversed(track.slices)]
    while left:
        each, depth = left.pop()
        yield each, depth
        left += [(child, depth + 1) for child in reversed(each.children)]


def _columns(track: Track, walked: list[tuple[Slice, int]], strings: Strings) -> dict[str, object]:
    instants = sorted(track.instants, key=lambda instant: instant.time)
    return {
        "name": strings.number(track.name),
        "start": deltas(each.start for each, _ in walked),
        "length": [each.end - each.start for each, _ in walked],
        "title": [strings.number(each.name) for each, _ in walked],
        "depth": [depth for _, depth in walked],
        "task": [each.task for each, _ in walked],
        "slot": [each.slot for each, _ in walked],
        "at": deltas(instant.time for instant in instants),
        "what": [strings.number(instant.name) for instant in instants],
        "about": [strings.number(_told(instant.about)) for instant in instants],
    }


def _told(about: Mapping[str, int | str]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in about.items())
