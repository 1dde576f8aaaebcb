"""Reports on the way to host functions (`reference/sqe_formats.md` 8.4)."""

from formats.cstruct import define

HostFuncCqReportMsg = define(
    "v100",
    "HostFuncCqReportMsg",
    32,
    """
    @0   phase:1  sop:1  mop:1  eop:1  cq_id:12  stream_id:16
    @4   task_id:16  sq_id:16
    @8   sq_head:16  sequence_id:16
    @12  is_block:8  -:8*2  cqe_type:8
    @16  host_func_cb_ptr:64
    @24  fn_data_ptr:64
    """,
)

CallbackReportCbTask = define(
    "v100",
    "CallbackReportCbTask",
    32,
    """
    @0   phase:1  -:7  task_type:8  sq_id:16
    @4   sq_head:16  stream_id:16
    @8   task_id:16  cq_id:16
    @12  is_block:8  -:8*3
    @16  host_func_cb_ptr:64
    @24  fn_data_ptr:64
    """,
)

CallbackReportIpcInt = define(
    "v100",
    "CallbackReportIpcInt",
    32,
    """
    @0   phase:1  -:7  task_type:8  sq_id:16
    @4   sq_head:16  stream_id:16
    @8   task_id:16  ntc_pid:32
    @14  ntc_grp_id:16
    @16  ntc_tid:16  ntc_sub_event_id:16
    @20  ntc_event_id:8  msg_len:8  msg:8*8
    @30  phy_dev_id:16
    """,
)
