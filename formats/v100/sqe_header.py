"""Common 8-byte header of every v100 SQE but the place holder (`reference/sqe_formats.md` 2.1)."""

from formats.cstruct import define

HEADER = """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:2  pre_p:2  post_p:2  wr_cqe:1  -:1  block_dim:16
    @4   rt_stream_id:16  task_id:16
"""
"""Words 0 and 1, for the tables of the SQEs."""

FFTS_PLUS_HEADER = """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:2  pre_p:2  post_p:2  wr_cqe:1  overflow_en:1  block_dim:16
    @4   rt_stream_id:16  task_id:16
"""
"""Words 0 and 1 of the FFTS+ entry."""

SqeHeader = define("v100", "SqeHeader", 8, HEADER, note="words 0 and 1 of every SQE but the place holder")

FftsPlusSqeHeader = define(
    "v100", "FftsPlusSqeHeader", 8, FFTS_PLUS_HEADER, note="the same bits; bit 15 is the overflow switch of the stream"
)
