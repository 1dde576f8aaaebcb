"""A view for `sqemu dump --view edu-short`: one word per entry, with what tells flags and kernels apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core import DumpView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emu_core import DumpEntry

_ACTIONS = ("record", "wait", "clear")


def _word(entry: DumpEntry) -> str:
    if entry.struct == "EduFlagSqe":
        action = entry.fields["action"]
        return f"{_ACTIONS[action] if action < len(_ACTIONS) else action} {entry.fields['flag']}"
    if entry.struct == "EduKernelSqe":
        return f"kernel x{entry.fields['blocks']}"
    return entry.struct.removeprefix("Edu").removesuffix("Sqe").lower() or "?"


def _show(entries: Iterator[DumpEntry]) -> Iterator[str]:
    return (f"{entry.slot:>4} {_word(entry)}" for entry in entries)


def _record(entry: DumpEntry) -> Mapping[str, Any]:
    return {"word": _word(entry)}


VIEWS = (DumpView("edu-short", _show, _record, "one word per entry"),)
