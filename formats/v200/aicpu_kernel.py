"""AICPU kernel: type 5 on the device, 4 on the host, 2 in a fusion (`reference/sqe_formats.md` 6.2)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

AicpuKernelSqe = define(
    "v200",
    "AicpuKernelSqe",
    64,
    HEADER,
    """
    @8   -:16  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:5  sqe_length:3
    @16  task_so_addr_low:32
    @20  task_so_addr_high:16  -:16
    @24  param_addr_low:32
    @28  param_addr_high:16  kfc_args_fmt_offset:16
    @32  task_name_str_ptr_low:32
    @36  task_name_str_ptr_high:16  -:16
    @40  p_l2ctrl_low:32
    @44  p_l2ctrl_high:16  overflow_en:1  dump_en:1  debug_dump_en:1  -:13
    @48  extra_field_low:32
    @52  extra_field_high:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="type 5 runs on the device, type 4 on the host",
    sqe_type=5,
    match={"type": (4, 5)},
    meanings={"param_addr_low": "argument block after its head, low half", "extra_field_low": "task serial number"},
)

FusionAicpuSqe = define(
    "v200",
    "FusionAicpuSqe",
    64,
    HEADER,
    """
    @8   -:10  aic:1  sub_type:5  kernel_type:7  batch_mode:1  topic_type:4  qos:3  -:1
    @12  sqe_index:16  kernel_credit:8  -:5  sqe_length:3
    @16  task_so_addr_low:32
    @20  task_so_addr_high:16  -:16
    @24  param_addr_low:32
    @28  param_addr_high:16  kfc_args_fmt_offset:16
    @32  task_name_str_ptr_low:32
    @36  task_name_str_ptr_high:16  -:16
    @40  p_l2ctrl_low:32
    @44  p_l2ctrl_high:16  overflow_en:1  dump_en:1  debug_dump_en:1  -:13
    @48  extra_field_low:32
    @52  extra_field_high:32
    @56  sub_topic_id:12  topic_id:6  group_id:6  usr_data_len:8
    @60  dest_pid:32
    """,
    note="sub_type bits: 0 host communication CPU, 1 AICPU, 2 cube, 3 and 4 CCU dies",
    sqe_type=2,
    match={"type": (2,), "sub_type": (1, 2, 3, 5, 6, 7)},
    meanings={
        "param_addr_low": "argument block after its head, low half",
        "extra_field_low": "task serial number",
        "sub_type": "what the fusion is made of, one bit per part",
    },
    enums={"sub_type": "fusion_parts"},
)
