"""Load or unload dump information: place holder 70 (`reference/sqe_formats.md` 4.8, 6.10)."""

from formats.cstruct import define
from formats.v200.place_holder import PH_HEADER

PhPayloadDataDumpLoadInfo = define(
    "v200",
    "PhPayloadDataDumpLoadInfo",
    20,
    """
    @0   dumpinfo_ptr:64
    @8   length:32
    @12  stream_id:16  task_id:16
    @16  kernel_type:16  -:16
    """,
    note="payload of the place holder, words 4 and up",
    meanings={
        "kernel_type": "kind of the dumped kernel",
        "stream_id": "stream of the dumped task",
        "task_id": "task that is dumped",
    },
    enums={"kernel_type": ""},
)

PhDataDumpLoadInfoSqe = define(
    "v200",
    "PhDataDumpLoadInfoSqe",
    64,
    PH_HEADER,
    """
    @16  dumpinfo_ptr:64
    @24  length:32
    @28  dump_stream_id:16  dump_task_id:16
    @32  kernel_type:16  end_flag:16
    @36  -:224
    """,
    sqe_type=3,
    match={"type": (3,), "task_type": (70,)},
    meanings={"kernel_type": "kind of the dumped kernel"},
    enums={"kernel_type": ""},
)
