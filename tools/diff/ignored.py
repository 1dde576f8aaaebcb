"""Which names `--ignore` takes: a name that nothing has is a mistake, not a wish that is granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from formats.raw import RAW_UNIT
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats import CStruct
    from tools.dump.known import Known

STRUCT = "struct"
"""Stands for the layout of an entry, which is compared like a field."""


def check_fields(given: Iterable[str], known: Known) -> None:
    """Every name is compared in some entry.

    Raises:
        OptionError: no entry has it, or it is half of a value that is compared as a whole (id `dump.field`).
    """
    structs = (*known.structs, RAW_UNIT)
    compared = {STRUCT, *(name for struct in structs for name in _compared(struct))}
    halves = {f.name: whole for s in structs for whole, pair in s.joined.items() for f in (pair.low, pair.high)}
    for name in given:
        if name in halves and name not in compared:
            raise _refused(name, f"it is half of a value that is compared as a whole: --ignore {halves[name]}")
    check_keys(given, compared)


def check_keys(given: Iterable[str], known: Iterable[str]) -> None:
    """`OptionError` (`dump.field`) for a name that is not among `known`."""
    names = frozenset(known)
    for name in given:
        if name not in names:
            close = nearest(name, sorted(names))
            raise _refused(name, f"did you mean {', '.join(close)}?" if close else "see the names in the differences")


def _compared(struct: CStruct) -> Iterable[str]:
    """Names under which values of `struct` are compared: fields, joined values instead of their halves."""
    halves = {f.name for pair in struct.joined.values() for f in (pair.low, pair.high)}
    return [name for name in (*struct.by_name, *struct.joined) if name not in halves]


def _refused(name: str, remedy: str) -> OptionError:
    return OptionError(f"nothing that is compared is called {name!r}", id="dump.field", where="--ignore", remedy=remedy)
