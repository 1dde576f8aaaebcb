"""What a task blob (`.sqt`) says, as frozen values.

The binary form is in :mod:`formats.blob.layout`; :func:`formats.blob.encode` and
:func:`formats.blob.decode` convert between the two without loss: ``decode(encode(b)) == b``.

| value | one per | numbers |
|---|---|---|
| `BlobStream` | logical stream | id; attached streams name the stream they serve |
| `BlobEvent` | event | id, unique in the blob |
| `BlobTask` | model task, in task-list order | type numbers of `reference/om_format.md` 7 |
| `BlobOp` | operator | tensors by index into `tensors` |
| `BlobTensor` | graph input, output, constant, intermediate | dtype codes of `om_format.md` 8.4 (C API column) |
| `BlobKernel` | AI Core kernel binary | its tiling keys, ascending |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

AttrValue: TypeAlias = bool | int | float | str | tuple[int, ...] | tuple[float, ...]

BLOCK_DIM_PLACEHOLDER = 0xFFFFFFFF
"""32-bit block dim of an AI Core task whose real value arrives by model task update (seed 3.3)."""


class TaskType(IntEnum):
    """Model task types the product writes (`reference/om_format.md` 7)."""

    KERNEL = 0
    EVENT_RECORD = 1
    EVENT_WAIT = 2
    NOTIFY_RECORD = 14
    NOTIFY_WAIT = 15
    MODEL_END_GRAPH = 19
    ALL_KERNEL = 26
    FFTS_PLUS_TASK = 29
    VECTOR_KERNEL = 39
    VECTOR_ALL_KERNEL = 40
    UPDATE = 41
    NOP = 42
    PREPROCESS_KERNEL = 43
    SUPER_KERNEL = 44


class KernelType(IntEnum):
    """`KernelContext.kernel_type` (`reference/tiling_sink_compiler.md` 15.2)."""

    TE = 2
    AI_CPU = 6
    CUST_AI_CPU = 7
    MIX_AICORE = 11
    MIX_VECTOR_CORE = 12


class TensorRole(IntEnum):
    """Where a tensor's bytes come from."""

    INPUT = 0
    CONSTANT = 1
    INTERMEDIATE = 2


@dataclass(frozen=True)
class BlobStream:
    """A logical stream; `serves` is the main stream of an attached one, else `None`."""

    id: int
    name: str
    serves: int | None = None
    head: bool = True


@dataclass(frozen=True)
class BlobEvent:
    """An event of the model, or a notify where notify tasks name it; `name` says what it orders."""

    id: int
    name: str


@dataclass(frozen=True)
class BlobTask:
    """One model task; fields that a type does not use keep their default.

    `block_dim` is 32 bit (`BLOCK_DIM_PLACEHOLDER` when a task update brings the value), `op` and
    `kernel` are indices, `node` and `made_by` are provenance: graph node and compiler pass.
    """

    type: int
    stream_id: int
    event_id: int | None = None
    op: int | None = None
    kernel: int | None = None
    block_dim: int = 0
    kernel_type: int = 0
    schem: int = 0
    args_format: str = ""
    so_name: str = ""
    kernel_name: str = ""
    node: str = ""
    made_by: str = ""


@dataclass(frozen=True)
class BlobTensor:
    """A tensor with a static shape; `size` is its byte count, `data` the bytes of a constant."""

    name: str
    dtype: int
    shape: tuple[int, ...]
    role: TensorRole
    size: int
    data: bytes = b""


@dataclass(frozen=True)
class BlobOp:
    """An operator with what the loader needs to build its arguments and tiling context.

    Attributes:
        inputs: per IR input the tensor index, `None` for an absent optional input.
        workspaces: sizes in bytes; for a sinking custom operator the last one is the AI CPU log.
        depends: IR inputs whose *value* the tiling reads.
        sink: the sink sequence was emitted for this operator.
        host_tiling: the operator is tiled on the host before every execution (unknown-shape path).
        tiling_key, tiling_block_dim, tiling_data: result of the compile-time tiling.
        tiling_capacity: bytes of tiling data the operator may write (`op_para_size`, default 16384).
    """

    name: str
    type: str
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    workspaces: tuple[int, ...] = ()
    attrs: dict[str, AttrValue] = field(default_factory=dict)
    depends: tuple[int, ...] = ()
    sink: bool = False
    host_tiling: bool = False
    custom: bool = False
    tiling_key: int = 0
    tiling_block_dim: int = 0
    tiling_data: bytes = b""
    tiling_capacity: int = 16384
    compile_info: str = ""


@dataclass(frozen=True)
class BlobKernel:
    """A kernel binary: `name` is looked up among the registered kernels, one entry per tiling key."""

    name: str
    core_type: int
    tiling_keys: tuple[int, ...]


@dataclass(frozen=True)
class Blob:
    """A whole task blob.

    Attributes:
        chip: lower-case SoC name it was compiled for, for example `ascend310p3`.
        name: graph name.
        unknown_shape: the graph is host scheduled: every `host_tiling` operator is tiled before its launch.
        inputs, outputs: tensor indices in the order of the graph.
        policies: values of the policies of scope *compile* that were in force.
    """

    chip: str
    name: str
    unknown_shape: bool = False
    streams: tuple[BlobStream, ...] = ()
    events: tuple[BlobEvent, ...] = ()
    tasks: tuple[BlobTask, ...] = ()
    ops: tuple[BlobOp, ...] = ()
    tensors: tuple[BlobTensor, ...] = ()
    kernels: tuple[BlobKernel, ...] = ()
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    policies: dict[str, str] = field(default_factory=dict)
