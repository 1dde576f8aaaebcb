"""A plan of injections from its file: JSON, checked by the records of `emu_core.injection.plan`."""

from __future__ import annotations

import re

import msgspec

from emu_core.errors import InputError
from emu_core.injection import Plan
from emu_core.injection.plan import KINDS
from tools.files import input_name, read_bytes

PAGE = "docs/injection.md has all kinds with their fields"
_PLACE = re.compile(r" - at `\$\.?(.*)`$")


def read_plan(path: str) -> Plan:
    """The plan in a file, `-` for standard input.

    Raises:
        InputError: the file cannot be read (`input.file`), is no JSON, or no plan (`injection.plan`).
    """
    return plan_of_bytes(read_bytes(path), input_name(path))


def plan_of_bytes(data: bytes, source: str) -> Plan:
    """The plan in `data`, which `source` held; raises as `read_plan`."""
    try:
        return msgspec.json.decode(data, type=Plan)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        where = f"{source}: {place[1]}" if place and place[1] else source
        remedy = f"kinds are {', '.join(KINDS)}; {PAGE}" if where.endswith(".do") else PAGE
        raise _error(_PLACE.sub("", text), where, remedy) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _error(f"is no JSON: {error}", source, "a plan is one JSON object; " + PAGE) from None


def _error(what: str, where: str, remedy: str) -> InputError:
    return InputError(what[:1].lower() + what[1:], id="injection.plan", where=where, remedy=remedy)
