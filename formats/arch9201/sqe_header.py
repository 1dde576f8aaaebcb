"""Header of arch9201: as v200, and bit 15 is `log_en` (`reference/sqe_formats.md` 6.12)."""

from formats.cstruct import define

HEADER = """
    @0   type:6  lock:1  unlock:1  ie:1  pre_p:1  post_p:1  wr_cqe:1  ptr_mode:1  rtt_mode:1  head_update:1
         log_en:1  block_dim:16
    @4   task_id:32                    | task serial number
"""
"""Words 0 and 1, for the tables of the SQEs."""

SqeHeader = define("arch9201", "SqeHeader", 8, HEADER, note="as v200, with log_en")
