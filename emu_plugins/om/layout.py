"""Fixed parts of an offline model file (`.om`): header, partition tables, heads of records (`reference/om_format.md`).

All of it is little-endian and packed. The rest of a file is protobuf (`schema`) or opaque bytes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from formats.cstruct import define

if TYPE_CHECKING:
    from formats import CStruct

MAGIC = 0x444F4D49
ZIP_BYTES = b"PK\x03\x04"
"""First bytes of the newer container, which is a zip archive and no offline model of this form."""
HEADER_BYTES = 256
VERSION_1, VERSION_2 = 0x10000000, 0x20000000
MOST_PARTITIONS = 8
"""Partitions of a model; a data-flow model may have `MOST_FLOW_PARTITIONS`."""
MOST_FLOW_PARTITIONS = 4096
MOST_MODELS = 4096
ALIGNMENT = 32
"""Bytes to which partitions are padded in files that were saved aligned."""

ITEM_MAGIC = 0x5D776EFD
CUSTOM_MAGIC = 0x4B43534B
TILING_MAGIC = 0xDD776EFE
TILING_VERSION = 2


class ModelType(IntEnum):
    """`modeltype` of the header."""

    IR = 0
    STANDARD = 1
    TINY = 2
    FLOW = 3
    LITE = 4
    BUNDLE = 5


class PartitionType(IntEnum):
    """What a partition holds (`om_format.md` 4)."""

    MODEL_DEF = 0
    WEIGHTS_DATA = 1
    TASK_INFO = 2
    TBE_KERNELS = 3
    CUST_AICPU_KERNELS = 4
    SO_BINS = 5
    FLOW_MODEL = 6
    FLOW_SUBMODEL = 7
    MODEL_INOUT_INFO = 8
    STATIC_TASK_DESC = 9
    DYNAMIC_TASK_DESC = 10
    TASK_PARAM = 11
    TILING_DATA = 12
    PRE_MODEL_DESC = 20
    PRE_MODEL_SQE = 21
    PRE_KERNEL_ARGS = 22
    PRE_MODEL_DESC_EXTEND = 23
    BUNDLE_MODEL_INFO = 24
    BUNDLE_MODEL_VAR_INFO = 25
    CUSTOM_OPS = 26


def partition_name(number: int) -> str:
    """Name of a partition type, or `TYPE_n`."""
    known = {int(kind): kind.name for kind in PartitionType}
    return known.get(number, f"TYPE_{number}")


OmHeader = define("om", "OmHeader", HEADER_BYTES, """
    @0   magic:32               | `IMOD` in memory order
    @4   headsize:32            | bytes of this header
    @8   version:32             | 0x20000000; 0x10000000 in old and in mobile files
    @12  checksum:8*64          | signature
    @76  length:32              | bytes behind the header; 0 when `model_length` says it
    @80  is_encrypt:8           | 1: encrypted
         is_checksum:8          | 0: the signature is checked
         modeltype:8            | 0 IR, 1 standard, 2 tiny, 3 data flow, 4 lite, 5 bundle
         genmode:8              | 0 offline, 1 online
    @84  name:8*32              | model name, padded with 0
    @116 ops:32                 | computing power
    @120 userdefineinfo:8*32    | free text
    @152 om_ir_version:32       | version of the graph
    @156 model_num:32           | models in the file; 0 means 1
    @160 platform_version:8*20  | for example `1.11.z.0`
    @180 platform_type:8        | 0 or 1
         -:24
    @184 model_length:64        | bytes behind the header, 64-bit form
    @192 need_check_os_cpu_info:8 | 1: host libraries inside, operating system and CPU are compared
         is_unknow_model:8      | 0 static, 1 dynamic
         -:8*62
""")  # fmt: skip

TableHead = define("om", "OmTable", 4, "@0 num:32 | entries")
TableHead64 = define("om", "OmTable64", 8, "@0 num:32 -:32")
Entry = define("om", "OmPartition", 12, """
    @0   type:32                | what it holds
    @4   offset:32              | from the end of the table
    @8   size:32                | bytes
""")  # fmt: skip
Entry64 = define("om", "OmPartition64", 24, """
    @0   type:32  -:32
    @8   offset:64              | from the end of the table
    @16  size:64                | bytes
""")  # fmt: skip
KernelItem = define("om", "OmKernelItem", 12, """
    @0   magic:32               | start of an item
    @4   name_len:32            | bytes of its name
    @8   bin_len:32             | bytes of its binary
""", note="name and binary follow")  # fmt: skip
SoItem = define("om", "OmSoItem", 16, """
    @0   magic:32               | start of an item
    @4   so_name_len:16         | bytes of the file name
         so_bin_type:16         | 0 host operators, 1 operator master of the device, 2 autofuse, 3 portable custom
    @8   vendor_name_len:32     | bytes of the vendor's name
    @12  bin_len:32             | bytes of the library
""", note="file name, vendor and library follow")  # fmt: skip
TilingHead = define("om", "OmTilingHead", 12, """
    @0   magic:32               | start of the partition
    @4   version:32             | 2
    @8   data_len:32            | bytes of the records behind it
""")  # fmt: skip
TilingRun = define("om", "OmTilingRun", 56, """
    @0   tiling_key:64          | tiling key
    @8   tiling_size:64         | bytes of tiling data
    @16  block_dim:32           | blocks
    @20  clear_atomic:8         | outputs are cleared first
         -:24
    @24  tiling_cond:i32        | condition of the tiling function
    @28  schedule_mode:32       | schedule mode
    @32  workspace_num:32       | workspaces, whose sizes (64 bits each) follow
    @36  local_memory_size:32   | bytes of local memory
    @40  -:32*4
""")  # fmt: skip
TensorBase = define("om", "OmTensorBase", 32, """
    @0   size:64                | bytes
    @8   format:i32             | 0 NCHW, 1 NHWC, 2 ND
    @12  dtype:i32              | element type, C API code
    @16  name_len:32            | bytes of the name
    @20  dims_len:32            | bytes of the dimensions
    @24  dims_v2_len:32         | bytes of the second dimensions
    @28  range_len:32           | bytes of the ranges
""")  # fmt: skip

STRUCTS: tuple[CStruct, ...] = (
    OmHeader, TableHead, TableHead64, Entry, Entry64, KernelItem, SoItem, TilingHead, TilingRun, TensorBase,
)  # fmt: skip
