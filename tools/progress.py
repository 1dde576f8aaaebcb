"""Progress on standard error: only on a terminal, only for work of more than two seconds."""

from __future__ import annotations

import sys
import time

QUIET_S = 2.0


class Progress:
    """Counts steps of one kind; a context manager that clears its line at the end."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._started = time.monotonic()
        self._shown = False

    def __enter__(self) -> Progress:  # noqa: PYI034 - not meant to be derived from
        return self

    def __exit__(self, *_error: object) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if time.monotonic() - self._started > QUIET_S and sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r{self._what} {self._done} of {self._total}\033[K")
            sys.stderr.flush()
