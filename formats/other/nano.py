"""Entries of NANO, 8 and 12 bytes (`reference/sqe_formats.md` 10)."""

from formats.cstruct import define

NanoStaticSqe = define(
    "other",
    "NanoStaticSqe",
    8,
    """
    @0   type:3  pre_p:1  post_p:1  dump_en:1  cond_s:1  -:1  uf:1  sw:1  -:1  prefetch_num:5  soft_user:6
         -:2  kernel_credit:8
    @4   task_param_offset:32
    """,
    note="static part of an entry",
    meanings={
        "type": "kind of entry",
        "pre_p": "1 hands the entry over before it executes",
        "post_p": "1 hands the entry over after it executed",
        "kernel_credit": "execution time limit in credits",
    },
)

NanoDynamicSqe = define(
    "other",
    "NanoDynamicSqe",
    8,
    """
    @0   vld:1  code_size:12  dyn_task_desc_size:16  block_dim:3
    @4   task_pc_offset:32
    """,
    note="dynamic part of an entry",
    meanings={"block_dim": "number of blocks"},
)

NanoPrefetchSqe = define(
    "other",
    "NanoPrefetchSqe",
    12,
    """
    @0   op_type:2  -:5  data_size:25
    @4   dst_offset:25  -:7
    @8   src_offset:32
    """,
    note="one prefetch",
)

NanoPreLoadSqe = define(
    "other",
    "NanoPreLoadSqe",
    8,
    """
    @0   arg_offset_addr_low:32
    @4   arg_offset_addr_high:32
    """,
    note="where the argument offset is",
)
