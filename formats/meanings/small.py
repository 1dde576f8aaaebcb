"""NANO entries and TPRT, scheduling in host threads (`reference/sqe_formats.md` 10)."""

from __future__ import annotations

from formats.meanings.halves import each, halves

SMALL = {
    **each("cond_s uf sw", "not documented; flag of a static entry"),
    "prefetch_num": "prefetch entries that belong to it (inferred from the name)",
    "soft_user": "bits for software",
    "vld": "1 when the entry is valid (inferred from the name)",
    "code_size": "size of the kernel code (inferred from the name)",
    "dyn_task_desc_size": "size of the dynamic task description (inferred from the name)",
    "task_pc_offset": "kernel entry, as an offset (inferred from the name)",
    "op_type": "kind of prefetch",
    "data_size": "bytes to prefetch (inferred from the name)",
    "dst_offset": "destination of the prefetch, as an offset",
    "src_offset": "source of the prefetch, as an offset",
    **halves("arg_offset_addr", "argument offset, its address"),
    "dfx_id": "id for diagnosis (inferred from the name)",
    "task_sn": "task serial number",
    "start_pc_addr": "function to call",
    "args_addr": "argument block",
}
