"""Offline models (`.om`): reading them, making them, and turning their task lists into task blobs.

| module | what |
|---|---|
| `layout`, `container`, `cursor` | header, partition tables, partitions as views of the file |
| `items`, `ports`, `tilings` | partitions that are no protobuf |
| `schema`, `wire`, `messages` | protobuf: fields as a table, counting before parsing, classes in a private pool |
| `attributes`, `values`, `graph`, `tasks` | the graph and the task list as values |
| `reader` | a whole file: `read_om` |
| `writer` | files for tests: `write_om` |
| `chosen`, `tensors`, `program` | a model as a task blob: `program_of_om` |

Needs the extra `om` (protobuf) where a partition is protobuf. Sources: `reference/om_format.md`; `docs/om.md`.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

_PLACES = MappingProxyType({
    "OmFile": "reader", "OmModel": "reader", "read_om": "reader", "is_om": "container", "write_om": "writer",
    "OmProgram": "program", "program_of_om": "program",
})  # fmt: skip
__all__ = list(_PLACES)


def __getattr__(name: str) -> object:
    """A public name, imported when it is first asked for: most commands never see an offline model."""
    if name in _PLACES:
        return getattr(import_module(f"emu_plugins.om.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
