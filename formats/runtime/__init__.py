"""Family `runtime`: records in device memory that are not SQEs; `STRUCTS` lists what the registry holds."""

from formats.runtime.aicpu_args import AicpuArgHead
from formats.runtime.cgdr_tiling_data import CgdrTilingData
from formats.runtime.kernel_descriptor import KERNEL_MAGIC, KernelDescriptor
from formats.runtime.node_info import AttrEntry, CompileTimeTensor, NodeInfoHead, NodeInstance
from formats.runtime.platform import PlatformBlock
from formats.runtime.run_context import RunContext, run_context
from formats.runtime.super_kernel import NO_WORD, SUPER_KERNEL_MAGIC, SubKernel
from formats.runtime.task_update import ModelTaskUpdateInfo, TilingContextAddr, TilingSinkTaskInfo
from formats.runtime.tensor import RefreshedTensor, Tensor
from formats.runtime.tiling_data import TilingDataHeader
from formats.runtime.tiling_task import ParamDef
from formats.runtime.value_cell import ValueCell
from formats.runtime.vector import VectorHeader

STRUCTS = (
    TilingDataHeader,
    VectorHeader,
    RunContext,
    ValueCell,
    Tensor,
    RefreshedTensor,
    AicpuArgHead,
    NodeInfoHead,
    NodeInstance,
    CompileTimeTensor,
    AttrEntry,
    PlatformBlock,
    KernelDescriptor,
    CgdrTilingData,
    ParamDef,
    ModelTaskUpdateInfo,
    TilingSinkTaskInfo,
    TilingContextAddr,
    SubKernel,
)

__all__ = [
    "KERNEL_MAGIC",
    "NO_WORD",
    "STRUCTS",
    "SUPER_KERNEL_MAGIC",
    "AicpuArgHead",
    "AttrEntry",
    "CgdrTilingData",
    "CompileTimeTensor",
    "KernelDescriptor",
    "ModelTaskUpdateInfo",
    "NodeInfoHead",
    "NodeInstance",
    "ParamDef",
    "PlatformBlock",
    "RefreshedTensor",
    "RunContext",
    "SubKernel",
    "Tensor",
    "TilingContextAddr",
    "TilingDataHeader",
    "TilingSinkTaskInfo",
    "ValueCell",
    "VectorHeader",
    "run_context",
]
