"""Family `arch9201`: what differs from `v200`: one file per SQE kind; `STRUCTS` lists what the registry holds."""

from formats.arch9201.cmo import CmoLinearSqe, CmoStrideSqe, CmoTwoDimSqe
from formats.arch9201.cond_op import STRUCTS as COND_OPS
from formats.arch9201.kernel import AicKernelSqe, AivKernelSqe
from formats.arch9201.sqe_header import SqeHeader

STRUCTS = (
    SqeHeader,
    AicKernelSqe,
    AivKernelSqe,
    CmoLinearSqe,
    CmoStrideSqe,
    CmoTwoDimSqe,
    *COND_OPS,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
