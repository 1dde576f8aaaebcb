"""`report_on(capture)`: a capture as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.capture.build import family_of
from tools.postmortem.about_cores import about_cores
from tools.postmortem.about_entry import about_entry
from tools.postmortem.about_fault import about_fault
from tools.postmortem.about_limits import about_limits
from tools.postmortem.about_rest import about_consequences, about_next, about_others
from tools.postmortem.about_waits import about_waits
from tools.postmortem.causes import moment_of, order_of
from tools.postmortem.report import Report, Section, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.capture.model import Capture
    from tools.postmortem.causes import Order


def report_on(capture: Capture, family: str | None = None) -> Report:
    """What failed first, and everything around it; `family` is that of the entries, None finds it out."""
    layouts = family or family_of(capture.sqes, capture.dialect)
    order = order_of(capture)
    names = kernel_names(capture)
    kind = _kind(order, capture)
    fault = order.cause
    sections = [
        _section("cause", "What failed first", about_fault(order, capture, names)),
        _section("entry", "Its entry", about_entry(fault, capture, layouts) if fault is not None else ()),
        _section("cores", "Its cores", about_cores(fault, capture, layouts) if fault is not None else ()),
        _section("consequences", "What followed", about_consequences(order, capture, names)),
        _section("others", "Further faults", about_others(order, capture, names)),
        _section("waits", "Waits that timed out", about_waits(capture, layouts)),
        _section("next", "Look next", about_next(order, capture, kind) if kind != "nothing" else ()),
    ]
    if fault is not None and fault.first("wait_timeout", "device_timeout") is not None:
        sections.insert(1, sections.pop(5))
    limits = _section("limits", "What ran out", about_limits(capture))
    sections.insert(0 if kind == "limit" else 5, limits)
    told = tuple(section for section in sections if section.statements)
    return Report(fault, told, kind, tuple(link.fault for link in order.links))


def _section(name: str, title: str, statements: Iterable[Statement]) -> Section:
    return Section(name, title, tuple(statements))


def _kind(order: Order, capture: Capture) -> str:
    """`limit`, `fault` or `nothing`: what the report begins with."""
    resources = capture.of("resource")
    if order.cause is None:
        return "limit" if resources else "nothing"
    first = min((r.stamp for r in resources if r.stamp is not None), default=None)
    return "limit" if first is not None and first < moment_of(order.cause, capture) else "fault"


def kernel_names(capture: Capture) -> dict[tuple[int, int], str]:
    """Kernels and operators that the host names, by stream and task."""
    found: dict[tuple[int, int], str] = {}
    for record in capture.of("kernel", "aicpu_kernel", "op"):
        stream, task = record.number("stream"), record.number("task")
        name = record.text("kernel") or record.text("op")
        if stream is not None and task is not None and name:
            found.setdefault((stream, task), name if len(name) <= 48 else name[:47] + "…")
    return found
