"""The built-in registry: every layout that comes with the package, loaded family by family when it is needed."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.cstruct import CStruct
    from formats.registry import Loader

_MODULES = {
    "v100": "formats.v100",
    "v200": "formats.v200",
    "v201": "formats.v201",
    "arch9201": "formats.arch9201",
    "arch5162": "formats.arch5162",
    "other": "formats.other",
    "runtime": "formats.runtime",
    "blob": "formats.blob.layout",
}


def _loader(module: str) -> Loader:
    def load() -> Iterable[CStruct]:
        structs: Iterable[CStruct] = import_module(module).STRUCTS
        return structs

    return load


BUILTIN = Registry(loaders=MappingProxyType({family: _loader(module) for family, module in _MODULES.items()}))
"""All families of the package; immutable, so it can be shared."""
