"""AICPU kernel: type 1 (`reference/sqe_formats.md` 4.3)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
"""

AicpuKernelSqe = define(
    "v100",
    "AicpuKernelSqe",
    64,
    HEADER,
    _COMMON,
    """
    @12  sqe_index:16  kernel_credit:8  -:8
    @16  task_so_addr_low:32
    @20  task_so_addr_high:16  -:16
    @24  param_addr_low:32
    @28  param_addr_high:16  -:16
    @32  task_name_str_ptr_low:32
    @36  task_name_str_ptr_high:16  -:16
    @40  p_l2ctrl_low:32
    @44  p_l2ctrl_high:16  overflow_en:1  dump_en:1  debug_dump_en:1  -:13
    @48  extra_field_low:32
    @52  extra_field_high:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="model end graph has this layout too, with shared object address 0",
    sqe_type=1,
    match={"type": (1,)},
    meanings={"param_addr_low": "argument block after its head, low half", "block_dim": "launch block count"},
)

AicpuKernelSqeDriverView = define(
    "v100",
    "AicpuKernelSqeDriverView",
    64,
    HEADER,
    _COMMON,
    """
    @12  sqe_index:16  kernel_credit:8  post_p_bak:2  type_bak:6
    @16  task_so_addr_low:32
    @20  task_so_addr_high:16  -:16
    @24  param_addr_low:32
    @28  param_addr_high:16  -:16
    @32  task_name_str_ptr_low:32
    @36  task_name_str_ptr_high:16  -:16
    @40  p_l2ctrl_low:32
    @44  p_l2ctrl_high:16  overflow_en:1  -:15
    @48  extra_field_low:32
    @52  extra_field_high:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="the same entry as the driver agent sees it: backup bits, no dump bits",
    sqe_type=1,
    meanings={"param_addr_low": "argument block after its head, low half", "block_dim": "launch block count"},
)
