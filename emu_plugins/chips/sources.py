"""Short names of the sources of chip figures, shared by the chip modules."""

from __future__ import annotations

PLATFORM_FILE = "platform file of the SoC (reference/device_semantics.md 1.1)"
RUNTIME_TABLE = "runtime device table (reference/device_semantics.md 1.2)"
API_LIMIT = "documented limit of the user API (reference/device_semantics.md 1.2)"
SEED = "tiling sink feature text 4.3"
INFERRED = "inferred (reference/device_semantics.md)"
CHOICE = "our choice"
MODELLED = "modelled"
CUBE = "16 x 16 x 16 multiply-accumulates per cycle (reference/device_semantics.md 1.1)"

COMMON = {
    "arch": PLATFORM_FILE,
    "ai_cpus": PLATFORM_FILE,
    "ub_bytes": PLATFORM_FILE,
    "l1_bytes": PLATFORM_FILE,
    "l0a_bytes": PLATFORM_FILE,
    "l0b_bytes": PLATFORM_FILE,
    "l0c_bytes": PLATFORM_FILE,
    "l2_bytes": PLATFORM_FILE,
    "memory_bytes": PLATFORM_FILE,
    "cube_mhz": PLATFORM_FILE,
    "cube_flops_per_cycle": CUBE,
    "ddr_bytes_per_cycle": f"{PLATFORM_FILE}; unit inferred",
    "prefetch_num": SEED,
    "platform_prefetch_num": PLATFORM_FILE,
    "prefetch_depth": f"equal to prefetch_num, {INFERRED}",
    "platform_prefetch_depth": f"equal to the runtime's prefetch count, {INFERRED}",
    "model_task_update": "runtime feature table (reference/device_semantics.md 5.3)",
    "sq_depth": RUNTIME_TABLE,
    "usable_tasks": RUNTIME_TABLE,
    "persistent_tasks": RUNTIME_TABLE,
    "cqe_bytes": RUNTIME_TABLE,
    "cq_depth": CHOICE,
    "latencies": MODELLED,
}
"""Sources that hold for every built-in chip."""
