"""What each field means, once per distinct name (facts of `reference/sqe_formats.md`); structs override.

A name that is not here reads `not documented`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SLOTS = {"lhwi": "load-high-word", "llwi": "load-low-word", "func_call": "function-call", "nop": "no-operation"}
_PARTS = {
    "op_code": "opcode",
    "rd": "destination register",
    "func3": "function code",
    "rs1": "first source register",
    "rs2": "second source register",
    "immd": "immediate",
    "immd_high": "immediate, upper bits",
    "immd_low": "immediate, lower 32 bits",
}


def _instruction_fields() -> dict[str, str]:
    """Fields of the instruction slots of condition SQEs: `lhwi1_op_code`, `nop4_immd`, … (section 7)."""
    numbered = {f"{slot}{n}": f"{what} instruction {n}" for slot, what in _SLOTS.items() for n in range(5)}
    named = numbered | {slot: f"{what} instruction" for slot, what in _SLOTS.items()}
    return {f"{slot}_{part}": f"{what}: {text}" for slot, what in named.items() for part, text in _PARTS.items()}


MEANINGS: Mapping[str, str] = MappingProxyType({
    **_instruction_fields(),
    **{f"write_value_part{n}": f"data bytes {4 * n} to {4 * n + 3}" for n in range(8)},
    # header
    "type": "SQE type number",
    "l1_lock": "opens a locked group of entries",
    "l1_unlock": "closes the locked group",
    "l2_lock": "1 locks the SQ (task type 99)",
    "l2_unlock": "1 unlocks the SQ (task type 99)",
    "ie": "interrupt on completion; always 0",
    "pre_p": "who handles the entry before it executes",
    "post_p": "who handles the entry after it executed",
    "wr_cqe": "1 asks for a completion entry on success too",
    "block_dim": "number of blocks, low 16 bits of the 32-bit launch value",
    "rt_stream_id": "stream id; bit 15 marks a task the host waits for",
    "task_id": "task id inside the stream",
    "task_type": "what the place holder stands for",
    # common words
    "sqe_index": "written 0",
    "kernel_credit": "execution time limit in credits; 254 is the longest, 255 never expires",
    "command_custom": "14 words whose meaning depends on the type",
    "payload": "12 words whose meaning depends on the task type",
    "qos": "quality of service level",
    "timeout": "wait limit; 0 waits for ever",
    "event_id": "event index",
    "notify_id": "notify index",
    "model_id": "model id",
    "exe_result": "written 0",
    "sub_type": "what the write is for",
    # AI Core
    "ffts_type": "kind of AI Core entry",
    "wrr_ratio": "weight of the round robin; 1",
    "schem": "how blocks start: as cores get free, or all at once",
    "icache_prefetch_cnt": "instruction cache prefetch; 0",
    "stack_phy_base_low": "physical base of the stack pool, low half",
    "stack_phy_base_high": "physical base of the stack pool, high half",
    "pmg": "memory performance group",
    "ns": "1 selects non-secure access",
    "part_id": "memory partition id",
    "pc_addr_low": "kernel entry, low half",
    "pc_addr_high": "kernel entry, high half",
    "param_addr_low": "argument block, low half",
    "param_addr_high": "argument block, high half",
    "args_size": "size of the arguments; only the tiny chip uses it",
    "biz_flags": "dump and profiling switches",
    # AICPU
    "kernel_type": "kind of AICPU function",
    "batch_mode": "written 0",
    "topic_type": "which CPU runs the function",
    "task_so_addr_low": "name of the shared object, low half of its address",
    "task_so_addr_high": "name of the shared object, high half of its address",
    "task_name_str_ptr_low": "name of the function, low half of its address",
    "task_name_str_ptr_high": "name of the function, high half of its address",
    "p_l2ctrl_low": "written 0",
    "p_l2ctrl_high": "written 0",
    "overflow_en": "overflow detection of the stream is on",
    "dump_en": "a dump of the operator is wanted",
    "debug_dump_en": "the model stream is registered for debugging",
    "extra_field_low": "task id",
    "extra_field_high": "written 0",
    "sub_topic_id": "written 0",
    "topic_id": "event topic; 3 launches a kernel, 5 is a control command",
    "group_id": "event group",
    "usr_data_len": "bytes of user data, counted from word 4",
    "dest_pid": "process that receives the event",
    # write value
    "remote_phy_dev_id": "remote physical device of an IPC notify record, else 0",
    "is_pod": "1 for a super-pod link of an IPC notify record",
    "ptr_mode": "1 when the entry points to a descriptor",
    "write_addr_low": "target address, low half",
    "write_addr_high": "target address, high half",
    "awsize": "size of the write, 2 to this power bytes",
    "snoop": "AXI snoop attribute; 0",
    "awcache": "AXI cache attribute; usually 2",
    "awprot": "AXI protection attribute; 0",
    "va": "1 for a virtual address, 0 for a physical register",
    # model task update
    "desc_buf_offset": "FFTS+ context array, all ones when the target has none",
    "tiling_key_offset": "address of the 64-bit tiling key",
    "block_dim_offset": "address of the 64-bit block dim",
    "tiling_tab_offset": "address of the tiling table",
    "tiling_tab_len": "entries of the tiling table",
    "des_stream_id": "stream of the task to patch",
    "des_task_id": "id of the task to patch",
    "exe_stream_id": "stream that executes this entry",
    "tiling_key": "tiling key that selects the entry",
    "pc_addr0": "AI Core entry, or the only entry",
    "pc_addr1": "vector entry of a mix kernel",
    "task_ratio": "secondary cores per main core",
    "mix_type": "kind of mix kernel",
    # conditions
    "conds_sub_type": "kind of conditional task",
    "csc": "condition flag; written 1, 0 only in the second part of an RDMA sink",
    # completion
    "phase": "toggles with every wrap of the ring",
    "warn": "a warning is present",
    "evt": "the entry is about an event record",
    "place_hold": "the entry is about a place holder",
    "sq_id": "hardware SQ",
    "error_bit": "1 when the entry describes an error",
    "sq_head": "SQ head after this entry",
    "stream_id": "stream id",
    "syscnt_low": "time stamp, low half",
    "syscnt_high": "time stamp, high half",
    "error_type": "what went wrong, one bit per reason",
    "drop_flag": "the entry was dropped later",
    "acc_error": "error of an accelerator",
    "sqe_type": "SQE type of the task",
    "sq_sw_status": "status code; its meaning depends on the task",
    "fault_task_id": "task that failed",
    "fault_stream_id": "stream that failed",
    "result": "1 when the model failed",
    "error_code": "status word of the hardware entry",
    "match_flag": "the host waits for this task",
    "next_task_vld": "the next task is valid",
    "notify_attached": "a notify id comes with the entry",
    "enque_time_stamp": "time of entry into the queue",
    "time_stamp": "time of completion",
})  # fmt: skip

UNITS: Mapping[str, str] = MappingProxyType({
    "timeout": "s",
    "kernel_credit": "credits",
    "block_dim": "blocks",
    "args_size": "bytes",
    "usr_data_len": "bytes",
    "tiling_tab_len": "entries",
    "syscnt": "ticks",
    "enque_time_stamp": "ticks",
    "time_stamp": "ticks",
    **dict.fromkeys(
        (
            "desc_buf_offset",
            "tiling_key_offset",
            "block_dim_offset",
            "tiling_tab_offset",
            "pc_addr0",
            "pc_addr1",
            "data_addr",
            "device_addr",
            "name_addr",
            "ext_info_addr",
            "node_info",
            "extend_info",
            "output_start",
        ),
        "address",
    ),
})  # fmt: skip
"""Unit by field name, where a value has one; values of unit `address` are shown in hexadecimal."""
