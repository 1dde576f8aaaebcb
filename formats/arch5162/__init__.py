"""Family `arch5162`: one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.arch5162.common import CommonSqe
from formats.arch5162.kernel import AicKernelSqe, AivKernelSqe
from formats.arch5162.notify_wait import NotifyWaitSqe
from formats.arch5162.ph_callback import PhCallbackSqe
from formats.arch5162.ph_label_set import PhLabelSetSqe
from formats.arch5162.ph_label_switch import PhLabelSwitchSqe
from formats.arch5162.ph_memcpy_async import PhMemcpyAsyncSqe
from formats.arch5162.ph_model_execute import PhModelExecuteSqe
from formats.arch5162.ph_model_maintenance import PhModelMaintenanceSqe
from formats.arch5162.ph_stream_active import PhStreamActiveSqe
from formats.arch5162.ph_stream_switch_ex import PhStreamSwitchExSqe
from formats.arch5162.place_holder import PhSqe
from formats.arch5162.sqe_header import SqeHeader
from formats.arch5162.write_value import WriteValueSqe

STRUCTS = (
    SqeHeader,
    CommonSqe,
    AicKernelSqe,
    AivKernelSqe,
    NotifyWaitSqe,
    WriteValueSqe,
    PhSqe,
    PhMemcpyAsyncSqe,
    PhModelExecuteSqe,
    PhModelMaintenanceSqe,
    PhCallbackSqe,
    PhLabelSwitchSqe,
    PhLabelSetSqe,
    PhStreamActiveSqe,
    PhStreamSwitchExSqe,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
