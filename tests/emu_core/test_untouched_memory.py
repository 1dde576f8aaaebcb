"""What a device costs before anything is touched."""

from __future__ import annotations

import tracemalloc

from emu_core.device import Device


def test_an_untouched_64_gib_chip_costs_less_than_10_mib(host):
    """Rings, completion ring and tables are there, their pages are not."""
    Device("ascend910b3", plugins=host)
    tracemalloc.start()
    device = Device("ascend910b3", plugins=host)
    device.create_stream("s", bound=False)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert device.chip.memory_bytes == 64 << 30
    assert used < 10 << 20
