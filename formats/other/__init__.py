"""Family `other`: NANO and TPRT entries, no 64-byte SQEs; `STRUCTS` lists what the registry holds."""

from formats.other.nano import NanoDynamicSqe, NanoPrefetchSqe, NanoPreLoadSqe, NanoStaticSqe
from formats.other.tprt import TprtAicpuSqe, TprtCqe, TprtSqeHeader

STRUCTS = (
    NanoStaticSqe,
    NanoDynamicSqe,
    NanoPrefetchSqe,
    NanoPreLoadSqe,
    TprtSqeHeader,
    TprtAicpuSqe,
    TprtCqe,
)

__all__ = ["STRUCTS", *(s.struct_name for s in STRUCTS)]  # noqa: PLE0604 - names of the table, strings all
