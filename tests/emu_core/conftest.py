"""Installed plugins once per session, a chip of round numbers, and streams that tests fill entry by entry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.device import Device
from emu_core.plugins import PluginHost
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.runtime.sqes import Place, SqeBuilder


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    found = PluginHost()
    assert not [p for p in found.plugins if p.broken]
    return found


@pytest.fixture
def chip():
    """A 310P3 with short rings."""
    return replace(ASCEND310P3, sq_depth=16, usable_tasks=12, max_streams=4, max_events=3, max_notifies=2, cq_depth=8)


class _Queues:
    """A device whose queues are written by hand."""

    def __init__(self, chip, policies, host):
        self.device = Device(chip, policies, host, record_rings=True)
        self.build = SqeBuilder(host.registry, self.device.chip.family)

    def stream(self, *, bound=False, name="s"):
        return self.device.create_stream(name, bound=bound)

    def add(self, stream, kind, *args, **values):
        """Append the entry that `SqeBuilder.kind` makes; returns its slot."""
        place = Place(stream.id, stream.queue.next_task_id())
        return stream.queue.append(getattr(self.build, kind)(place, *args, **values))

    def run(self, *streams):
        """Ring the doorbells (model streams start at entry 0) and run until nothing is queued."""
        for stream in streams:
            if stream.queue.bound:
                self.device.scheduler.activate(stream)
            else:
                self.device.scheduler.ring_doorbell(stream)
        self.device.scheduler.run_until_idle()

    @property
    def faults(self):
        return self.device.scheduler.faults

    def events(self, kind):
        return [e for e in self.device.trace if isinstance(e, kind)]


@pytest.fixture
def queues(host, chip):
    """Makes a `_Queues`: `queues(**policies)`, with another chip as `chip=`."""

    def make(*, chip=chip, **policies):
        return _Queues(chip, policies, host)

    return make
