"""Requests, and contexts built over host memory."""

from __future__ import annotations

import pytest

from emu_core.operators import TensorInfo
from emu_core.plugins import PluginHost
from emu_plugins.tiling.build import build_sink_buffer, platform_block, tensor_object
from emu_plugins.tiling.context import MemoryTilingContext
from emu_plugins.tiling.host import HostMemory
from emu_plugins.tiling.request import TilingRequest


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    return PluginHost()


class _Placed:
    """A built buffer in host memory with a context over it; `poked` lists what went through the latch."""

    def __init__(self, request, chip, *, depended=(), order="seed", platform=True, **flags):
        self.memory = HostMemory()
        at = self.memory.place(platform_block(chip)) if platform else 0
        self.objects = {}
        for index in depended:
            data = request.data.get(index, b"")
            address = self.memory.place(data) if index in request.data else 0
            self.objects[index] = self.memory.place(tensor_object(request.inputs[index], address, len(data)))
        base = self.memory.next_address()
        self.buffer = build_sink_buffer(request, base, platform=at, depended=self.objects, order=order, **flags)
        self.base = self.memory.place(self.buffer.image)
        self.poked = []
        self.context = MemoryTilingContext(self.memory, self.buffer.addresses.tiling_context, self.poke)

    def poke(self, address, data):
        self.poked.append(address)
        self.memory.write(address, data)

    def image(self):
        return self.memory.read(self.base, len(self.buffer.image))


@pytest.fixture
def place(host):
    """Makes a `_Placed` for a 910B3."""

    def make(request, **changes):
        return _Placed(request, host.chip("ascend910b3"), **changes)

    return make


@pytest.fixture
def request_of():
    """A request with three inputs (the second absent), one output, and changes."""

    def make(**changes):
        values = {
            "op_type": "Probe",
            "op_name": "layer/0",
            "inputs": (TensorInfo("float16", (4, 8)), None, TensorInfo("int32", (2,))),
            "outputs": (TensorInfo("bfloat16", (3, 1, 2)),),
        }
        return TilingRequest(**{**values, **changes})

    return make
