"""Tiling on the host: the same function and the same binary context as on the device, in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engine_guard import at_line
from emu_core.errors import PluginError, SqemuError
from emu_core.tiling import TilingError
from emu_plugins.tiling.build import build_sink_buffer, platform_block, tensor_object
from emu_plugins.tiling.context import MemoryTilingContext
from emu_plugins.tiling.instances import slots_of
from emu_plugins.tiling.request import TilingResult

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.kernels import PolicyLookup
    from emu_core.operators import OperatorSpec
    from emu_plugins.tiling.request import TilingRequest

BASE = 0x10000
STRIDE = 128


class HostMemory:
    """A flat piece of host memory that starts at `BASE`; grows as parts are placed."""

    def __init__(self) -> None:
        self._raw = bytearray()

    def place(self, data: bytes) -> int:
        """Copy `data` in, aligned to 128; returns its address."""
        at = -(-len(self._raw) // STRIDE) * STRIDE
        self._raw.extend(bytes(at - len(self._raw)))
        self._raw.extend(data)
        return BASE + at

    def next_address(self) -> int:
        """Where the next part will be placed."""
        return BASE + -(-len(self._raw) // STRIDE) * STRIDE

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""
        at = address - BASE
        return bytes(self._raw[at : at + size])

    def write(self, address: int, data: bytes) -> None:
        """Write `data`."""
        at = address - BASE
        self._raw[at : at + len(data)] = data

    def u64(self, address: int) -> int:
        """Little-endian 64-bit word."""
        return int.from_bytes(self.read(address, 8), "little")

    def c_string(self, address: int, limit: int = 4096) -> str:
        """Zero-terminated text."""
        return self.read(address, limit).split(b"\0")[0].decode()


def tile_on_host(
    spec: OperatorSpec, request: TilingRequest, chip: Chip, policies: PolicyLookup | None = None
) -> TilingResult:
    """Run the tiling function of `spec` on the host; `policies` are those of the device, None at compile time.

    Inputs in `spec.depends` carry their value if `request.data` has it; otherwise their data pointer is null, as at
    compile time.

    Raises:
        TilingError: the function cannot tile this request.
    """
    memory = HostMemory()
    platform = memory.place(platform_block(chip))
    depended = {}
    unknown = any(index not in request.data for index in slots_of(spec.depends, request.counts))
    for index in slots_of(spec.depends, request.counts):
        info = request.inputs[index]
        if info is not None:
            data = request.data.get(index, b"")
            address = memory.place(data) if index in request.data else 0
            depended[index] = memory.place(tensor_object(info, address, len(data)))
    base = memory.next_address()
    buffer = build_sink_buffer(request, base, platform=platform, depended=depended)
    memory.place(buffer.image)
    context = MemoryTilingContext(memory, buffer.addresses.tiling_context, memory.write, policies)
    try:
        spec.tiling(context)
    except (TilingError, SqemuError):
        raise
    except Exception as error:
        raise PluginError(
            f"the tiling function of {spec.type} raised {type(error).__name__}: {error}{at_line(error)}",
            id="plugin.tiling-raised",
            where=f"operator {request.op_name}",
            remedy=_remedy(error, unknown=unknown),
        ) from error
    return TilingResult(
        tiling_key=context.key or 0,
        block_dim=context.block_dim or 0,
        workspaces=context.workspaces or (),
        data=context.data or b"",
        schedule_mode=context.schedule_mode or 0,
    )


def _remedy(error: Exception, *, unknown: bool) -> str:
    """What to do about `error`; `unknown`: the value of an input that the function may ask for is not at hand."""
    if unknown and isinstance(error, (AttributeError, TypeError)) and "NoneType" in str(error):
        return "values are not known at compile time (input_data gives None): tile without them, or raise TilingError"
    return "report this to the author of the plugin"
