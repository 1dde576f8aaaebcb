"""A host program: two streams of a model, one kernel whose key and block dim are patched before each execution."""  # noqa: INP001 - run by path

from __future__ import annotations

import struct

from emu_core import Device
from emu_plugins.runtime import LaunchConfig, Runtime

ELEMENTS = 8


def main(chip: str = "ascend910b3") -> list[list[float]]:
    """Build the model by hand and execute it twice; returns y of each execution."""
    runtime = Runtime(Device(chip))
    y, workspace, tiling = (runtime.malloc(4096) for _ in range(3))
    key, block_dim = runtime.malloc(8, ts=True), runtime.malloc(4, ts=True)
    runtime.memcpy_to_device(tiling, struct.pack("<IIiHH", ELEMENTS, 1, 0, 1, 0))
    program = runtime.register_program("TilingProbe")

    model = runtime.create_model("by hand")
    work, side, caller = (runtime.create_stream(name=name) for name in ("work", "side", "caller"))
    runtime.bind_stream(model, work)
    runtime.bind_stream(model, side)

    patched = runtime.create_event()
    runtime.wait_event(work, patched)
    runtime.reset_event(patched, work)
    args = runtime.arguments([0, 0, y, workspace, tiling])
    runtime.launch_kernel(runtime.get_function(program), 1, work, args, LaunchConfig(block_task_prefetch=1))
    kernel = runtime.last_task_id()
    runtime.end_graph(model, work)
    cells = {"tiling_key_addr": key, "block_dim_addr": block_dim, "hdl": program, "ffts_plus_task_info": None}
    runtime.model_task_update(work, kernel, side, cells)
    runtime.record_event(patched, side)
    runtime.load_complete(model)

    results = []
    for wanted_key, blocks in ((2, 4), (1, 2)):
        runtime.memcpy_to_device(key, wanted_key.to_bytes(8, "little"))
        runtime.memcpy_to_device(block_dim, blocks.to_bytes(4, "little"))
        runtime.execute_model(model, caller)
        runtime.synchronize_stream(caller)
        results.append(list(struct.unpack(f"<{ELEMENTS}f", runtime.memcpy_to_host(y, 4 * ELEMENTS))))
    return results


if __name__ == "__main__":
    for row in main():
        print(row)  # noqa: T201 - the result of a program
