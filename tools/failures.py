"""Turning an exception into a message, a JSON object and an exit code."""

from __future__ import annotations

import json
import platform
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from emu_core.errors import EmulatorBug, SqemuError
from formats import FormatError
from tools.files import STDIN, input_name
from tools.say import say
from tools.std_streams import silence_stdout
from tools.version import VERSION

USAGE, BUG = 2, 70

_WRITERS = ("click.utils", "tools.std_streams")
"""Modules whose functions write to standard output for others."""


def report(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """Print `error` to standard error; returns the exit code."""
    if debug:
        traceback.print_exception(error)
    if isinstance(error, EmulatorBug):
        return _bug(error, as_json=as_json)
    found = _known(error)
    if found is None:
        return _bug(error, as_json=as_json)
    values, code = found
    if as_json:
        click.echo(json.dumps(values), err=True)
    else:
        say(_text(error, values))
    return code


def _known(error: BaseException) -> tuple[dict[str, object], int] | None:
    """The error as JSON values and its exit code, or None for an exception nobody should see."""
    if isinstance(error, SqemuError):
        return error.as_json(), error.exit_code
    if isinstance(error, FormatError):
        values: dict[str, object] = {
            "error": error.id,
            "what": error.what,
            "where": error.where,
            "remedy": error.remedy,
        }
        return ({**values, "offset": error.offset} if error.offset is not None else values), USAGE
    if isinstance(error, MemoryError):
        return _memory(), USAGE
    if isinstance(error, OSError):
        return _file(error), USAGE
    return None


def _memory() -> dict[str, object]:
    """Memory ran out: the inputs on the command line are what it was needed for."""
    given = [input_name(a) for a in sys.argv[2:] if a == STDIN or (not a.startswith("-") and Path(a).is_file())]
    what = "there is not enough memory for this input"
    return {**_simple("memory", what, "give a smaller input or a part of it"), "where": ", ".join(given)}


def _file(error: OSError) -> dict[str, object]:
    """What the operating system refused: a file, standard output, or something that it does not name."""
    what = error.strerror or str(error)
    if error.filename:
        return {**_simple("file", what, "check the path and its permissions"), "where": str(error.filename)}
    if not _of_stdout(error):
        return _simple("file", f"a file cannot be read or written: {what}", "check for room, paths and permissions")
    remedy = "make room where it goes, or send it elsewhere"
    return {**_simple("file", f"cannot be written: {what}", remedy), "where": "standard output"}


def _of_stdout(error: OSError) -> bool:
    """Whether standard output refused: it still does, or what wrote last was made for it (it may have no buffer)."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # a stream without a descriptor
            silence_stdout()  # the text that it did not take is lost; the end of the process must not fail over it, too
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    return any(f.f_globals.get("__name__") in _WRITERS or "stdout" in f.f_code.co_names for f in frames)


def _simple(error_id: str, what: str, remedy: str) -> dict[str, object]:
    return {"error": error_id, "what": what, "where": "", "remedy": remedy}


def _text(error: BaseException, values: dict[str, object]) -> str:
    head = f"error {values['error']}: "
    if isinstance(error, SqemuError):
        return head + error.text().replace("\n", "\n" + head)
    if isinstance(error, FormatError):
        return head + str(error)
    where = f"{values['where']}: " if values["where"] else ""
    return f"{head}{where}{values['what']}; {values['remedy']}"


def _bug(error: BaseException, *, as_json: bool) -> int:
    last = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
    place = f"{last[0].name} line {last[0].lineno}" if last else "unknown place"
    what = f"{type(error).__name__}: {error}"
    versions = f"sqemu {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if as_json:
        click.echo(json.dumps({"error": "bug", "what": what, "where": place, "versions": versions}), err=True)
    else:
        lines = [
            "this is a bug of sqemu; please report this block:",
            f"  {what}",
            f"  in {place}",
            f"  {versions}",
            f"  command: {' '.join(sys.argv[1:])}",
            "run the command again with --debug to see the traceback",
        ]
        click.echo("\n".join(lines), err=True)
    return BUG
