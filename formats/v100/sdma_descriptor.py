"""Descriptors that a pointer-mode SDMA entry points to (`reference/sqe_formats.md` 4.10)."""

from formats.cstruct import define

SdmaDescHead = define(
    "v100",
    "SdmaDescHead",
    16,
    """
    @0   opcode:8  ie2:1  sssv:1  dssv:1  sns:1  dns:1  qos:4  sro:1  dro:1  part_id:8  mpam:1  pmg:2
         format:1  -:1
    @4   src_stream_id:16  src_sub_stream_id:16
    @8   dst_stream_id:16  dst_sub_stream_id:16
    @12  length:32
    """,
    note="first 16 bytes of the descriptor",
    meanings={"pmg": "performance monitor group; 0"},
)

MemcpyAddrInfo = define(
    "v100",
    "MemcpyAddrInfo",
    32,
    """
    @0   -:32
    @4   -:32
    @8   -:32
    @12  len:32
    @16  src:64
    @24  dst:64
    """,
    note="whole 32-byte descriptor of a copy; the head overwrites its first 12 or 16 bytes",
)

CmoAddrInfo = define(
    "v100",
    "CmoAddrInfo",
    32,
    """
    @0   -:32
    @4   -:32
    @8   num_outer:16  num_inner:16
    @12  len_inner:32
    @16  src:64
    @24  stride_outer:32
    @28  stride_inner:32
    """,
    note="whole 32-byte descriptor of a cache operation; the head overwrites its first 8 bytes",
)
