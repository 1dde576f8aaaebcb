"""Records of the task blob (`.sqt`), C-like like everything else here; see `docs/formats.md`.

A blob is a 64-byte header, a section table, and the sections in the order of `SECTIONS`. All
offsets are relative: file offsets in the header and the section table, indices and offsets into a
section elsewhere. Sections start on 8-byte boundaries; the gaps are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.cstruct import define
from formats.magic import BLOB_START

if TYPE_CHECKING:
    from formats.cstruct import CStruct

MAGIC = int.from_bytes(BLOB_START, "little")
VERSION = 1
ALIGNMENT = 8
DATA_ALIGNMENT = 64
NO_TENSOR = (1 << 64) - 1
"""Operand value of an absent optional input."""

BlobHeader = define("blob", "BlobHeader", 64, """
    @0   magic:64               | `SQEMUBLB` in memory order
    @8   version:16             | layout version
    @10  unknown_shape:1        | the graph is host scheduled
         -:15
    @12  section_count:16       | entries of the section table
    @14  header_size:16         | bytes of this header
    @16  file_size:64           | bytes of the whole file
    @24  section_table:64       | file offset of the section table
    @32  chip:32                | string: chip the blob was compiled for
    @36  name:32                | string: graph name
    @40  task_count:32          | task records
    @44  op_count:32            | operators
    @48  tensor_count:32        | tensors
    @52  kernel_count:32        | kernels
    @56  crc32:32               | CRC-32 of the file with this field 0
    @60  -:32
""")  # fmt: skip

SectionEntry = define("blob", "SectionEntry", 32, """
    @0   kind:32                | position in the list of sections
    @4   record_size:32         | bytes of one record, 1 for raw bytes
    @8   offset:64              | file offset
    @16  size:64                | bytes
    @24  count:64               | records
""")  # fmt: skip

StringRecord = define("blob", "StringRecord", 8, """
    @0   offset:32              | offset into `text`
    @4   size:32                | bytes of UTF-8
""")  # fmt: skip

StreamRecord = define("blob", "StreamRecord", 16, """
    @0   id:32                  | logical stream
    @4   name:32                | string
    @8   serves:32              | main stream of an attached one
    @12  head:1                 | the model starts this stream itself
         attached:1             | `serves` is valid
         -:30
""")  # fmt: skip

EventRecord = define("blob", "EventRecord", 8, """
    @0   id:32                  | event
    @4   name:32                | string: what it orders
""")  # fmt: skip

TaskRecord = define("blob", "TaskRecord", 64, """
    @0   type:32                | model task type
    @4   stream_id:32           | logical stream
    @8   block_dim:32           | blocks; all ones when a task update brings the value
    @12  has_event:1            | `event_id` is valid
         has_op:1               | `op` is valid
         has_kernel:1           | `kernel` is valid
         -:29
    @16  event_id:32            | event recorded or waited for
    @20  op:32                  | operator
    @24  kernel:32              | kernel
    @28  kernel_type:32         | 2 TE, 6 AICPU, 7 custom AICPU
    @32  schem:32               | schedule mode
    @36  args_format:32         | string: what fills each argument slot
    @40  so_name:32             | string: shared object of an AICPU function
    @44  kernel_name:32         | string: AICPU function
    @48  -:128
""", note="one per model task, in task-list order; the dump shows them as they are")  # fmt: skip

ProvenanceRecord = define("blob", "ProvenanceRecord", 8, """
    @0   node:32                | string: graph node
    @4   made_by:32             | string: compiler pass
""", note="one per task record, in the same order")  # fmt: skip

OpRecord = define("blob", "OpRecord", 88, """
    @0   name:32                | string
    @4   type:32                | string: operator type
    @8   compile_info:32        | string
    @12  sink:1                 | the sink sequence was emitted
         host_tiling:1          | tiled on the host before every execution
         custom:1               | custom operator
         -:29
    @16  input_count:32         | operands: inputs
    @20  output_count:32        | operands: outputs
    @24  workspace_count:32     | operands: workspace sizes
    @28  depend_count:32        | operands: inputs whose value the tiling reads
    @32  attr_count:32          | attributes
    @36  tiling_block_dim:32    | blocks by the compile-time tiling
    @40  tiling_key:64          | tiling key by the compile-time tiling
    @48  tiling_capacity:64     | bytes of tiling data the operator may write
    @56  data_offset:64         | offset of the tiling data in `data`
    @64  data_size:64           | bytes of tiling data
    @72  first_operand:64       | its first operand; inputs, outputs, workspaces, depends in this order
    @80  first_attr:64          | its first attribute
""")  # fmt: skip

OperandRecord = define("blob", "OperandRecord", 8, """
    @0   value:64               | tensor, size in bytes or input, by position; all ones: absent input
""")  # fmt: skip

TensorRecord = define("blob", "TensorRecord", 48, """
    @0   name:32                | string
    @4   dtype:32               | element type, C API code
    @8   role:32                | 0 graph input, 1 constant, 2 intermediate
    @12  rank:32                | dimensions
    @16  size:64                | bytes
    @24  first_dim:64           | its first dimension
    @32  data_offset:64         | offset of the bytes of a constant in `data`
    @40  data_size:64           | bytes of a constant, else 0
""")  # fmt: skip

DimRecord = define("blob", "DimRecord", 8, """
    @0   extent:i64             | one dimension; negative when not known
""")  # fmt: skip

AttrRecord = define("blob", "AttrRecord", 32, """
    @0   name:32                | string
    @4   kind:32                | 0 bool, 1 int, 2 float, 3 text, 4 list of ints, 5 list of floats
    @8   value:64               | bool, two's complement, float64 bit pattern or string
    @16  first:64               | first word of a list
    @24  count:64               | words of a list
""")  # fmt: skip

WordRecord = define("blob", "WordRecord", 8, """
    @0   bits:64                | list element: two's complement or float64 bit pattern
""")  # fmt: skip

KernelRecord = define("blob", "KernelRecord", 24, """
    @0   name:32                | string
    @4   core_type:32           | core it runs on
    @8   first_key:64           | its first tiling key
    @16  key_count:64           | tiling keys
""")  # fmt: skip

KeyRecord = define("blob", "KeyRecord", 8, """
    @0   tiling_key:64          | tiling key of one entry
""")  # fmt: skip

IndexRecord = define("blob", "IndexRecord", 4, """
    @0   tensor:32              | tensor
""")  # fmt: skip

PolicyRecord = define("blob", "PolicyRecord", 8, """
    @0   name:32                | string
    @4   value:32               | string
""", note="sorted by name")  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A section: its name and the record it is an array of, `None` for raw bytes."""

    name: str
    record: CStruct | None

    @property
    def record_size(self) -> int:
        """Bytes of one record."""
        return self.record.size if self.record else 1


SECTIONS = (
    Section("strings", StringRecord),
    Section("text", None),
    Section("streams", StreamRecord),
    Section("events", EventRecord),
    Section("tasks", TaskRecord),
    Section("provenance", ProvenanceRecord),
    Section("ops", OpRecord),
    Section("operands", OperandRecord),
    Section("attrs", AttrRecord),
    Section("words", WordRecord),
    Section("tensors", TensorRecord),
    Section("dims", DimRecord),
    Section("kernels", KernelRecord),
    Section("keys", KeyRecord),
    Section("inputs", IndexRecord),
    Section("outputs", IndexRecord),
    Section("policies", PolicyRecord),
    Section("data", None),
)
"""The sections of version 1, in file order."""

STRUCTS = (
    BlobHeader,
    SectionEntry,
    StringRecord,
    StreamRecord,
    EventRecord,
    TaskRecord,
    ProvenanceRecord,
    OpRecord,
    OperandRecord,
    TensorRecord,
    DimRecord,
    AttrRecord,
    WordRecord,
    KernelRecord,
    KeyRecord,
    IndexRecord,
    PolicyRecord,
)
