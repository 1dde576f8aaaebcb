"""The entry of the task that failed, decoded; and whether it is still what the host had built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import BUILTIN
from tools.capture.kernel_fields import kernel_fields
from tools.capture.model import HOST
from tools.dump.kinds import facts, kind_of
from tools.postmortem.report import Statement
from tools.postmortem.words import CREDIT_S, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, CapturedSqe, Fault

NEVER = 255


def about_entry(fault: Fault, capture: Capture, family: str) -> Iterator[Statement]:
    """Statements on the entry of a fault."""
    sqe = fault.sqe
    if sqe is None:
        yield Statement("No line of the logs has the words of its entry.")
        return
    refs = (sqe.refs[0], sqe.refs[-1]) if len(sqe.refs) > 1 else sqe.refs
    if not sqe.whole:
        yield Statement(f"Its entry is cut: words {listed(sqe.missing, 16)} are missing.", True, refs)
        return
    decoded = BUILTIN.decode(family, sqe.raw)
    kind = kind_of(decoded)
    texts = "  ".join(facts(decoded, kind))
    where = "as the firmware saw it" if sqe.side != HOST else "as the host built it"
    yield Statement(f"{kind.name} ({decoded.struct.struct_name}), {where}: {texts}.", True, refs)
    if decoded.notes:
        yield Statement(f"Doubts: {listed(decoded.notes)}.", True, refs)
    yield from _kernel(family, sqe.raw)
    yield from _patched(fault, sqe, capture, family)


def _kernel(family: str, raw: bytes) -> Iterator[Statement]:
    fields = kernel_fields(family, raw)
    if fields is None:
        return
    if fields.core:
        type_ = f" (ffts_type {raw[8] & 7})" if family == "v100" else ""
        yield Statement(f"It runs on the {fields.core}{type_}.")
    yield Statement(
        f"block_dim {fields.blocks}, code at {fields.start:#x}, arguments at {fields.args:#x}, "
        f"kernel_credit {fields.credit}."
    )
    if fields.credit == NEVER:
        yield Statement("It has no time budget: it may run for ever.")
    elif family == "v100":
        budget = f"{fields.credit * CREDIT_S:.0f} s"
        yield Statement(f"Its time budget is {budget} if one credit is 4.295 s, as on 910B.", sure=False)


def _patched(fault: Fault, seen: CapturedSqe, capture: Capture, family: str) -> Iterator[Statement]:
    """The host keeps the entry of load time: where the firmware's differs, somebody patched the ring."""
    if seen.side == HOST:
        yield Statement(
            "This is the entry at load time. A task update changes the ring only, so block_dim and code that ran may "
            "be others.", sure=False,
        )  # fmt: skip
        return
    host = next(
        (s for s in capture.sqes if s.side == HOST and s.whole and (s.stream, s.task) == (fault.stream, fault.task)),
        None,
    )
    if host is None:
        return
    before, after = (BUILTIN.decode(family, s.raw) for s in (host, seen))
    if before.struct is not after.struct:
        yield Statement("The host built another kind of entry: the ids were used again.", False, host.refs[:1])
        return
    old, new = (d.struct.join(d.values) for d in (before, after))
    changed = [f"{name} {old[name]:#x} -> {new[name]:#x}" for name in new if new[name] != old[name]]
    if changed:
        yield Statement(
            f"It was patched after the host had built it: {listed(changed)}.", True, (host.refs[0], seen.refs[0])
        )
    else:
        yield Statement("It is what the host had built.", True, (host.refs[0], seen.refs[0]))
