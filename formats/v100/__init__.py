"""Family `v100` (STARS v1): one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.v100.aicore_kernel import AicoreKernelSqe
from formats.v100.aicpu_control import AicpuControlModelOperateSqe, AicpuControlTimeoutSqe
from formats.v100.aicpu_kernel import AicpuKernelSqe, AicpuKernelSqeDriverView
from formats.v100.barrier import BarrierKernelSqe
from formats.v100.callback_reports import CallbackReportCbTask, CallbackReportIpcInt, HostFuncCqReportMsg
from formats.v100.cdqm import CdqmSqe
from formats.v100.cmo import CmoKernelSqe
from formats.v100.common import CommonSqe
from formats.v100.cond_op import STRUCTS as COND_OPS
from formats.v100.contexts.aic_aiv import FftsPlusAicAivCtx
from formats.v100.contexts.aicpu import FftsPlusAicpuCtx
from formats.v100.contexts.at_end import FftsPlusAtEndCtx
from formats.v100.contexts.at_start import FftsPlusAtStartCtx
from formats.v100.contexts.case_switch import FftsPlusCaseDefaultCtx, FftsPlusCaseSwitchCtx
from formats.v100.contexts.common import FftsPlusComCtx
from formats.v100.contexts.cond_switch import FftsPlusCondSwitchCtx
from formats.v100.contexts.data import FftsPlusDataCtx
from formats.v100.contexts.dsa import FftsPlusDsaCtx
from formats.v100.contexts.label import FftsPlusLabelCtx
from formats.v100.contexts.mix_aic_aiv import FftsPlusMixAicAivCtx
from formats.v100.contexts.notify import FftsPlusNotifyCtx
from formats.v100.contexts.persistent_cache import FftsPlusPersistentCacheCtx
from formats.v100.contexts.sdma import FftsPlusSdmaCtx
from formats.v100.contexts.write_value import FftsPlusWriteValueCtx
from formats.v100.cqe import CqeError, CqeModelExec, CqeRuntimeView, CqeSysCnt
from formats.v100.dsa import DsaSqe, DsaSqeDriverView
from formats.v100.dvpp import DvppJpegdSqe, DvppJpegeSqe, DvppVpcSqe
from formats.v100.event_record import EventRecordSqe
from formats.v100.event_wait import EventWaitSqe
from formats.v100.ffts import FftsKernelSqeLegacy, FftsSqe
from formats.v100.ffts_plus import FftsPlusSqe
from formats.v100.function_call import FunctionCallSqe
from formats.v100.get_float_status import GetFloatStatusSqe
from formats.v100.hostfunc_callback import HostfuncCallbackSqe
from formats.v100.label_goto import LabelGotoSqe
from formats.v100.label_switch import LabelSwitchSqe
from formats.v100.legacy_reports import LogicCqReportMsgLegacy, TaskReportMsgLegacy
from formats.v100.lite import LiteEventSqe, LiteRdmaSqe, LiteSdmaSqe
from formats.v100.logic_cqe import LogicCqeSqeIndex, LogicCqeTimestamp
from formats.v100.notify_record import NotifyRecordSqe
from formats.v100.notify_wait import NotifyWaitSqe
from formats.v100.pcie_dma import PcieDmaSqe
from formats.v100.ph_aicpu_info_load import PhAicpuInfoLoadSqe, PhPayloadAicpuInfoLoad
from formats.v100.ph_common_cmd import PhCommonCmdSqe, PhPayloadCommonCmd
from formats.v100.ph_data_dump_load_info import PhDataDumpLoadInfoSqe, PhPayloadDataDumpLoadInfo
from formats.v100.ph_debug_status import PhDebugStatusSqe, PhPayloadDebugStatus
from formats.v100.ph_dynamic_profiling import PhDynamicProfilingSqe, PhPayloadDynamicProfiling
from formats.v100.ph_flip import PhFlipSqe, PhPayloadFlip
from formats.v100.ph_get_dev_msg import PhGetDevMsgSqe, PhPayloadGetDevMsg
from formats.v100.ph_maintenance import PhMaintenanceSqe, PhPayloadMaintenance
from formats.v100.ph_mem_wait_prof import PhMemWaitProfSqe, PhPayloadMemWaitProf
from formats.v100.ph_memcpy_async_without_sdma import PhMemcpyAsyncWithoutSdmaSqe, PhPayloadMemcpyAsyncWithoutSdma
from formats.v100.ph_model_debug_register import PhModelDebugRegisterSqe, PhPayloadModelDebugRegister
from formats.v100.ph_model_maintenance import PhModelMaintenanceSqe, PhPayloadModelMaintenance
from formats.v100.ph_model_task_update import PhModelTaskUpdateSqe, PhPayloadModelTaskUpdate
from formats.v100.ph_profiler_trace_ex import PhPayloadProfilerTraceEx, PhProfilerTraceExSqe
from formats.v100.ph_ring_buffer_control import PhPayloadRingBufferControl, PhRingBufferControlSqe
from formats.v100.ph_stars_version import PhPayloadStarsVersion, PhStarsVersionSqe
from formats.v100.ph_stream_debug_register import PhPayloadStreamDebugRegister, PhStreamDebugRegisterSqe
from formats.v100.ph_stream_overflow_switch import PhPayloadStreamOverflowSwitch, PhStreamOverflowSwitchSqe
from formats.v100.ph_stream_set_tag import PhPayloadStreamSetTag, PhStreamSetTagSqe
from formats.v100.ph_update_address import PhPayloadUpdateAddress, PhUpdateAddressSqe
from formats.v100.place_holder import PhSqe
from formats.v100.rdma_sink import RdmaSinkSqe1, RdmaSinkSqe2
from formats.v100.sdma import MemcpyAsyncPtrSqe, MemcpyAsyncSqe
from formats.v100.sdma_descriptor import CmoAddrInfo, MemcpyAddrInfo, SdmaDescHead
from formats.v100.sqe_header import FftsPlusSqeHeader, SqeHeader
from formats.v100.stream_reset_head import StreamResetHeadSqe
from formats.v100.stream_switch import StreamSwitchExSqe, StreamSwitchSqe
from formats.v100.tiling_tabl import TilingTabl
from formats.v100.topic_sched import TopicSchedSqe
from formats.v100.write_value import WriteValuePtrDst, WriteValuePtrSqe, WriteValueSqe

STRUCTS = (
    SqeHeader,
    FftsPlusSqeHeader,
    CommonSqe,
    AicoreKernelSqe,
    FftsKernelSqeLegacy,
    FftsSqe,
    FftsPlusSqe,
    AicpuKernelSqe,
    AicpuControlModelOperateSqe,
    AicpuControlTimeoutSqe,
    HostfuncCallbackSqe,
    EventRecordSqe,
    EventWaitSqe,
    NotifyRecordSqe,
    NotifyWaitSqe,
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
    PhUpdateAddressSqe,
    PhAicpuInfoLoadSqe,
    PhModelTaskUpdateSqe,
    PhCommonCmdSqe,
    PhStarsVersionSqe,
    PhMemWaitProfSqe,
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
    PhPayloadUpdateAddress,
    PhPayloadAicpuInfoLoad,
    PhPayloadModelTaskUpdate,
    PhPayloadCommonCmd,
    PhPayloadStarsVersion,
    PhPayloadMemWaitProf,
    WriteValueSqe,
    WriteValuePtrSqe,
    WriteValuePtrDst,
    MemcpyAsyncSqe,
    MemcpyAsyncPtrSqe,
    SdmaDescHead,
    MemcpyAddrInfo,
    CmoAddrInfo,
    PcieDmaSqe,
    DsaSqe,
    CmoKernelSqe,
    BarrierKernelSqe,
    FunctionCallSqe,
    GetFloatStatusSqe,
    StreamSwitchSqe,
    StreamSwitchExSqe,
    StreamResetHeadSqe,
    LabelSwitchSqe,
    LabelGotoSqe,
    RdmaSinkSqe1,
    RdmaSinkSqe2,
    CdqmSqe,
    DvppVpcSqe,
    DvppJpegeSqe,
    DvppJpegdSqe,
    LiteSdmaSqe,
    LiteEventSqe,
    LiteRdmaSqe,
    FftsPlusComCtx,
    FftsPlusAicAivCtx,
    FftsPlusMixAicAivCtx,
    FftsPlusSdmaCtx,
    FftsPlusNotifyCtx,
    FftsPlusWriteValueCtx,
    FftsPlusAicpuCtx,
    FftsPlusDataCtx,
    FftsPlusAtStartCtx,
    FftsPlusAtEndCtx,
    FftsPlusLabelCtx,
    FftsPlusCaseSwitchCtx,
    FftsPlusCaseDefaultCtx,
    FftsPlusCondSwitchCtx,
    FftsPlusPersistentCacheCtx,
    FftsPlusDsaCtx,
    TilingTabl,
    CqeError,
    CqeModelExec,
    CqeSysCnt,
    CqeRuntimeView,
    LogicCqeSqeIndex,
    LogicCqeTimestamp,
    LogicCqReportMsgLegacy,
    AicpuKernelSqeDriverView,
    TopicSchedSqe,
    DsaSqeDriverView,
    TaskReportMsgLegacy,
    HostFuncCqReportMsg,
    CallbackReportCbTask,
    CallbackReportIpcInt,
    *COND_OPS,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
