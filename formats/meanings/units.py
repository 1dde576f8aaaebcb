"""Unit by field name, where a value has one; values of unit `address` are shown in hexadecimal."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_UNIT = {
    "s": "timeout op_wait_timeout op_execute_timeout",
    "credits": "kernel_credit kernel_cdt swapout_credit",
    "blocks": "block_dim group_block_dim non_tail_block_dim tail_block_dim",
    "bytes": "args_size usr_data_len usr_data_length length length_move len_inner length_inner len size total_len "
    "element_size cmd_buf_size non_tail_data_length tail_data_length msg_len share_mem_size",
    "entries": "tiling_tab_len",
    "units": "sqe_length",
    "cycles": "start_cycle stop_cycle delay_cycle",
    "ticks": "syscnt enque_time_stamp time_stamp",
    "address": "desc_buf_offset tiling_key_offset block_dim_offset tiling_tab_offset pc_addr0 pc_addr1 data_addr "
    "device_addr name_addr ext_info_addr node_info extend_info output_start dumpinfo_ptr aicpu_info_ptr addr "
    "stream_exec_times_addr ringbuffer_offset ringbuffer_phy_addr src dest dst dev_addr pointer_of_ffts_desc "
    "host_func_cb_ptr fn_data_ptr index_ptr label_info_ptr label_count_ptr var_ptr val_ptr start_pc_addr args_addr",
}

UNITS: Mapping[str, str] = MappingProxyType({n: unit for unit, names in _BY_UNIT.items() for n in names.split()})
