"""What callers of the Python API handed over, checked where it comes in."""

from __future__ import annotations

from emu_core.errors import InputError


def expect(value: object, kind: type | tuple[type, ...], what: str, remedy: str) -> None:
    """Refuse `value` unless it is of `kind`.

    Raises:
        InputError: id `argument.type`; the text says `what` was expected and which type was given.
    """
    if not isinstance(value, kind):
        raise InputError(f"{what} is needed, got {type(value).__name__}", id="argument.type", remedy=remedy)
