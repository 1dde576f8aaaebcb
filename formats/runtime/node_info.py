"""Compute-node info of a tiling context: what the operator is (`reference/device_semantics.md` 6.4, row 6)."""

from formats.cstruct import define

NodeInfoHead = define(
    "runtime",
    "NodeInfoHead",
    88,
    """
    @0   name:64                | address of the operator name
    @8   type:64                | address of the operator type
    @16  ir_inputs:64           | inputs of the IR definition
    @24  ir_outputs:64          | outputs of the IR definition
    @32  inputs:64              | inputs that are connected
    @40  outputs:64             | outputs
    @48  attrs:64               | address of the attribute entries
    @56  attrs_size:64          | bytes of the attribute entries and their data
    @64  attr_count:64          | attribute entries
    @72  -:8*16
    """,
    note="the size is a fact, the inner positions are unspecified; instances and descriptors follow",
)

NodeInstance = define(
    "runtime",
    "NodeInstance",
    48,
    """
    @0   start:64               | first connected input (output) of this IR input (output)
    @8   count:64               | how many there are, 0 when it is absent
    @16  -:8*32
    """,
    note="the size is a fact, the inner positions are unspecified",
)

CompileTimeTensor = define(
    "runtime",
    "CompileTimeTensor",
    144,
    """
    @0   dtype:32               | element type, C API code
    @4   origin_format:32       | format number of the original shape; 2 is ND
    @8   storage_format:32      | format number of the storage shape
    @12  -:32
    @16  expand_dims:64         | which dimensions the storage shape expands
    @24  -:8*120
    """,
    note="the size is a fact, the inner positions are unspecified",
)

AttrEntry = define(
    "runtime",
    "AttrEntry",
    32,
    """
    @0   kind:32                | 0 bool, 1 int, 2 float, 3 text, 4 list of ints, 5 list of floats
    @4   count:32               | elements; 1 for a single value
    @8   size:64                | bytes of the value
    @16  value:64               | the value itself up to 8 bytes, else its offset from the first entry
    @24  -:64
    """,
    note="own layout; floats are float32 bit patterns, ints 64-bit two's complement",
)
