"""Family `v200` (STARS v2, David): one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.v200.aicpu_control import AicpuControlModelOperateSqe, AicpuControlMsgVersionSqe, AicpuControlTimeoutSqe
from formats.v200.aicpu_dqs import AicpuDqsSqe
from formats.v200.aicpu_kernel import AicpuKernelSqe, FusionAicpuSqe
from formats.v200.ccu import CcuSqe
from formats.v200.cmo import CmoLinearSqe, CmoStrideSqe, CmoTwoDimSqe
from formats.v200.common import CommonSqe
from formats.v200.cond_op import STRUCTS as COND_OPS
from formats.v200.cqe import CqeDvpp, CqeError, CqeSysCnt, CqeUbdma
from formats.v200.dqs_sched_end import DqsSchedEndSqe
from formats.v200.dvpp import DvppJpegdSqe, DvppJpegeSqe, DvppVpcSqe
from formats.v200.function_call import FunctionCallSqe
from formats.v200.fusion_ccu import FusionCcuSqe, FusionCcuSqe32B
from formats.v200.get_float_status import GetFloatStatusSqe
from formats.v200.hostfunc_callback import HostfuncCallbackSqe
from formats.v200.kernel import AicKernelSqe, AivKernelSqe
from formats.v200.logic_cqe import LogicCqeSqeIndex, LogicCqeTimestamp
from formats.v200.notify import NotifyRecordSqe, NotifyWaitSqe
from formats.v200.pcie_dma import PcieDmaSqe
from formats.v200.ph_aicpu_info_load import PhAicpuInfoLoadSqe, PhPayloadAicpuInfoLoad
from formats.v200.ph_data_dump_load_info import PhDataDumpLoadInfoSqe, PhPayloadDataDumpLoadInfo
from formats.v200.ph_debug_status import PhDebugStatusSqe, PhPayloadDebugStatus
from formats.v200.ph_dynamic_profiling import PhDynamicProfilingSqe, PhPayloadDynamicProfiling
from formats.v200.ph_flip import PhFlipSqe, PhPayloadFlip
from formats.v200.ph_get_dev_msg import PhGetDevMsgSqe, PhPayloadGetDevMsg
from formats.v200.ph_hostfunc_callback import PhHostfuncCallbackSqe, PhPayloadHostfuncCallback
from formats.v200.ph_maintenance import PhMaintenanceSqe, PhPayloadMaintenance
from formats.v200.ph_memcpy_async_without_sdma import PhMemcpyAsyncWithoutSdmaSqe, PhPayloadMemcpyAsyncWithoutSdma
from formats.v200.ph_model_debug_register import PhModelDebugRegisterSqe, PhPayloadModelDebugRegister
from formats.v200.ph_model_maintenance import PhModelMaintenanceSqe, PhPayloadModelMaintenance
from formats.v200.ph_model_task_update import PhModelTaskUpdateSqe, PhPayloadModelTaskUpdate
from formats.v200.ph_profiler_trace_ex import PhPayloadProfilerTraceEx, PhProfilerTraceExSqe
from formats.v200.ph_ring_buffer_control import PhPayloadRingBufferControl, PhRingBufferControlSqe
from formats.v200.ph_stream_debug_register import PhPayloadStreamDebugRegister, PhStreamDebugRegisterSqe
from formats.v200.ph_stream_overflow_switch import PhPayloadStreamOverflowSwitch, PhStreamOverflowSwitchSqe
from formats.v200.ph_stream_set_tag import PhPayloadStreamSetTag, PhStreamSetTagSqe
from formats.v200.place_holder import PhSqe
from formats.v200.sdma import MemcpyLinearSqe, MemcpyStrideSqe, MemcpyTwoDimSqe
from formats.v200.sdma_pointer import CmoAddrInfo, MemcpyAddrInfo, MemcpyPtrSqe
from formats.v200.sqe_header import SqeHeader, SqeHeaderDriverView
from formats.v200.tiling_tabl import TilingTablForDavid
from formats.v200.ub_dma import AsyncDmaSqe, UbdmaDirectWqeSqe
from formats.v200.ub_dma_doorbell import UbdmaDbModeSqe
from formats.v200.write_value import WriteValuePtrSqe, WriteValueSqe

STRUCTS = (
    SqeHeader,
    SqeHeaderDriverView,
    CommonSqe,
    AicKernelSqe,
    AivKernelSqe,
    AicpuKernelSqe,
    FusionAicpuSqe,
    AicpuControlModelOperateSqe,
    AicpuControlTimeoutSqe,
    AicpuControlMsgVersionSqe,
    AicpuDqsSqe,
    HostfuncCallbackSqe,
    NotifyRecordSqe,
    NotifyWaitSqe,
    WriteValueSqe,
    WriteValuePtrSqe,
    UbdmaDbModeSqe,
    UbdmaDirectWqeSqe,
    AsyncDmaSqe,
    PcieDmaSqe,
    MemcpyLinearSqe,
    CmoLinearSqe,
    MemcpyStrideSqe,
    CmoStrideSqe,
    MemcpyTwoDimSqe,
    CmoTwoDimSqe,
    MemcpyPtrSqe,
    MemcpyAddrInfo,
    CmoAddrInfo,
    DvppVpcSqe,
    DvppJpegeSqe,
    DvppJpegdSqe,
    CcuSqe,
    FusionCcuSqe,
    FusionCcuSqe32B,
    FunctionCallSqe,
    GetFloatStatusSqe,
    DqsSchedEndSqe,
    PhSqe,
    PhMaintenanceSqe,
    PhDataDumpLoadInfoSqe,
    PhDynamicProfilingSqe,
    PhProfilerTraceExSqe,
    PhModelDebugRegisterSqe,
    PhStreamDebugRegisterSqe,
    PhModelMaintenanceSqe,
    PhRingBufferControlSqe,
    PhMemcpyAsyncWithoutSdmaSqe,
    PhStreamOverflowSwitchSqe,
    PhGetDevMsgSqe,
    PhStreamSetTagSqe,
    PhDebugStatusSqe,
    PhFlipSqe,
    PhModelTaskUpdateSqe,
    PhAicpuInfoLoadSqe,
    PhHostfuncCallbackSqe,
    PhPayloadMaintenance,
    PhPayloadDataDumpLoadInfo,
    PhPayloadDynamicProfiling,
    PhPayloadProfilerTraceEx,
    PhPayloadModelDebugRegister,
    PhPayloadStreamDebugRegister,
    PhPayloadModelMaintenance,
    PhPayloadRingBufferControl,
    PhPayloadMemcpyAsyncWithoutSdma,
    PhPayloadStreamOverflowSwitch,
    PhPayloadGetDevMsg,
    PhPayloadStreamSetTag,
    PhPayloadDebugStatus,
    PhPayloadFlip,
    PhPayloadModelTaskUpdate,
    PhPayloadAicpuInfoLoad,
    PhPayloadHostfuncCallback,
    CqeError,
    CqeSysCnt,
    CqeDvpp,
    CqeUbdma,
    LogicCqeSqeIndex,
    LogicCqeTimestamp,
    TilingTablForDavid,
    *COND_OPS,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
