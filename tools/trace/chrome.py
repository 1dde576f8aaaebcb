"""A timeline as Chrome's JSON, which Perfetto and others read. Times are microseconds with three digits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.trace.scene import Instant, Scene, Slice

_FLOW = {"cat": "flow", "name": "flow"}


def chrome_json(scene: Scene) -> bytes:
    """The whole file."""
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in _events(scene))
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'.encode()


def _events(scene: Scene) -> Iterator[Mapping[str, object]]:
    number = 0
    for pid, group in enumerate(scene.groups, 1):
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": group.name}}
        yield {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}
        for track in group.tracks:
            number += 1
            where = {"pid": pid, "tid": number}
            yield {"ph": "M", **where, "name": "thread_name", "args": {"name": track.name}}
            yield {"ph": "M", **where, "name": "thread_sort_index", "args": {"sort_index": number}}
            for each in track.slices:
                yield from _slice(each, where)
            for instant in track.instants:
                yield _instant(instant, where)


def _slice(each: Slice, where: Mapping[str, int]) -> Iterator[Mapping[str, object]]:
    about = {"task": each.task, "slot": each.slot} if each.task >= 0 else {}
    args = {"args": about} if about else {}
    yield {
        "ph": "X",
        **where,
        "ts": each.start / 1000,
        "dur": (each.end - each.start) / 1000,
        "name": each.name,
        **args,
    }
    for flow in each.flows_in:
        yield {"ph": "f", "bp": "e", "id": flow, **where, "ts": each.start / 1000, **_FLOW}
    for flow in each.flows_out:
        yield {"ph": "s", "id": flow, **where, "ts": each.start / 1000, **_FLOW}
    for child in each.children:
        yield from _slice(child, where)


def _instant(each: Instant, where: Mapping[str, int]) -> Mapping[str, object]:
    return {"ph": "i", "s": "t", **where, "ts": each.time / 1000, "name": each.name, "args": dict(each.about)}
