"""First bytes of an offline model, apart from its layouts so that telling files from each other costs nothing."""

from __future__ import annotations

MAGIC_BYTES = b"IMOD"
"""An offline model (`.om`)."""
