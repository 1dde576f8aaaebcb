"""Fixed part of a tiling context (`reference/device_semantics.md` 6.4, row 7)."""

from formats.cstruct import define

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
