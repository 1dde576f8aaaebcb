"""SDMA context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define
from formats.v100.contexts.common import DUMP_CONTEXT_HEAD

FftsPlusSdmaCtx = define(
    "v100",
    "FftsPlusSdmaCtx",
    128,
    DUMP_CONTEXT_HEAD,
    """
    @64  -:8  -:7  atm:1  -:16
    @68  pmg:2  ns:1  part_id:8  -:1  qos:4  -:16
    @72  thread_id:16  thread_dim:16
    @76  sdma_sqe_header:32
    @80  source_stream_id:16  source_substream_id:16
    @84  destination_stream_id:16  destination_substream_id:16
    @88  source_address_base_l:32
    @92  source_address_base_h:32
    @96  source_address_offset:32
    @100 destination_address_base_l:32
    @104 destination_address_base_h:32
    @108 destination_address_offset:32
    @112 non_tail_data_length:32
    @116 tail_data_length:32
    @120 -:32*2
    """,
    match={"context_type": (8,)},
)
