"""Standard streams and signals: what may go wrong with them must not change what a command does.

| situation | result |
|---|---|
| a stream is closed from the start | what is written to it is dropped |
| the reader of standard output goes away | commands that produce files go on in silence, others end with 0 |
| a terminal that cannot show a character | it is shown as an escape |
| SIGTERM, SIGHUP | the command cleans up and ends with 128 + signal |
"""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

FINISHING = frozenset({"run", "op", "compile", "demo", "asm", "bench", "header"})
"""Commands whose work is more than what they print."""


class Terminated(BaseException):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number
        super().__init__(number)


class _Deaf:
    """A text stream that drops what its reader no longer takes."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - a text stream
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the stream's own
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or drop."""
        try:
            return int(self._stream.write(text))
        except BrokenPipeError:
            silence_stdout()
            return len(text)

    def flush(self) -> None:
        """Flush, or drop."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            silence_stdout()


def prepare(arguments: list[str]) -> None:
    """Make the streams fit for the command in `arguments`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as the process
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if next((a for a in arguments if not a.startswith("-")), "") in FINISHING:
        sys.stdout = _Deaf(sys.stdout)


def silence_stdout() -> None:
    """Point standard output at nothing, so that closing it at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def catch_signals() -> None:
    """Turn SIGTERM and SIGHUP into an exception, so that files that were begun are removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(number)
