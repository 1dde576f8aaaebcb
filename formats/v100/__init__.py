"""Family `v100` (STARS v1): one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.v100.aicore_kernel import AicoreKernelSqe
from formats.v100.aicpu_kernel import AicpuKernelSqe
from formats.v100.common import CommonSqe
from formats.v100.cqe import CqeError, CqeModelExec, CqeSysCnt
from formats.v100.event_record import EventRecordSqe
from formats.v100.event_wait import EventWaitSqe
from formats.v100.function_call import FunctionCallSqe
from formats.v100.logic_cqe import LogicCqeSqeIndex, LogicCqeTimestamp
from formats.v100.notify_record import NotifyRecordSqe
from formats.v100.notify_wait import NotifyWaitSqe
from formats.v100.ph_model_task_update import PhModelTaskUpdateSqe
from formats.v100.place_holder import PhSqe
from formats.v100.sqe_header import SqeHeader
from formats.v100.tiling_tabl import TilingTabl
from formats.v100.write_value import WriteValueSqe

STRUCTS = (
    SqeHeader,
    CommonSqe,
    AicoreKernelSqe,
    AicpuKernelSqe,
    EventRecordSqe,
    EventWaitSqe,
    NotifyRecordSqe,
    NotifyWaitSqe,
    WriteValueSqe,
    PhSqe,
    PhModelTaskUpdateSqe,
    FunctionCallSqe,
    CqeSysCnt,
    CqeError,
    CqeModelExec,
    LogicCqeSqeIndex,
    LogicCqeTimestamp,
    TilingTabl,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
