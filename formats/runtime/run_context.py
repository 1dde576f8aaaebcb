"""Fixed part of a tiling context, and the whole of one (`reference/device_semantics.md` 6.4, row 7)."""

from formats.cstruct import CStruct, define
from formats.errors import FormatError
from formats.fields import Field

RunContext = define(
    "runtime",
    "RunContext",
    40,
    """
    @0   input_count:64     | inputs of the context
    @8   output_count:64    | outputs of the context
    @16  node_info:64       | address of the compute-node info
    @24  extend_info:64     | address of the extended info
    @32  output_start:64    | address of the first output pointer
    """,
    note="value pointers of 8 bytes follow, inputs first; the 48 bytes of the reference include one of them",
)

_MOST_VALUES = 1 << 16


def run_context(values: int) -> CStruct:
    """A whole run context of 48 + 8 × `values` bytes: the fixed part and `values` + 1 value pointers.

    Raises:
        FormatError: a negative number of values, or more than 65536 (id `format.range`).
    """
    if not 0 <= values <= _MOST_VALUES:
        raise FormatError(f"{values} values, 0 to {_MOST_VALUES} are possible", id="format.range", where="run_context")
    pointers = Field("values", 8 * RunContext.size, 64, values + 1, unit="address", meaning="value pointers")
    return CStruct("runtime", "RunContext", (*RunContext.fields, pointers), note=f"with {values} value pointers")
