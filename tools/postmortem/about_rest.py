"""What followed from the first fault, further faults, and what to look at next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tools.postmortem.about_fault import label
from tools.postmortem.causes import moment_of
from tools.postmortem.report import Statement, inferred, sure
from tools.postmortem.words import acl_code, counted, error_bits, moment, span, ts_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, Fault, Record
    from tools.postmortem.causes import Order

MOST = 10
"""Faults that are told one by one."""

Names = dict[tuple[int, int], str]


def about_consequences(order: Order, capture: Capture, names: Names) -> Iterator[Statement]:
    """What only reports the cause: other faults, failed calls."""
    for link in order.links[:MOST]:
        target = "" if link.stream is None else f" -> stream {link.stream} task {link.task}"
        refs = tuple(dict.fromkeys(r.ref for r in link.records))[:3]
        yield Statement(f"{label(link.fault, names)} failed, too{target}: {link.why}.", link.sure, refs)
    if len(order.links) > MOST:
        yield Statement(f"{counted(len(order.links) - MOST, 'further fault')} only report another one.")
    yield from _calls(capture)


def _calls(capture: Capture) -> Iterator[Statement]:
    models = capture.of("model_error")
    if models:
        yield inferred(f"The model ended with {ts_code(models[0].number('code') or 0)}.", models[0])
    seen: Counter[tuple[str, int]] = Counter()
    first: dict[tuple[str, int], Record] = {}
    for record in capture.of("sync", "api"):
        code = record.number("errcode") if record.kind == "api" else record.number("code")
        key = (record.text("function") or f"synchronising stream {record.number('stream')}", code or 0)
        seen[key] += 1
        first.setdefault(key, record)
    for (function, code), count in list(seen.items())[:MOST]:
        times = f" ({count} times)" if count > 1 else ""
        record = first[function, code]
        told = acl_code(code) if record.kind == "api" else ts_code(code)
        yield inferred(f"{function} failed with {told}{times}.", record)


def about_others(order: Order, capture: Capture, names: Names) -> Iterator[Statement]:
    """Faults that stand for themselves, later than the first."""
    start = moment_of(order.cause, capture) if order.cause is not None else 0
    for fault in order.others[:MOST]:
        at = moment_of(fault, capture)
        report = fault.first("interrupt", "cqe", "exception") or fault.records[0]
        later = "" if at >= 1 << 62 or start >= 1 << 62 else f", {span(at - start)} after the first"
        sizes = _blocks(fault)
        again = f", reported {fault.repeats + 1} times" if fault.repeats else ""
        side = "device" if fault.stamp("device") is not None else "host"
        yield sure(f"{label(fault, names)}, {moment(fault.stamp(side))}{later}{sizes}{again}.", report)
    if len(order.others) > MOST:
        yield Statement(f"{counted(len(order.others) - MOST, 'further fault')}.")


def _blocks(fault: Fault) -> str:
    if fault.sqe is None or not fault.sqe.whole:
        return ""
    return f", block_dim {int.from_bytes(fault.sqe.raw[2:4], 'little')}" if fault.sqe.raw[0] & 0x3F == 0 else ""


def about_next(order: Order, capture: Capture, kind: str) -> Iterator[Statement]:
    """What to look at next; advice is always inferred."""
    fault = order.cause
    if kind == "limit":
        yield Statement(
            "Count creations and destructions of the resource above; later faults are its consequences.", False
        )
    if fault is not None:
        yield from _advice(fault, capture)
    if capture.sqes:
        yield Statement(
            "`sqemu dump LOG` shows every captured entry; `sqemu postmortem LOG --replay F.sqr` loads them.", False
        )
    if fault is not None and fault.stamp("device") is None:
        yield Statement(
            "Fetch the firmware's log of that moment: it has the entry and the registers of the cores.", False
        )
    elif fault is not None and fault.stamp("host") is None:
        yield Statement("Fetch the host's log of that process: it names the kernel and the operator.", False)


def _advice(fault: Fault, capture: Capture) -> Iterator[Statement]:
    text = " ".join(core.text for core in fault.cores).lower()
    out = "out of range" in text or any(core.registers.get("AIC_ERROR0", 0) >> 23 & 1 for core in fault.cores)
    if out:
        yield Statement(
            "An address was out of range: compare the kernel's arguments and tiling data with the shapes of this "
            "launch; a freed buffer, an index beyond a table, or a peer that is gone look the same.", False,
        )  # fmt: skip
    report = fault.first("cqe")
    bits = report.number("error_type") or 0 if report is not None else 0
    if bits & 4 and not bits & 3:
        yield Statement(
            f"{error_bits(4).capitalize()}: see whether its blocks wait for each other, or for a flag.", False
        )
    if fault.first("aicpu_exception", "aicpu_kernel") is not None:
        yield Statement(
            "It ran on the AI CPU: its library must be installed on the device, and fit its version.", False
        )
    if fault.first("sqe_error") is not None:
        yield Statement("A refused entry is malformed or names a foreign id: dump it and look for `!`.", False)
    if fault.first("wait_timeout", "device_timeout") is not None:
        yield Statement("A wait is rarely at fault itself: find the task that should have set the flag.", False)
    if fault.joined or len(capture.files) == 1:
        return
    yield Statement("More logs of the same moment (other ranks, other devices) may show an earlier fault.", False)
