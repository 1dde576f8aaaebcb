"""What failed: which task and kernel, when, with which codes, and how the views of host and device fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.capture.model import DEVICE, HOST
from tools.postmortem.report import Statement, inferred, sure
from tools.postmortem.words import counted, error_bits, moment, span, ts_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, Fault, Record
    from tools.postmortem.causes import Order

_SAME_NS = 10_000_000
"""Lines of one thread that are this close tell of one fault."""
_REPORTS = ("cqe", "exception", "interrupt")


def about_fault(order: Order, capture: Capture, names: dict[tuple[int, int], str]) -> Iterator[Statement]:
    """Statements on the first fault; `names` are kernels by stream and task."""
    fault = order.cause
    if fault is None:
        return
    yield _what(order, fault, names)
    yield from _place(fault)
    yield from _kernel(fault)
    yield from _launch(fault, capture)
    yield from _codes(fault, capture.dialect)
    yield from _views(fault, capture)
    if fault.repeats:
        yield sure(f"The same report of it stands {fault.repeats + 1} times in the logs.")


def label(fault: Fault, names: dict[tuple[int, int], str]) -> str:
    """`stream 2 task 0`, with the device and the kernel where they are known."""
    device = "" if fault.device is None else f"device {fault.device} "
    name = names.get((fault.stream, fault.task), "")
    return f"{device}stream {fault.stream} task {fault.task}" + (f" ({name})" if name else "")


def _what(order: Order, fault: Fault, names: dict[tuple[int, int], str]) -> Statement:
    what = label(fault, names)
    if order.named:
        link = next(link for link in order.links if (link.stream, link.task) == (fault.stream, fault.task))
        reporter = f"stream {link.fault.stream} task {link.fault.task}"
        text = f"{what} failed first: {reporter} says so ({link.why}). The logs have no line of the task's own."
        if not link.sure:
            text += " On stacks with software queues the word holds the number of a queue where this takes a stream."
        return Statement(text, link.sure, tuple(r.ref for r in link.records))
    report = fault.first(*_REPORTS) or fault.records[0]
    side = "device" if fault.stamp(DEVICE) is not None else "host"
    text = f"{what} failed first, {moment(fault.stamp(side))} by the clock of the {side}."
    alone = not order.others and not order.links
    return sure(text, report) if alone else inferred(text, report)


def _place(fault: Fault) -> Iterator[Statement]:
    head = fault.first("interrupt")
    if head is not None:
        sq, at, tail = (head.number(name) for name in ("sq", "head", "tail"))
        queued = "" if at is None or tail is None else f"; {counted((tail - at) % 65536, 'entry')} queued, it included"
        yield sure(f"Its queue is SQ {sq}, which stopped with head {at} and tail {tail}{queued}.", head)
        kind = head.number("error_type")
        if kind is not None:
            yield sure(f"error_type={kind} of that line is the class of the interrupt, not a set of error bits.", head)
    report = fault.first("cqe")
    if report is not None and report.number("pos") is not None:
        yield sure(
            f"Task {fault.task} is its position in the ring; its serial number is {report.number('task_sn')}.", report
        )


def _kernel(fault: Fault) -> Iterator[Statement]:
    kernel = fault.first("kernel", "aicpu_kernel")
    if kernel is not None and kernel.text("kernel"):
        text = f"The runtime names its kernel: {kernel.text('kernel')}"
        library = kernel.text("library")
        yield sure(text + (f" of {library}." if library else "."), kernel)
        other = kernel.number("report_stream")
        if other is not None and other != fault.stream:
            yield sure(f"It belongs to a model: its fault was reported on stream {other}.", kernel)
    for record in (fault.first("op"), kernel):
        if record is not None and record.text("op"):
            yield sure(f"The graph calls it {record.text('op')}.", record)
            return


def _launch(fault: Fault, capture: Capture) -> Iterator[Statement]:
    """The block dim that the runtime names: in the kernel's line, or in the line about arguments just before it."""
    kernel = fault.first("kernel")
    if kernel is None or kernel.stamp is None:
        return
    if kernel.number("block_dim") is not None:
        yield sure(f"The runtime launched it with {counted(kernel.number('block_dim') or 0, 'block')}.", kernel)
        return
    before = [r for r in capture.of("launch") if r.text("part") == kernel.text("part") and r.stamp is not None]
    near = [r for r in before if 0 <= kernel.stamp - (r.stamp or 0) <= _SAME_NS]
    if near:
        blocks, key = near[-1].number("block_dim") or 0, near[-1].number("tiling_key")
        yield inferred(f"The runtime launched it with {counted(blocks, 'block')}, tiling key {key}.", near[-1])


def _codes(fault: Fault, dialect: str) -> Iterator[Statement]:
    report = fault.first("cqe")
    if report is not None:
        bits, status = report.number("error_type"), report.number("status")
        sqe = report.number("sqe_type")
        kind = f"SQE type {sqe}" + (f" ({report.text('type_name')})" if report.text("type_name") else "")
        words = "unknown" if bits is None else f"{bits:#x}, {error_bits(bits, dialect)}"
        yield sure(f"The completion reports error type {words}; {kind}, status word {_hex(status)}.", report)
    for record in fault.records:
        code = record.number("code")
        if record.kind in ("exception", "aicpu_kernel") and code:
            yield sure(f"The device's code is {ts_code(code)}.", record)
            break
    aicpu = fault.first("aicpu_exception")
    if aicpu is not None:
        text = f"The AI CPU ended with {aicpu.number('errcode')}"
        yield sure(f"{text}: {aicpu.text('text')}." if aicpu.text("text") else f"{text}.", aicpu)
    refused = fault.first("sqe_error")
    if refused is not None:
        yield sure(
            f"The scheduler refused the entry at head {refused.number('head')} of SQ {refused.number('sq')}.", refused
        )


def _hex(value: int | None) -> str:
    return "unknown" if value is None else f"{value:#x}"


def _views(fault: Fault, capture: Capture) -> Iterator[Statement]:
    """How host and device were joined, and how far their clocks are apart."""
    if fault.sides != {DEVICE, HOST}:
        return
    firmware, host = _first(fault, DEVICE), _first(fault, HOST)
    addresses = {core.pc_start for core in fault.cores if core.side == HOST} & {
        core.pc_start for core in fault.cores if core.side == DEVICE
    }
    text = "Firmware and host report the same fault"
    if addresses - {None}:
        yield sure(f"{text}: stream, task and start address agree.", firmware, host)
    elif not fault.joined:
        yield sure(f"{text}: stream and task agree, and each side has one.", firmware, host)
    else:
        yield inferred(f"{text}: stream and task agree, and it is the same one in order of time.", firmware, host)
    if capture.device_offset is not None:
        apart = span(capture.device_offset)
        yield inferred(f"The host's clock is ahead of the device's by at most {apart}: it reports after the fault.")


def _first(fault: Fault, side: str) -> Record:
    return next(r for r in fault.records if r.side == side)
