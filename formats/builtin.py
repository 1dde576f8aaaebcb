"""The built-in registry: every layout that comes with the package."""

from formats import runtime, v100
from formats.blob import layout as blob_layout
from formats.registry import Registry

BUILTIN = Registry(v100.STRUCTS + runtime.STRUCTS + blob_layout.STRUCTS)
"""Families `v100`, `runtime`, `blob`; immutable, so it can be shared."""
