"""Binary layouts of task queues: bytes <-> values, no I/O, no behaviour.

| name | what |
|---|---|
| `get(family, struct)` | a layout of the built-in registry, as a construct object |
| `decode(family, data)` | one 64-byte SQE, whatever kind it is |
| `sqe_unit(family)` | the same as a construct object that composes |
| `BUILTIN`, `Registry` | the built-in registry; `extend` makes a larger one |
| `CStruct`, `define`, `Field` | how layouts are written |
| `FormatError` | the one error |

The task blob is in :mod:`formats.blob`, element types are in :mod:`formats.dtypes`.
"""

from formats.builtin import BUILTIN
from formats.cstruct import CStruct, define
from formats.describe import describe, json_schema, render, render_value
from formats.errors import FormatError
from formats.fields import Field, Joined
from formats.registry import SQE_SIZE, Decoded, Registry, SqeUnit

IS_SQEMU = True
"""Says that the package found under this generic name is ours."""

get = BUILTIN.get
decode = BUILTIN.decode
sqe_unit = BUILTIN.sqe_unit

__all__ = [
    "BUILTIN",
    "IS_SQEMU",
    "SQE_SIZE",
    "CStruct",
    "Decoded",
    "Field",
    "FormatError",
    "Joined",
    "Registry",
    "SqeUnit",
    "decode",
    "define",
    "describe",
    "get",
    "json_schema",
    "render",
    "render_value",
    "sqe_unit",
]
