"""The policies of the operator: what the sources leave open, and what can be broken on purpose."""

from __future__ import annotations

from emu_core.policies import PolicySpec, Scope
from emu_plugins.cgdr.defects import VALUES as DEFECT_VALUES

TILING_DEPEND_POLICY = "cgdr.tiling_depend"

POLICIES = (
    PolicySpec(
        "cgdr.product", Scope.OPERATOR, "two_term", ("two_term", "four_term", "plain_fp16", "fp32"),
        "matrix products inside ChunkGatedDeltaRule: left operand split into two float16, right one rounded; both "
        "split; neither; or everything in float32, without the device's paths",
    ),
    PolicySpec(
        "cgdr.accumulate", Scope.OPERATOR, "fp32", ("fp32", "fp64"),
        "how a product of ChunkGatedDeltaRule on the Cube is summed: in float32, or in float64 and rounded once",
    ),
    PolicySpec(
        "cgdr.fma", Scope.OPERATOR, "off", ("off", "on"),
        "whether a multiply-add of the vector unit rounds once (on) or after each of its two operations",
    ),
    PolicySpec(
        "cgdr.exp", Scope.OPERATOR, "numpy", ("numpy", "float64"),
        "the vector unit's exponential: numpy's in float32, or float64 rounded once",
    ),
    PolicySpec(
        "cgdr.fallback_inverse", Scope.OPERATOR, "vector", ("vector", "blocked"),
        "the triangular inverse of heads wider than 128: row by row, or in blocks on the Cube as shipped",
    ),
    PolicySpec(
        "cgdr.stage_slots", Scope.OPERATOR, "2", ("2", "1"),
        "staging slots per core: with one, scale * Q follows the keys in the same slot; the values are the same",
    ),
    PolicySpec(
        "cgdr.host_matmul", Scope.OPERATOR, "64x128x128", ("64x128x128", "64x64x64", "64x80x80", "64x96x96"),
        "M, K and N in the host's formula for staging memory; any but the default breaks contract C1 and is reported",
    ),
    PolicySpec(
        "cgdr.defects", Scope.OPERATOR, "none", DEFECT_VALUES,
        "defects of shipped kernels to bring back: none, as_shipped (D3, D4, D5, D7), or a list such as D1,D3",
    ),
    PolicySpec(
        "cgdr.padding", Scope.OPERATOR, "zero", ("zero", "nan"),
        "nan: every buffer is NaN before each chunk, and padding is checked to be zero before the Cube reads it",
    ),
    PolicySpec(
        "cgdr.ub", Scope.OPERATOR, "arrays", ("arrays", "accurate", "checked"),
        "buffers of ChunkGatedDeltaRule: an array each; or places in a byte array as large as UB, so that overlaps "
        "show in the values as on hardware (slow); checked: an overlap is a fault that names both buffers",
    ),
    PolicySpec(
        "cgdr.time", Scope.OPERATOR, "work", ("work", "pipes"),
        "duration of ChunkGatedDeltaRule: from its operations and bytes, or that of the busiest core in the model of "
        "the five pipes",
    ),
    PolicySpec(
        TILING_DEPEND_POLICY, Scope.COMPILE, "actual_seq_lengths", ("actual_seq_lengths", "none"),
        "the input whose value the tiling of ChunkGatedDeltaRule is declared to read; none: no tiling sink for it",
    ),
)  # fmt: skip
