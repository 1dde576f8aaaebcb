"""Reports of the scheduler before STARS (`reference/sqe_formats.md` 8.4)."""

from formats.cstruct import define

TaskReportMsgLegacy = define(
    "v100",
    "TaskReportMsgLegacy",
    12,
    """
    @0   sop:1  mop:1  eop:1  report_type:3  stream_id:10  task_id:16
    @4   pay_load:32
    @8   sq_id:9  -:6  phase:1  sq_head:14  stream_id_ex:1  fault_stream_id_ex:1
    """,
    note="12 bytes",
)

LogicCqReportMsgLegacy = define(
    "v100",
    "LogicCqReportMsgLegacy",
    16,
    """
    @0   phase:1  sop:1  mop:1  eop:1  logic_cq_id:12  stream_id:16
    @4   task_id:16  error_type:8  need_sorting:8
    @8   error_code:32
    @12  pay_load:32
    """,
    note="16 bytes",
)
