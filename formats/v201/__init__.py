"""Family `v201`: what differs from `v200`: one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.v201.cmo import CmoLinearSqe, CmoStrideSqe, CmoTwoDimSqe
from formats.v201.cond_op import STRUCTS as COND_OPS
from formats.v201.dqs_sched_end import DqsSchedEndSqe
from formats.v201.function_call import FunctionCallSqe
from formats.v201.get_float_status import GetFloatStatusSqe
from formats.v201.sdma import MemcpyLinearSqe, MemcpyStrideSqe, MemcpyTwoDimSqe

STRUCTS = (
    MemcpyLinearSqe,
    CmoLinearSqe,
    MemcpyStrideSqe,
    CmoStrideSqe,
    MemcpyTwoDimSqe,
    CmoTwoDimSqe,
    FunctionCallSqe,
    GetFloatStatusSqe,
    DqsSchedEndSqe,
    *COND_OPS,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
