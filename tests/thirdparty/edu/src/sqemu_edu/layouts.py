"""Layouts of family `edu`: the three structs that the core needs of a family, the entries, and a record in memory.

docs/plugins.md lists what these three must have; the order and the widths are the family's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import define

if TYPE_CHECKING:
    from formats import CStruct

FAMILY = "edu"

KERNEL, TILE, FLAG, IDLE, PATCH, START = range(1, 7)
"""SQE types."""

RECORD, WAIT, CLEAR = range(3)
"""What an entry of type `FLAG` does."""

NOT_PATCHED = 0xFFFF_FFFF
"""Blocks of a kernel entry whose patch has not come."""

_HEADER = """
    @0   type:6  pre_p:1  wr_cqe:1  -:8  task_id:16
    @4   rt_stream_id:16  -:16
"""
_MEANINGS = {
    "type": "kind of the entry: 1 kernel, 2 tile, 3 flag, 4 idle, 5 patch, 6 start",
    "pre_p": "the firmware looks at the entry before it starts",
    "wr_cqe": "a completion entry is written when it is done",
    "task_id": "number of the entry in its stream",
    "rt_stream_id": "stream of the entry",
}

SqeHeader = define(FAMILY, "SqeHeader", 8, _HEADER, meanings=_MEANINGS, enums={"type": ""})
CommonSqe = define(
    FAMILY,
    "CommonSqe",
    64,
    _HEADER,
    "@8 payload:32*14 | words of the kind",
    note="generic form",
    meanings=_MEANINGS,
    enums={"type": ""},
)


def _entry(name: str, kind: int, payload: str, note: str) -> CStruct:
    return define(
        FAMILY,
        name,
        64,
        _HEADER,
        payload,
        note=note,
        sqe_type=kind,
        match={"type": (kind,)},
        meanings=_MEANINGS,
        enums={"type": ""},
    )


EduKernelSqe = _entry(
    "EduKernelSqe",
    KERNEL,
    """
    @8   image:64               | address of the first of the kernel's 64-byte descriptors
    @16  args:64                | address of the argument words
    @24  blocks:32              | blocks to run; all ones until the entry is patched
    @28  variant:16  -:16       | which descriptor of the image: the position of its tiling key
    @32  -:32*8
    """,
    "launches a kernel; blocks and variant are what a patch changes",
)
EduTileSqe = _entry(
    "EduTileSqe",
    TILE,
    """
    @8   library:64             | address of the library's name
    @16  function:64            | address of the function's name
    @24  question:64            | address of the question, a JSON text
    @32  -:32*8
    """,
    "calls an AI CPU function with the address of a question",
)
EduFlagSqe = _entry(
    "EduFlagSqe",
    FLAG,
    """
    @8   action:8  -:24         | 0 record, 1 wait, 2 clear
    @12  flag:32                | number of the flag
    @16  -:32*12
    """,
    "records, waits for or clears a flag",
)
EduIdleSqe = _entry("EduIdleSqe", IDLE, "@8 -:32*14", "does nothing, for a while")
EduPatchSqe = _entry(
    "EduPatchSqe",
    PATCH,
    """
    @8   plan:64                | address of an EduPlan
    @16  keys:64                | address of the kernel's tiling keys, 64 bits each, in the order of its descriptors
    @24  keys_num:16  target_stream:16  target_task:16  -:16
    @32  -:32*8
    """,
    "writes variant and blocks of a kernel entry by what a plan says",
)
EduStartSqe = _entry("EduStartSqe", START, "@8 model:32 | number of the model\n@12 -:32*13", "starts a model")

CqeError = define(
    FAMILY,
    "CqeError",
    16,
    """
    @0   phase:1  error_bit:1  sqe_type:6  error_type:8  sq_id:16
    @4   sq_head:16  sqe_index:16
    @8   stream_id:16  task_id:16
    @12  sq_sw_status:32
    """,
    note="every completion entry",
    enums={"sqe_type": "", "error_type": ""},
)
EduPlan = define(
    FAMILY,
    "EduPlan",
    16,
    """
    @0   tiling_key:64          | key that the tiling function chose
    @8   blocks:32  -:32        | blocks that it chose
    """,
    note="what a tiling function decided; written by the AI CPU, read by a patch",
)

STRUCTS = (
    SqeHeader, CommonSqe, EduKernelSqe, EduTileSqe, EduFlagSqe, EduIdleSqe, EduPatchSqe, EduStartSqe, CqeError, EduPlan,
)  # fmt: skip
