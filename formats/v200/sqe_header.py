"""Common 8-byte header of every v200 SQE (`reference/sqe_formats.md` 2.2)."""

from formats.cstruct import define

HEADER = """
    @0   type:6  lock:1  unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  ptr_mode:1  rtt_mode:1  head_update:1
         -:1  block_dim:16
    @4   task_id:32                    | task serial number
"""
"""Words 0 and 1, for the tables of the SQEs."""

SqeHeader = define(
    "v200",
    "SqeHeader",
    8,
    HEADER,
    note="the stream id is not in the header",
)

SqeHeaderDriverView = define(
    "v200",
    "SqeHeaderDriverView",
    8,
    """
    @0   type:6  l1_lock:1  l1_unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  ptr_mode:1  rtt_mode:1
         head_update:1  -:1  block_dim:16
    @4   rt_stream_id:16  task_id:16
    """,
    note="as the device sees it: the serial number in two halves",
)
