"""Task blob (`.sqt`): the file the compiler writes and the loader reads.

`encode` and `decode` convert between bytes and the values of :mod:`formats.blob.model`;
`sections` and `task_record` look at the file itself, for dumps.
"""

from formats.blob.codec import MAX_TEXT, SectionInfo, decode, encode, sections, task_record
from formats.blob.model import (
    BLOCK_DIM_PLACEHOLDER,
    AttrValue,
    Blob,
    BlobEvent,
    BlobKernel,
    BlobOp,
    BlobStream,
    BlobTask,
    BlobTensor,
    KernelType,
    TaskType,
    TensorRole,
)

__all__ = [
    "BLOCK_DIM_PLACEHOLDER",
    "MAX_TEXT",
    "AttrValue",
    "Blob",
    "BlobEvent",
    "BlobKernel",
    "BlobOp",
    "BlobStream",
    "BlobTask",
    "BlobTensor",
    "KernelType",
    "SectionInfo",
    "TaskType",
    "TensorRole",
    "decode",
    "encode",
    "sections",
    "task_record",
]
