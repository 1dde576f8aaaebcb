"""Whether the beginning of a file is text."""

from __future__ import annotations

import codecs
import re

GLANCE = 4096
"""Bytes that are looked at."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


def text_start(data: bytes) -> str | None:
    """The beginning of `data` as text; None when there is none, or it is not text (control codes, no UTF-8)."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(bytes(data[:GLANCE]))
    except UnicodeDecodeError:
        return None
    return text if text and not _CONTROL.search(text) else None
