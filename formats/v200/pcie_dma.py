"""PCIe DMA: type 10, always converted by the runtime (`reference/sqe_formats.md` 6.6)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

PcieDmaSqe = define(
    "v200",
    "PcieDmaSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:5  sqe_length:3
    @16  pcie_dma_sq_addr_low:32
    @20  pcie_dma_sq_addr_high:32
    @24  pcie_dma_sq_tail_ptr:16  die_id:1  -:15
    @28  is_converted:1  -:31
    @32  src:64
    @40  dst:64
    @48  length:64
    @56  pass_id:32
    @60  -:32
    """,
    note="an entry of type 10 that is not marked as converted is an asynchronous copy over UB",
    sqe_type=10,
    match={"type": (10,), "is_converted": (1,)},
    meanings={"src": "written 0", "dst": "written 0", "length": "written 0"},
)
