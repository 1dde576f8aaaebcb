"""Values that the tiling-sink tasks of a model hand to each other (`reference/device_semantics.md` 5.1)."""

from formats.cstruct import define

_PLACES = "the members are facts, their places are unspecified"

ModelTaskUpdateInfo = define(
    "runtime",
    "ModelTaskUpdateInfo",
    32,
    """
    @0   handle:64                  | binary handle of the kernel
    @8   ffts_plus_info:64          | FFTS+ task, 0 for a plain kernel
    @16  block_dim_addr:64          | where the tiling function leaves the block dim
    @24  tiling_key_addr:64         | where the tiling function leaves the tiling key
    """,
    note=f"argument of the task update call; {_PLACES}",
)

TilingSinkTaskInfo = define(
    "runtime",
    "TilingSinkTaskInfo",
    24,
    """
    @0   task_id:32                 | task id of the launched kernel
    @4   -:32
    @8   stream:64                  | stream of the launched kernel
    @16  ffts_task_handle:64        | FFTS+ task, 0 for a plain kernel
    """,
    note=f"left by the kernel task, read by the update; {_PLACES}",
)

TilingContextAddr = define(
    "runtime",
    "TilingContextAddr",
    40,
    """
    @0   op_type:64                 | operator type string
    @8   tiling_context:64          | tiling context
    @16  tiling_data:64             | tiling data
    @24  tiling_key:64              | cell of the tiling key
    @32  block_dim:64               | cell of the block dim
    """,
    note=f"device addresses of the parts of a tiling context; {_PLACES}",
)
