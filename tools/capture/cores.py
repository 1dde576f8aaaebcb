"""Reports of single cores: register files of the firmware, and the host's lines about a core."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.capture.model import CoreReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tools.capture.model import Record, Ref

HOST_REGISTERS = MappingProxyType({
    "pc_start": "PC_START", "current": "CURRENT_PC", "para": "PARA_BASE", "vec": "VEC_ERR_INFO", "mte": "MTE_ERR_INFO",
    "ifu": "IFU_ERR_INFO", "ccu": "CCU_ERR_INFO", "cube": "CUBE_ERR_INFO",
})  # fmt: skip
"""Values of the host's line, and the registers they are."""
LOW_32 = (1 << 32) - 1
_LISTED = re.compile(r"([A-Z][A-Z0-9_]+?)_(\d)=(0x[0-9a-fA-F]{1,8})")
_PREFIX = {"AIC_ERR": "AIC_ERROR"}


@dataclass
class _Core:
    """A core that is being read."""

    side: str
    stamp: int | None
    device: int | None
    sq: int | None = None
    core: int | None = None
    sort: str = ""
    text: str = ""
    registers: dict[str, int] = field(default_factory=dict)
    refs: list[Ref] = field(default_factory=list)

    def done(self, pcs: dict[int, int]) -> CoreReport:
        """The report; `pcs` are corrected addresses of errors by start address."""
        found = CoreReport(
            tuple(self.refs), self.side, MappingProxyType(self.registers), self.core, self.sort, self.sq, self.stamp,
            None, self.text, self.device,
        )  # fmt: skip
        start = found.pc_start
        return found if start is None else replace(found, error_pc=pcs.get(start))


def core_reports(records: Iterable[Record]) -> list[CoreReport]:
    """The cores that `records` (in order of time) tell of."""
    kept = list(records)
    pcs = {r.number("pc_start") or 0: r.number("err_pc") or 0 for r in kept if r.kind == "pc"}
    return [each.done(pcs) for each in (*_device(kept), *_host(kept)) if each.registers]


def _device(records: list[Record]) -> Iterator[_Core]:
    sq: int | None = None
    core: _Core | None = None
    for record in records:
        if record.kind == "exception_head":
            sq = record.number("sq")
        elif record.kind == "core_place":
            if core is not None:
                yield core
            core = _Core(record.side, record.stamp, record.device, sq, sort=_sort(record), refs=[record.ref])
        elif record.kind == "register":
            name = record.text("name")
            if core is not None and name in core.registers:
                yield core
                core = None
            core = core or _Core(record.side, record.stamp, record.device, sq)
            core.registers[name] = record.number("value") or 0
            core.refs.append(record.ref)
    if core is not None:
        yield core


def _sort(record: Record) -> str:
    return "aivec" if "aiv_id" in record.values else "aicore"


def _host(records: list[Record]) -> Iterator[_Core]:
    last: _Core | None = None
    for record in records:
        opened = _OPENS[record.kind](record, last) if record.kind in _OPENS else None
        if opened is not None:
            if last is not None:
                yield last
            last = opened
        if last is not None and record.kind in _ADDS:
            _ADDS[record.kind](last, record)
    if last is not None:
        yield last


def _coded(record: Record, _last: _Core | None) -> _Core:
    """A core of the old wording: its number and one word."""
    found = _Core(record.side, record.stamp, record.device, core=record.number("core"), refs=[record.ref])
    found.registers["AIC_ERROR0"] = record.number("errcode") or 0
    return found


def _listing(record: Record, last: _Core | None) -> _Core | None:
    """A list of registers goes on with the core before it when the number is the same."""
    if last is not None and last.core == record.number("core"):
        return None
    return _Core(record.side, record.stamp, record.device, core=record.number("core"))


def _list(core: _Core, record: Record) -> None:
    for name, index, value in _LISTED.findall(record.text("bits")):
        core.registers[f"{_PREFIX.get(name, name)}{index}"] = int(value, 16)
    core.refs.append(record.ref)


def _reported(record: Record, _last: _Core | None) -> _Core:
    sort = "aivec" if "vec" in record.text("sort") else "aicore"
    found = _Core(
        record.side, record.stamp, record.device, core=record.number("core"), sort=sort, text=record.text("text"),
        refs=[record.ref],
    )  # fmt: skip
    for name, register in HOST_REGISTERS.items():
        value = record.number(name)
        if value is not None:
            found.registers[register] = value
    _split(found, 0, record.number("errcode") or 0)
    return found


def _extend(core: _Core, record: Record) -> None:
    """Three words of 64 bits hold the six error registers, low one first."""
    for k, name in enumerate(("low", "mid", "high")):
        value = record.number(name)
        if value is not None:
            _split(core, 2 * k, value)
    core.text = record.text("text") or core.text
    if record.ref not in core.refs:
        core.refs.append(record.ref)


def _split(core: _Core, first: int, value: int) -> None:
    core.registers[f"AIC_ERROR{first}"] = value & LOW_32
    core.registers[f"AIC_ERROR{first + 1}"] = value >> 32 & LOW_32


_OPENS: Mapping[str, Callable[[Record, _Core | None], _Core | None]] = MappingProxyType({
    "core": _reported, "core_code": _coded, "registers": _listing,
})  # fmt: skip
"""Kinds of lines that may begin a core."""
_ADDS: Mapping[str, Callable[[_Core, Record], None]] = MappingProxyType({"extend": _extend, "registers": _list})
"""Kinds of lines that tell more of the core before them."""
