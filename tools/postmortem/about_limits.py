"""Resources of the device that ran out: which, the limit, and the ids that the log names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.postmortem.report import Statement, inferred, sure
from tools.postmortem.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, Record


@dataclass(frozen=True)
class Limit:
    """A kind of resource: its name, what holds it, the limits, and what to do."""

    name: str
    limits: str
    action: str
    returned: str


LIMITS = {
    0x7020023: Limit(
        "streams: a stream needs a queue pair (SQ and CQ)",
        "910B and A3 have 2048 queues (1984 streams are documented), 950 has 2016, 310P 992 and 310B 480, shared by "
        "all processes of the device and by captured graphs while they run",
        "destroy streams that are idle, capture fewer streams or sizes of graphs, run fewer graphs or processes at "
        "a time",
        "207005 or 207008",
    ),
    0x702001B: Limit(
        "notifies",
        "910B and A3 have 8192, 950 has 65535, 310B 2048, 310P 1024, shared by all processes of the device",
        "destroy notifies and graphs that are done, run fewer graphs at a time",
        "207009",
    ),
    0x7020019: Limit(
        "events",
        "910B, A3 and 950 have 65536, 310P 1023, shared by all processes of the device",
        "pair every create with a destroy, do not create events in a loop",
        "207007",
    ),
    0x7110019: Limit(
        "places for asynchronous copies of a captured graph",
        "the log names its capacity; 32768 was seen",
        "use fewer batches per copy, or smaller heights of two-dimensional copies, in the graph",
        "207008",
    ),
}
"""Codes of the driver (`reference`, resource-exhaustion reports; limits: `device_semantics.md` 1.2)."""


def about_limits(capture: Capture) -> Iterator[Statement]:
    """Statements on every kind of resource that ran out."""
    by_code: dict[int, list[Record]] = {}
    for record in capture.of("resource"):
        by_code.setdefault(record.number("code") or 0, []).append(record)
    for code, records in by_code.items():
        limit = LIMITS.get(code)
        if limit is None:
            continue
        yield sure(
            f"The device ran out of {limit.name} (code {code:#x}; the caller gets {limit.returned}).", *records[:1]
        )
        yield from _ids(records)
        yield inferred(f"Limits: {limit.limits}.")
        yield inferred(f"Do: {limit.action}; `npu-smi info` shows which processes hold the device.")


def _ids(records: list[Record]) -> Iterator[Statement]:
    for name, title in (("stream", "stream"), ("model_id", "model")):
        found = {r.number(name): r for r in reversed(records) if r.number(name) is not None}
        if found:
            ids = listed(sorted(k for k in found if k is not None))
            yield sure(f"{title} {ids} could not be served.", *found.values())
    for record in records:
        capacity, most = record.number("capacity"), record.number("max_depth")
        if capacity is not None:
            yield sure(f"Its capacity is {capacity}" + (f" of at most {most}." if most is not None else "."), record)
            return
