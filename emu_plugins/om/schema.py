"""The protobuf messages inside an offline model: names and field numbers as a table (`reference/om_format.md` 6, 8).

A line is a message: `Name: field number type …`. Types are `u` unsigned, `i` signed integer, `x` bool, `f` float, `b`
bytes (texts too: nothing is refused for its encoding), or the name of a message; `*` makes a field a list. Fields that
are not listed are passed over when a message is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TASKS = """
ModelTaskDef: version 1 b, attr 9 *Entry, task 10 *TaskDef, memory_size 11 u, stream_num 12 u, event_num 13 u,
    weight_size 14 u, op 15 *b, base_addr 16 u, weight_addr 17 u, batch_num 18 u
TaskDef: id 1 u, type 2 u, stream_id 10 u, event_id 11 u, notify_id 12 u, sqe_num 13 u, kernel 20 KernelDef,
    kernel_ex 21 KernelExDef, kernel_hccl 25 KernelHcclDef, event_ex 26 EventExDef, log_timestamp 28 LogTimeStampDef,
    label_id 30 u, memcpy_async 31 MemcpyAsyncDef, stream_switch 32 StreamSwitchDef, stream_active 33 StreamActiveDef,
    private_def 34 b, ops_kernel_store_ptr 35 u, stream_switch_n 36 StreamSwitchNDef, label_set 37 LabelDef,
    label_goto_ex 38 LabelDef, label_switch_by_index 39 LabelSwitchByIndexDef,
    kernel_with_handle 40 KernelDefWithHandle, ffts_task 41 FftsTaskDef, ffts_plus_task 42 FftsPlusTaskDef,
    dsa_task 43 DSATaskDef, cmo_task 44 CmoTaskDef,
    cmo_barrier_task 45 CmoBarrierTaskDef, npu_get_float_status 46 NpuGetFloatStatusDef,
    npu_clear_float_status 47 NpuClearFloatStatusDef, dvpp_task 48 DvppTaskDef,
    npu_get_float_debug_status 49 NpuGetFloatStatusDef, npu_clear_float_debug_status 50 NpuClearFloatStatusDef,
    cmo_addr_task 51 CmoAddrTaskDef, update_pc_task 52 UpdatePcTaskDef, fusion_task 53 FusionTaskDef
KernelDef: context 1 KernelContext, is_block_task_prefetch 2 x, stub_func 10 b, block_dim 11 u, args_size 12 u,
    args 13 b, sm_desc 14 b, flowtable 15 b, so_name 16 b, kernel_name 17 b, kernel_ext_info 18 b,
    kernel_ext_info_size 19 u, args_info 20 *ArgsInfo, schedule_mode 21 u, block_dim_offset 22 u
KernelDefWithHandle: context 1 KernelContext, is_block_task_prefetch 2 x, handle 10 u, dev_func 11 b, block_dim 12 u,
    args_size 13 u, args 14 b, sm_desc 15 b, original_kernel_key 16 b, node_info 17 b, args_info 18 *ArgsInfo,
    schedule_mode 19 u, block_dim_offset 20 u
KernelContext: kernel_type 1 u, op_id 2 u, kernel_func_id 3 u, op_index 4 u, is_flowtable 5 x, args_offset 6 b,
    args_count 7 u, origin_op_index 8 *u, args_format 10 b
ArgsInfo: arg_type 1 u, arg_format 2 u, start_index 3 i, size 4 u
KernelExDef: flags 1 u, op_index 4 u, args_size 12 u, args 13 b, task_info 14 b, task_info_size 15 u,
    kernel_ext_info 16 b, kernel_ext_info_size 17 u
KernelHcclDef: op_index 8 u, hccl_type 9 b, input_zero_copy_flag 10 x, output_zero_copy_flag 11 x, aiv_block_dim 12 u
EventExDef: op_index 1 u, event_type 2 u
LogTimeStampDef: logid 1 u, notify 2 x, flat 3 u
MemcpyAsyncDef: dst 1 u, dst_max 2 u, src 3 u, count 4 u, kind 5 u, op_index 6 u, args_format 7 b
StreamSwitchDef: op_index 1 u, true_stream_id 2 u, value 3 i, value_ptr 4 u, data_type 5 u
StreamActiveDef: op_index 1 u, active_stream_id 2 u
StreamSwitchNDef: op_index 1 u, size 2 u, target_value 3 *i, true_stream_id 4 *u, element_size 5 u, data_type 6 u
LabelDef: op_index 1 u, label_id 2 u, model_id 3 u
LabelSwitchByIndexDef: op_index 1 u, label_max 2 u
FftsTaskDef: op_index 1 u
UpdatePcTaskDef: op_index 1 u, stream_id 2 u, args_format 3 b
FftsPlusTaskDef: op_index 1 u, addr_size 2 u, ffts_plus_sqe 3 FftsPlusSqeDef, ffts_plus_ctx 4 *FftsPlusCtxDef,
    additional_data 5 *AdditionalDataDef
AdditionalDataDef: data_type 1 u, context_id 2 *u
FftsPlusSqeDef: sqe_header 1 FftsSqeHeaderDef, wrr_ratio 2 u, sqe_index 3 u, total_context_num 4 u,
    ready_context_num 5 u, preload_context_num 6 u, prefetch_ost_num 7 u, cmaint_ost_num 8 u, aic_prefetch_lower 9 u,
    aic_prefetch_upper 10 u, aiv_prefetch_lower 11 u, aiv_prefetch_upper 12 u, data_split_unit 13 u
FftsSqeHeaderDef: l1_lock 1 u, l1_unlock 2 u, block_dim 3 u
FftsPlusCtxDef: op_index 1 u, uniq_ctx_name 2 b, context_type 3 u, context_id 4 u, op_type 5 u,
    aic_aiv_ctx 6 FftsPlusAicAivCtxDef, mix_aic_aiv_ctx 7 FftsPlusMixAicAivCtxDef, sdma_ctx 8 b, notify_ctx 9 b,
    write_value_ctx 10 b, aicpu_ctx 11 FftsPlusAicpuCtxDef, data_ctx 12 b, at_start_ctx 13 b, at_end_ctx 14 b,
    label_ctx 15 b, case_switch_ctx 16 b, case_default_ctx 17 b, cond_switch_ctx 18 b, cache_persist_ctx 19 b,
    dsa_ctx 20 b
FftsPlusMixAicAivCtxDef: successor_num 1 u, aten 2 u, prefetch_config 3 u, pred_cnt_init 4 u, pred_cnt 5 u,
    successor_list 6 *u, schem 7 u, atm 8 u, prefetch_enable_bitmap 9 u, prefetch_once_bitmap 10 u, pmg 11 u, ns 12 u,
    part_id 13 u, qos 14 u, non_tail_block_ratio_n 15 u, tail_block_ratio_n 16 u, thread_id 17 u, thread_dim 18 u,
    non_tail_block_dim 19 u, tail_block_dim 20 u, aic_task_param_ptr_offset 21 u, aiv_task_param_ptr_offset 22 u,
    kernel_name 23 *b, task_addr 24 *u, task_addr_offset 25 *u, input_output_count 26 u, save_task_addr 27 u,
    src_slot 28 u, policy_pri 29 u, thread_window_size 30 u, args_format 31 b
FftsPlusAicAivCtxDef: successor_num 1 u, aten 2 u, prefetch_config 3 u, pred_cnt_init 4 u, pred_cnt 5 u,
    successor_list 6 *u, schem 7 u, atm 8 u, prefetch_enable_bitmap 9 u, prefetch_once_bitmap 10 u, pmg 11 u, ns 12 u,
    part_id 13 u, qos 14 u, thread_id 15 u, thread_dim 16 u, non_tail_block_dim 17 u, tail_block_dim 18 u,
    task_param_ptr_offset 19 u, save_task_addr 20 u, task_addr 21 *u, task_addr_offset 22 *u, input_output_count 23 u,
    kernel_name 24 *b, src_slot 25 u, policy_pri 26 u, thread_window_size 27 u
FftsPlusAicpuCtxDef: successor_num 1 u, aten 2 u, pred_cnt_init 3 u, pred_cnt 4 u, successor_list 5 *u, atm 6 u,
    sqe_index 7 u, kernel_type 8 u, bm 9 u, topic_type 10 u, qos 11 u, thread_id 12 u, thread_dim 13 u,
    non_tail_block_dim 14 u, tail_block_dim 15 u, sub_topic_id 16 u, topic_id 17 u, group_id 18 u,
    task_param_offset 19 u, kernel 20 AicpuKernelDef
AicpuKernelDef: args_size 1 u, args 2 b, so_name 3 b, kernel_name 4 b, kernel_ext_info 5 b, kernel_ext_info_size 6 u
CmoTaskDef: cmo_type 1 u, logic_id 2 u, op_code 3 u, qos 4 u, part_id 5 u, pmg 6 u, num_inner 7 u, num_outer 8 u,
    length_inner 9 u, source_addr 10 u, strider_outer 11 u, strider_inner 12 u
CmoBarrierTaskDef: logic_id_num 1 u, barrier_info 2 *CmoBarrierInfoDef
CmoBarrierInfoDef: cmo_type 1 u, logic_id 2 u
CmoAddrTaskDef: cmo_op_code 1 u, op_index 2 u, num_inner 3 u, num_outer 4 u, src 5 u, length_inner 6 u,
    stride_outer 7 u, stride_inner 8 u, resv0 9 u, resv1 10 u, args_format 11 b
DSATaskDef: op_index 1 u, start 2 u, sqe_type 3 u, distribution_type 4 u, data_type 5 u, alg_type 6 u, input_vld 7 u,
    input_value_addr_flag 8 u, input1_value_or_ptr 9 u, input2_value_or_ptr 10 u, seed_value_or_ptr 11 u,
    random_count_value_or_ptr 12 u, args 13 b
DvppTaskDef: op_index 1 u
NpuGetFloatStatusDef: output_addr 1 u, output_size 2 u, mode 3 u, op_index 4 u
NpuClearFloatStatusDef: mode 1 u, op_index 2 u
FusionTaskDef: op_index 1 u, args_format 2 b, kfc_args_format_offset 3 u, fusion_sub_task_info 4 *b
"""
_GRAPH = """
ModelDef: name 1 b, version 2 u, custom_version 3 b, graph 7 *GraphDef, attr 11 *Entry
GraphDef: name 1 b, input 4 *b, output 5 *b, op 6 *OpDef, attr 11 *Entry
OpDef: name 1 b, type 2 b, input 5 *b, attr 10 *Entry, has_out_attr 20 x, id 21 i, stream_id 22 i, input_name 23 *b,
    src_name 24 *b, src_index 25 *i, dst_name 26 *b, dst_index 27 *i, input_i 28 *i, output_i 29 *i, workspace 30 *i,
    workspace_bytes 31 *i, is_input_const 32 *x, input_desc 33 *TensorDescriptor, output_desc 34 *TensorDescriptor,
    subgraph_name 35 *b
TensorDescriptor: name 1 b, dtype 2 u, shape 3 ShapeDef, layout 4 b, attr 5 *Entry, has_out_attr 9 x, size 10 i,
    weight_size 11 i, reuse_input 12 x, output_tensor 13 x, device_type 14 b, input_tensor 15 x, real_dim_cnt 16 i,
    reuse_input_index 17 i, data_offset 18 i, cmps_size 19 i, cmps_tab 20 b, cmps_tab_offset 21 i
ShapeDef: dim 1 *i
TensorDef: desc 1 TensorDescriptor, data 2 b
NamedAttrs: name 1 b, attr 2 *Entry
Entry: key 1 b, value 2 AttrDef
AttrDef: list 1 ListValue, s 2 b, i 3 i, f 4 f, b 5 x, bt 7 b, func 10 NamedAttrs, td 11 TensorDescriptor,
    t 12 TensorDef, g 13 GraphDef, list_list_int 14 ListListInt, dt 15 u, list_list_float 16 ListListFloat,
    expression 17 b
ListValue: s 2 *b, i 3 *i, f 4 *f, b 5 *x, bt 7 *b, td 8 *TensorDescriptor, t 9 *TensorDef, g 10 *GraphDef,
    na 11 *NamedAttrs, dt 12 *u, val_type 20 u
ListListInt: lists 1 *ListInt
ListInt: values 1 *i
ListListFloat: lists 1 *ListFloat
ListFloat: values 1 *f
"""

ONE_OF_THEM = frozenset({"AttrDef"})
"""Messages of which one field is set, which then counts with the value 0 as well."""
ONEOF = "value"
"""Name of that choice."""


@dataclass(frozen=True)
class FieldType:
    """A field: its number, its type (a letter or the name of a message), and whether it is a list."""

    name: str
    number: int
    type: str
    repeated: bool

    @property
    def is_message(self) -> bool:
        """Whether it holds messages."""
        return len(self.type) > 1


@cache
def messages() -> Mapping[str, tuple[FieldType, ...]]:
    """Fields of every message, by its name."""
    found: dict[str, list[FieldType]] = {}
    current = ""
    for line in (_TASKS.strip() + _GRAPH).splitlines():
        text = line
        if not line.startswith(" "):
            current, _, text = line.partition(":")
            found[current] = []
        found[current] += [_field(item) for item in text.split(",") if item.strip()]
    return MappingProxyType({name: tuple(fields) for name, fields in found.items()})


def _field(item: str) -> FieldType:
    name, number, kind = item.split()
    return FieldType(name, int(number), kind.removeprefix("*"), kind.startswith("*"))


@cache
def children(message: str) -> Mapping[int, str]:
    """The messages inside a message, by field number."""
    return MappingProxyType({field.number: field.type for field in messages()[message] if field.is_message})
