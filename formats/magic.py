"""First bytes of files of ours, apart from their layouts so that telling files from each other costs nothing."""

from __future__ import annotations

BLOB_START = b"SQEMUBLB"
"""A task blob (`.sqt`)."""
