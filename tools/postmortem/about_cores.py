"""The cores of a fault: error bits in words, where in the kernel they stood, how many blocks ran."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats import BUILTIN
from tools.capture.build import addresses_of
from tools.capture.model import DEVICE
from tools.postmortem.report import MOST_REFS, Statement, inferred, sure
from tools.postmortem.words import core_bits, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, CoreReport, Fault

MOST_CORES = 4
"""Cores that are told one by one."""

_NEAR_NS = 5_000_000_000
_BITMAP = re.compile(r"(ai[cv])_own_bitmap_\w+=(0x[0-9a-f]+)")


def about_cores(fault: Fault, capture: Capture, family: str) -> Iterator[Statement]:
    """Statements on the cores of a fault."""
    for core in fault.cores[:MOST_CORES]:
        yield from _core(core, fault, family)
    if len(fault.cores) > MOST_CORES:
        yield Statement(f"{len(fault.cores) - MOST_CORES} more cores report the fault.")
    yield from _blocks(fault, capture, family)


def _core(core: CoreReport, fault: Fault, family: str) -> Iterator[Statement]:
    refs = core.refs[:MOST_REFS]
    name = " ".join(part for part in (core.sort, "" if core.core is None else str(core.core)) if part) or "a core"
    bits = core_bits(core.registers)
    said = f" The runtime says: {core.text}." if core.text else ""
    yield Statement(f"{name}: {listed(bits, 8) or 'no error bit is set'}.{said}", True, refs)
    if core.pc_start is not None and core.pc is not None:
        text = f"{name} stood {core.pc - core.pc_start:#x} bytes behind the start of its code ({core.pc_start:#x})"
        if core.error_pc is not None:
            text += f"; the firmware places the error at {core.error_pc - core.pc_start:#x}"
        yield Statement(f"{text}.", True, refs)
    yield from _fits(core, fault, family, name)


def _fits(core: CoreReport, fault: Fault, family: str, name: str) -> Iterator[Statement]:
    """Whether the addresses of a core are those of the entry."""
    if fault.sqe is None or not fault.sqe.whole:
        return
    start, args = addresses_of(family)(fault.sqe)
    pairs = [("PC_START", core.pc_start, "pc_addr", start), ("PARA_BASE", core.para_base, "param_addr", args)]
    known = [(a, x, b, y) for a, x, b, y in pairs if x is not None and y is not None]
    equal = [f"{a} is {b} of the entry" for a, x, b, y in known if x == y]
    other = [f"{a} {x:#x} is not {b} {y:#x} of the entry" for a, x, b, y in known if x != y]
    if equal:
        yield Statement(f"{name}: {' and '.join(equal)}.", True, core.refs[:1])
    if other:
        yield Statement(f"{name}: {'; '.join(other)}: another kernel, or patched code.", False, core.refs[:1])


def _blocks(fault: Fault, capture: Capture, family: str) -> Iterator[Statement]:
    """How many cores held blocks of the kernel, against its block dim."""
    own = fault.stamp(DEVICE)
    found = next((r for r in capture.of("bitmap") if own is not None and abs((r.stamp or 0) - own) <= _NEAR_NS), None)
    if found is None or fault.sqe is None or not fault.sqe.whole:
        return
    values = BUILTIN.decode(family, fault.sqe.raw).values
    busy = sum(int(word, 16).bit_count() for _, word in _BITMAP.findall(found.text("bits")))
    blocks = int(values.get("block_dim", 0))
    text = f"{busy} cores held blocks of it when it failed, block_dim is {blocks}"
    if busy == blocks:
        yield sure(f"{text}: all were running.", found)
    else:
        yield inferred(f"{text}: the others were done, or had not begun.", found)
