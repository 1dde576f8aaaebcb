"""Remarks on standard error: one line each for programs, wrapped for people."""

from __future__ import annotations

import os
import sys

import click

from tools.stacked import wrapped


def say(text: str) -> None:
    """Print `text` on standard error; where that is a terminal, wrapped to its width, line by line."""
    limit = _width()
    for line in text.splitlines():
        click.echo(line if limit is None else "\n".join(wrapped(line, limit, first="", others="  ")), err=True)


def _width() -> int | None:
    """Columns of the terminal that standard error is; None when it is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None if sys.stderr.isatty() else None
    except (AttributeError, OSError, ValueError):  # closed, or no descriptor
        return None
