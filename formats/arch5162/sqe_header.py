"""Common 8-byte header of the arch5162 SQEs (`reference/sqe_formats.md` 10)."""

from formats.cstruct import define

HEADER = """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  rd_conds:1  -:3  block_dim:16
    @4   rt_stream_id:16  task_id:16
"""
"""Words 0 and 1 of kernels."""

SUB_TYPE_HEADER = """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  rd_conds:1  -:3  sqe_sub_type:16
    @4   rt_stream_id:16  task_id:16
"""
"""Words 0 and 1 of the other entries, which have a sub type in the place of block_dim."""

SqeHeader = define("arch5162", "SqeHeader", 8, HEADER, note="words 0 and 1 of kernels")
