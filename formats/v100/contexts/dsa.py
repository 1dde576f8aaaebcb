"""Random number context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusDsaCtx = define(
    "v100",
    "FftsPlusDsaCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:6  dump_switch:1  aten:1
    @4   -:8*2  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  successor_list:16*26
    @64  number_offset:16  address_offset:16
    @68  -:32
    @72  thread_id:16  thread_dim:16
    @76  start:1  function_type:3  data_type:3  algo_type:3  param_vld_bitmap:5  param_addr_val_bitmap:7
         -:10
    @80  dsa_cfg_result_addr_low:32
    @84  dsa_cfg_result_addr_high:32
    @88  dsa_cfg_state_addr_low:32
    @92  dsa_cfg_state_addr_high:32
    @96  dsa_cfg_param_addr_low:32
    @100 dsa_cfg_param_addr_high:32
    @104 dsa_cfg_seed_low:32
    @108 dsa_cfg_seed_high:32
    @112 dsa_cfg_number_low:32
    @116 dsa_cfg_number_high:32
    @120 -:32*2
    """,
    note="from word 20 on as in the random number entry",
    match={"context_type": (0x700,)},
)
