"""Parameter block of the AI CPU tiling task, as compilers write it (`reference/tiling_sink_compiler.md`, task 1)."""

from formats.cstruct import define

ParamDef = define(
    "runtime",
    "ParamDef",
    8264,
    """
    @0    tiling_context:64         | tiling context; filled in when the task is loaded
    @8    op_type:64                | operator type string; filled in when the task is loaded
    @16   is_custom:8               | 1 for a custom operator
    @17   is_prefix:8               | 1 when the kernel name has a prefix
    @18   so_name:8*4096            | path of the device library, ends with 0
    @4114 kernel_name:8*4096        | function in the library, ends with 0
    @8210 op_name:8*32              | name of the task, `TilingSink`
    @8242 host_input_info:8*16      | host inputs
    @8258 -:48
    """,
    note="the first two words have no meaning in a file",
)
