"""Binary layouts of task queues: bytes <-> values, no I/O, no behaviour.

| name | what |
|---|---|
| `get(family, struct)` | a layout of the built-in registry, as a construct object |
| `decode(family, data)` | one 64-byte SQE, whatever kind it is |
| `decode_stream(family, data)` | a run of SQEs, a task of several units as one record |
| `decode_context(data)` | one 128-byte FFTS+ context |
| `guess_family(data)` | which family some SQEs belong to |
| `sqe_unit(family)` | the same as a construct object that composes |
| `BUILTIN`, `Registry` | the built-in registry; `extend` makes a larger one |
| `CStruct`, `define`, `Field` | how layouts are written |
| `FormatError` | the one error |

Further modules: :mod:`formats.blob` (task blob), :mod:`formats.completion` (completion entries), :mod:`formats.follow`
(what entries point at), :mod:`formats.task_units` (entries of a task), :mod:`formats.cond_isa` (condition programs),
:mod:`formats.ts_codes` and :mod:`formats.enums` (names of numbers), :mod:`formats.dtypes` (element types),
:mod:`formats.runtime` (records in device memory).
"""

from formats.builtin import BUILTIN
from formats.cstruct import CStruct, define
from formats.decoded import Decoded
from formats.describe import describe, json_schema, render, render_value
from formats.errors import FormatError
from formats.fields import Field, Joined
from formats.guess import FamilyGuess
from formats.raw import CONTEXT_SIZE, SQE_SIZE
from formats.registry import Registry
from formats.unit import SqeUnit

IS_SQEMU = True
"""Says that the package found under this generic name is ours."""

get = BUILTIN.get
decode = BUILTIN.decode
decode_stream = BUILTIN.decode_stream
decode_context = BUILTIN.decode_context
guess_family = BUILTIN.guess_family
sqe_unit = BUILTIN.sqe_unit

__all__ = [
    "BUILTIN",
    "CONTEXT_SIZE",
    "IS_SQEMU",
    "SQE_SIZE",
    "CStruct",
    "Decoded",
    "FamilyGuess",
    "Field",
    "FormatError",
    "Joined",
    "Registry",
    "SqeUnit",
    "decode",
    "decode_context",
    "decode_stream",
    "define",
    "describe",
    "get",
    "guess_family",
    "json_schema",
    "render",
    "render_value",
    "sqe_unit",
]
