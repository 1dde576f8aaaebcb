"""Many entries at once have the bytes of single ones, and a loaded model does not show which way its entries took."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.kernels import CoreType
from emu_plugins.runtime import deferred
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.emission import KERNEL, NOP, RECORD, WAIT, Emitter, TaskColumns
from emu_plugins.runtime.sqes import Place

STACK = 0x12C0_4000_0000
TASKS = st.lists(
    st.tuples(
        st.sampled_from([KERNEL, RECORD, WAIT, NOP]), st.integers(0, 5), st.integers(0, 65535),
        st.integers(0, (1 << 48) - 1), st.integers(0, (1 << 48) - 1), st.integers(0, (1 << 32) - 1), st.integers(0, 2),
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=60)
@given(tasks=TASKS, resets=st.booleans(), first=st.integers(0, 1 << 17))
def test_the_same_bytes_as_single_entries(host, tasks, resets, first):
    """Entries of each stream in list order, task ids counted, a reset behind each wait."""
    build = builder_for(host.registry, "v100")
    emitter = Emitter(build, host.registry, "v100", stack=STACK, resets=resets)
    columns = TaskColumns(*np.array(tasks, np.int64).reshape(-1, 7).T)
    rings = emitter.emit(columns, 6, first)
    wanted = {stream: [] for stream in range(6)}
    for kind, stream, event, pc, args, block_dim, core in tasks:
        line = wanted[stream]

        def place(line=line, stream=stream):
            return Place(stream, (first + len(line)) & 0xFFFF)

        if kind == KERNEL:
            line.append(build.kernel(place(), core_type=CoreType(core), block_dim=block_dim, schem=0, pc=pc, args=args,
                                     stack=STACK))  # fmt: skip
        elif kind == WAIT:
            line.append(build.event_wait(place(), event))
            if resets:
                line.append(build.event_reset(place(), event))
        else:
            line.append(build.event_record(place(), event) if kind == RECORD else build.nop(place()))
    assert {stream: rings.of(stream).tobytes() for stream in wanted} == {s: b"".join(x) for s, x in wanted.items()}


def _loaded(host, blob, monkeypatch, few, **policies):
    monkeypatch.setattr(deferred, "FEW", few)
    device = Device(blob.chip, policies, host)
    model = device.load(blob)
    origins = [[dict(s.queue.origin_at), dict(s.queue.task_at)] for s in device.streams.values()]
    return model.rings(), origins, {a.label: a.address for a in device.memory.allocations()}


@pytest.mark.parametrize("reset", ["on", "off"])
@pytest.mark.parametrize("chip", ["ascend910b3", "ascend310p3"])
def test_the_way_does_not_show(lab, host, probe_graph, monkeypatch, chip, reset):
    """Rings, task ids, origins and addresses are equal by columns, by single entries, and by calls of the host API."""
    blob = lab(chip, graph=probe_graph(nodes=4)).blob
    found = [_loaded(host, blob, monkeypatch, few, wait_reset=reset) for few in (1, 1000)]
    monkeypatch.setattr(deferred, "FAMILY", "none")
    found.append(_loaded(host, blob, monkeypatch, 1, wait_reset=reset))
    assert found[0] == found[1] == found[2]
