"""MixProbe: as TilingProbe, with a kernel for cube and vector cores whose tiling key decides how many of each it takes.

| key | n mod 5 | cores of a block | `mix_type` |
|---|---|---|---|
| 0 | 0 | a cube core and two vector cores | 3 |
| 1 | 1 | a cube core and one vector core | 3 |
| 2 | 2 | a vector core alone | 2 |
| 3 | 3 | a vector core and one cube core | 4 |
| 4 | 4 | a cube core alone | 1 |

Block dim is min(max(n, 1), cube cores); at compile time, without n, key 0 on all cube cores. Block b of a launch fills
its slice of y with `100 * key + b`. With two vector cores in a block, the second one takes the upper half of the slice,
rounded down, and adds 0.5: y tells key, block and vector core of every element. Attribute `add_x` adds x.

On fused cores (310P) no block has further cores, so nothing adds 0.5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core import CoreType, DeviceFault, KernelSpec, Mix, MixType, TilingError
from emu_plugins.kernels import tiling_probe as probe
from emu_plugins.kernels.depended import blocks_for, ceil_slices, depended_int32, element_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core import Chip, KernelLaunch, TilingContext
    from emu_core.operators import Arrays, AttrValue

OP_TYPE = "MixProbe"
KEYS = (0, 1, 2, 3, 4)
SECOND_CORE = 0.5
MIXES = (
    (0, Mix(MixType.AIC_MAIN, 2)),
    (1, Mix(MixType.AIC_MAIN, 1)),
    (2, Mix(MixType.AIV_ONLY, 0)),
    (3, Mix(MixType.AIV_MAIN, 1)),
    (4, Mix(MixType.AIC_ONLY, 0)),
)


def mix_tiling(context: TilingContext) -> None:
    """Tile: reads the shape of x and, when it is at hand, the value of n.

    Raises:
        TilingError: no platform, or x has no usable shape.
    """
    platform = context.platform
    if platform is None:
        raise TilingError("the tiling context has no platform information")
    n, cores, count = (
        depended_int32(context, probe.INPUT_N),
        max(platform.core_num_aic, 1),
        element_count(context, probe.INPUT_X),
    )
    block_dim = cores if n is None else blocks_for(n, cores)
    context.set_tiling_key(0 if n is None else n % len(KEYS))
    context.set_block_dim(block_dim)
    context.set_workspaces((probe.WORKSPACE_BYTES,))
    data = probe.ProbeTilingData(count, block_dim, n or 0, int(n is not None), int(probe.add_x_of(context)))
    context.write_tiling_data(data.pack())


def run_mix(launch: KernelLaunch) -> None:
    """Fill y; see the module. Raises `DeviceFault` for a launch without blocks or an unknown key."""
    data = probe.tiling_data_of(launch)
    if launch.block_dim < 1 or launch.tiling_key not in KEYS or data.elements * 4 > launch.chip.memory_bytes:
        raise DeviceFault(
            f"MixProbe cannot run with block dim {launch.block_dim}, tiling key {launch.tiling_key} and "
            f"{data.elements} elements",
            ts_code=probe.AI_CORE_EXCEPTION,
            id="probe.launch",
            remedy="launch with 1 or more blocks, a key from 0 to 4 and the tiling data of this tensor",
        )
    for start, end, value in slices(data.elements, launch.tiling_key, launch.block_dim, launch.ratio):
        probe.fill_slice(launch, data, start, end - start, value)


def slices(count: int, key: int, block_dim: int, ratio: int) -> Iterator[tuple[int, int, float]]:
    """(start, end, value) of each part of y that is not empty, for blocks with `ratio` secondary cores."""
    for block, (start, end) in enumerate(ceil_slices(count, block_dim)):
        middle = end - (end - start) // 2 if ratio > 1 else end
        value = float(probe.KEY_WEIGHT * key + block)
        parts = ((start, middle, value), (middle, end, value + SECOND_CORE))
        yield from ((a, b, v) for a, b, v in parts if a < b)


def mix_reference(arrays: Arrays, attrs: Mapping[str, AttrValue], chip: Chip) -> dict[str, npt.NDArray[np.float32]]:
    """Expected y on `chip`."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    n = int(arrays["n"].reshape(-1)[0])
    key = n % len(KEYS)
    ratio = 0 if chip.fused_cores else dict(MIXES)[key].secondary
    y = np.zeros(arrays["x"].shape, np.float32)
    for start, end, value in slices(y.size, key, blocks_for(n, max(chip.core_num_aic, 1)), ratio):
        y[start:end] = value
    return {"y": y + arrays["x"].astype(np.float32) if attrs.get("add_x") else y}


KERNEL = KernelSpec(OP_TYPE, CoreType.MIX, KEYS, run_mix, probe.probe_cost, mix=MIXES[0][1], mix_of=MIXES)

OPERATOR = replace(
    probe.OPERATOR, type=OP_TYPE, tiling=mix_tiling, kernel=OP_TYPE, alias="mix", reference=mix_reference
)
