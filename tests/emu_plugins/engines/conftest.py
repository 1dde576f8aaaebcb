"""A device whose queues are written by hand."""

from __future__ import annotations

import pytest

from emu_core.device import Device
from emu_core.plugins import PluginHost
from emu_core.trace import TaskDone
from emu_plugins.runtime.sqes import Place, SqeBuilder


class _Queues:
    """A device, an entry builder, and what its streams did."""

    def __init__(self, host, policies, chip="ascend910b3"):
        self.device = Device(chip, policies, host)
        self.build = SqeBuilder(host.registry, "v100")

    def stream(self, *, bound=False, name="s"):
        return self.device.create_stream(name, bound=bound)

    def add(self, stream, kind, *args, **values):
        """Append the entry that `SqeBuilder.kind` makes; returns its slot."""
        place = Place(stream.id, stream.queue.next_task_id())
        return stream.queue.append(getattr(self.build, kind)(place, *args, **values))

    def raw(self, stream, struct, **fields):
        """Append an entry of `struct` with these fields."""
        header = {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}
        return stream.queue.append(self.device.layout(struct).build({**header, **fields}))

    def run(self, *streams):
        for stream in streams:
            if stream.queue.bound:
                self.device.scheduler.activate(stream)
            else:
                self.device.scheduler.ring_doorbell(stream)
        self.device.scheduler.run_until_idle()

    def room(self, size, label="room"):
        return self.device.memory.allocate(size, label=label).address

    @property
    def faults(self):
        return self.device.scheduler.faults

    def done(self):
        """(stream, slot, kind, end) of every entry that completed."""
        return [(e.stream, e.slot, e.kind, e.time) for e in self.device.trace if isinstance(e, TaskDone)]


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture
def queues(host):
    """Makes a `_Queues`: `queues(**policies)`; `plugins=` adds some, `chip=` takes another chip."""

    def make(*, plugins=(), chip="ascend910b3", **policies):
        return _Queues(PluginHost(plugins) if plugins else host, policies, chip)

    return make
