"""Contracts between host, workspace and device kernel that nothing on the real machine checks (`reference/cgdr.md` 16).

| id | what must agree |
|---|---|
| C1 | bytes per core that the host asks for (a formula of M, K, N) and that the device strides (literals) |
| C2 | the budget that the instance rebuilds, and what the tiling data leave (`launch.py`, fault `cgdr.ub`) |
| C3 | the two copies of the tiling struct |
| C4 | the one out queue, and the float16 images that borrow it |
| C5 | cores reported as 0: block dim 1, slow and not wrong |
| C6 | the workspace address, and whether anything uses it |
| C7 | the 32-bit counter of the owner rule, and the work of the launch |
| C9 | padding is zero before each product (`item_group.py`, policy `cgdr.padding`) |

C8, C10 and C11, which compare rules of the tiling, are in `tiling_contracts.py`. Pure, but for `launch_breaks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    DEVICE_STAGE_SLOT_BYTES,
    FP16_BYTES,
    FP32_BYTES,
    MATMUL_K,
    MATMUL_M,
    MATMUL_N,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.defects import defects_of
from emu_plugins.cgdr.items import tiles_per_head
from emu_plugins.cgdr.launch import ARG_FINAL_STATE, ARG_OUT, ARG_WORKSPACE, LaunchProblem
from emu_plugins.cgdr.paths import Geometry, full_chunk_steps
from emu_plugins.cgdr.tiling import out_queue_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emu_core.kernels import KernelLaunch
    from emu_plugins.cgdr.items import LiveSequence
    from emu_plugins.cgdr.tiling_data import CgdrTilingData

U32_VALUES = 1 << 32
DEFAULT_MATMUL = f"{MATMUL_M}x{MATMUL_K}x{MATMUL_N}"


@dataclass(frozen=True)
class StagePlan:
    """Staging of one launch as host and device each see it.

    Attributes:
        m, k, n: the host's nominal product. slots: slots per core.
        states: bytes of float32 states before the first slot. block_dim: blocks of the launch.
    """

    m: int
    k: int
    n: int
    slots: int
    states: int
    block_dim: int

    @property
    def host_bytes(self) -> int:
        """Bytes per core that the host asks for: slots * (2 M K + K N) * 2."""
        return self.slots * (2 * self.m * self.k + self.k * self.n) * FP16_BYTES

    @property
    def device_bytes(self) -> int:
        """Bytes per core that the device strides: slots of 64 KiB."""
        return self.slots * DEVICE_STAGE_SLOT_BYTES

    @property
    def asked(self) -> int:
        """Bytes of workspace that the host asks for."""
        return max(self.states + self.block_dim * self.host_bytes, WORKSPACE_FLOOR)

    @property
    def reached(self) -> int:
        """The byte after the last that the device may write."""
        return self.states + self.block_dim * self.device_bytes


def matmul_of(value: str) -> tuple[int, int, int]:
    """M, K and N of a value of policy `cgdr.host_matmul`."""
    m, k, n = (int(number) for number in value.split("x"))
    return m, k, n


def stage_break(plan: StagePlan, owners: Mapping[str, tuple[int, int]], workspace: int = 0) -> LaunchProblem | None:
    """C1: both formulas, whose bytes the device overwrites, and both repairs; None when they agree.

    Args:
        plan: what both sides compute.
        owners: name -> address and bytes of what else the launch knows in device memory.
        workspace: its address.
    """
    host, device = plan.host_bytes, plan.device_bytes
    if host == device:
        return None
    formula = f"{plan.slots} * (2 * {plan.m} * {plan.k} + {plan.k} * {plan.n}) * {FP16_BYTES} = {host}"
    strides = f"{plan.slots} * {DEVICE_STAGE_SLOT_BYTES} = {device}"
    what = (
        f"contract C1 is broken: the host asks for {formula} bytes of staging per core, the device strides {strides}; "
        f"{_stage_harm(plan, owners, workspace)}"
    )
    remedy = (
        f"host: ask for {device} bytes per core (M, K, N = {MATMUL_M}, {MATMUL_K}, {MATMUL_N}); or device: derive its "
        f"slot of {host // plan.slots} bytes from the same formula"
    )
    return LaunchProblem("cgdr.stage", what, remedy)


def _stage_harm(plan: StagePlan, owners: Mapping[str, tuple[int, int]], workspace: int) -> str:
    """Whose bytes are overwritten, seen from the host's plan."""
    if plan.host_bytes > plan.device_bytes:
        return f"{plan.host_bytes - plan.device_bytes} bytes per core stay unused"
    inside = "" if plan.block_dim == 1 else _first_overlap(plan) + "; "
    over = plan.reached - plan.asked
    if over <= 0:
        return inside + f"the floor of {plan.asked} bytes hides the rest, since the last slot ends at {plan.reached}"
    first, end = workspace + plan.asked, workspace + plan.reached
    hit = [name for name, (address, size) in owners.items() if address < end and first < address + size]
    owner = " and ".join(hit) or "whatever lies behind the workspace"
    return inside + f"the last {over} bytes of it lie past the {plan.asked} asked for and overwrite {owner}"


def _first_overlap(plan: StagePlan) -> str:
    start = plan.states + plan.host_bytes
    over = min(plan.device_bytes - plan.host_bytes, plan.host_bytes)
    return f"block 0 overwrites {over} bytes that the host planned for block 1 (workspace offset {start})"


def struct_breaks(
    host: Sequence[tuple[str, int, int]], device: Sequence[tuple[str, int, int]]
) -> Iterator[LaunchProblem]:
    """C3: where the two copies of the tiling struct differ; each is (name, offset, bytes) in memory order."""
    for ours, theirs in zip(host, device, strict=False):
        if ours != theirs:
            what = (
                f"contract C3 is broken at byte {ours[1]}: the host has {ours[0]} ({ours[2]} bytes), the device reads "
                f"{theirs[0]} at {theirs[1]} ({theirs[2]} bytes)"
            )
            yield LaunchProblem("cgdr.struct", what, "keep one definition of the struct, or compare size and offsets")
            return
    if len(host) != len(device):
        what = f"contract C3 is broken: the host has {len(host)} fields, the device {len(device)}"
        yield LaunchProblem("cgdr.struct", what, "keep one definition of the struct, or compare size and offsets")


def queue_images(geometry: Geometry) -> tuple[tuple[str, int], ...]:
    """The float16 images that borrow the out queue on the Cube path: step and bytes."""
    side, square = CHUNK_SIZE * geometry.width, geometry.width * geometry.width
    return tuple(
        (step, elements * FP16_BYTES)
        for step, elements in (
            ("keys", side), ("queries", side), ("W", max(side, CHUNK_SIZE**2)), ("V'", max(side, square)),
            ("out", max(side, square)), ("state update", side),
        )
    )  # fmt: skip


def queue_break(geometry: Geometry, queue_bytes: int) -> LaunchProblem | None:
    """C4: the first image on the Cube path that does not fit the out queue of `queue_bytes`."""
    for step, size in queue_images(geometry):
        if size > queue_bytes:
            what = (
                f"contract C4 is broken: the {step} step stages {size} bytes in the out queue of {queue_bytes} "
                f"(width {geometry.width})"
            )
            return LaunchProblem("cgdr.queue", what, "size the queue by the widest image, or stage in pieces")
    return None


def cores_note(cores: int) -> str | None:
    """C5: what a platform that reports no cores does; None when it reports some."""
    return None if cores else "C5: the platform reports 0 cores, so every launch has one block: slow, not wrong"


def workspace_break(address: int, *, states: bool, slots: bool) -> LaunchProblem | None:
    """C6: a workspace of address 0 that something would use."""
    if address or not (states or slots):
        return None
    users = " and ".join(name for name, used in (("float32 states", states), ("staging slots", slots)) if used)
    what = f"contract C6 is broken: the workspace argument is 0, and the kernel keeps {users} there"
    return LaunchProblem("cgdr.workspace", what, "let the tiling set its workspace size, and pass the address")


def counter_break(tokens: int, hv: int, tiles: int) -> LaunchProblem | None:
    """C7: work that the device's 32-bit counter of the owner rule cannot count."""
    work = tokens * hv * tiles
    if work < U32_VALUES:
        return None
    what = (
        f"contract C7 is broken: {tokens} tokens * {hv} heads * {tiles} V tiles = {work} do not fit 32 bits; "
        f"the device would share {work % U32_VALUES} among its blocks and leave items without an owner"
    )
    return LaunchProblem("cgdr.counter", what, "split the batch; repair: count in 64 bits")


def launch_breaks(
    launch: KernelLaunch, data: CgdrTilingData, sequences: Sequence[LiveSequence]
) -> Iterator[LaunchProblem]:
    """C1, C4, C6, C7 and defect D6 for one launch whose tiling data passed `launch_problem`."""
    policies = launch.policies
    geometry = Geometry.of(data, launch.tiling_key)
    steps = full_chunk_steps(geometry, policies["cgdr.fallback_inverse"])
    staged = any(steps) and any(s.length >= CHUNK_SIZE for s in sequences)
    workspace = launch.arg(ARG_WORKSPACE)
    found = [
        workspace_break(workspace, states=any(s.length > CHUNK_SIZE for s in sequences), slots=staged),
        counter_break(sum(s.length for s in sequences), data.hv, tiles_per_head(data.dv, data.v_step)),
    ]
    if staged:
        found.append(stage_break(_stage_plan(launch, data, geometry), _owners(launch, data), workspace))
    if steps.fast:
        found.append(queue_break(geometry, out_queue_bytes(data.v_step, geometry.align_k)))
    if "D6" in defects_of(policies["cgdr.defects"]) and data.batch:
        found.append(_state_shape_break(launch, data))
    return (problem for problem in found if problem is not None)


def _stage_plan(launch: KernelLaunch, data: CgdrTilingData, geometry: Geometry) -> StagePlan:
    policies = launch.policies
    states = data.batch * data.hv * data.dk * geometry.state_stride * FP32_BYTES
    return StagePlan(
        *matmul_of(policies["cgdr.host_matmul"]), int(policies["cgdr.stage_slots"]), states, launch.block_dim
    )


def _owners(launch: KernelLaunch, data: CgdrTilingData) -> dict[str, tuple[int, int]]:
    """Address and bytes of the tensors of the launch."""
    token = data.t * FP16_BYTES
    keys, values = token * data.hqk * data.dk, token * data.hv * data.dv
    state = data.batch * data.hv * data.dv * data.dk * FP16_BYTES
    sizes = (keys, keys, values, token * data.hv, state, data.batch * FP32_BYTES, 2 * token * data.hv, values, state)
    return {name: (launch.arg(i), size) for i, (name, size) in enumerate(zip(_ARGUMENTS, sizes, strict=True))}


_ARGUMENTS = (
    "query", "key", "value", "beta", "initial_state", "actual_seq_lengths", "g", "out", "final_state",
)  # fmt: skip
assert _ARGUMENTS[ARG_OUT] == "out"
assert _ARGUMENTS[ARG_FINAL_STATE] == "final_state"


def _state_shape_break(launch: KernelLaunch, data: CgdrTilingData) -> LaunchProblem:
    """Defect D6: shape inference reads input 5, so that final_state has one element per sequence."""
    slice_bytes = data.hv * data.dv * data.dk * FP16_BYTES
    given = data.batch * FP16_BYTES
    what = (
        f"defect D6: shape inference gives final_state the shape of actual_seq_lengths, {given} bytes at "
        f"{launch.arg(ARG_FINAL_STATE):#x}; the first sequence writes {slice_bytes}"
    )
    return LaunchProblem("cgdr.state-shape", what, "infer the shape of final_state from input 4, initial_state")
