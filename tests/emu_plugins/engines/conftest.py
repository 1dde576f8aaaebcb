"""A device whose queues are written by hand."""

from __future__ import annotations

import pytest

from emu_core.device import Device
from emu_core.errors import DeviceFault
from emu_core.hookspecs import hookimpl
from emu_core.kernels import CoreType, Cost, KernelSpec, Mix, MixType
from emu_core.memory import Space
from emu_core.plugins import PluginHost
from emu_core.trace import TaskDone
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.images import load_kernel, write_tiling_table
from emu_plugins.runtime.kernel_entries import LaunchValues, kernel_entry
from emu_plugins.runtime.sqes import Place
from formats.blob import BlobKernel

CONTEXTS = {
    0: "FftsPlusAicAivCtx",
    1: "FftsPlusAicAivCtx",
    6: "FftsPlusMixAicAivCtx",
    7: "FftsPlusMixAicAivCtx",
}


class _Queues:
    """A device, an entry builder, and what its streams did."""

    def __init__(self, host, policies, chip="ascend910b3"):
        self.device = Device(chip, policies, host)
        self.build = builder_for(host.registry, self.device.chip.family)

    def stream(self, *, bound=False, name="s"):
        return self.device.create_stream(name, bound=bound)

    def add(self, stream, kind, *args, **values):
        """Append the entry that `SqeBuilder.kind` makes; returns its slot."""
        place = Place(stream.id, stream.queue.next_task_id())
        return stream.queue.append(getattr(self.build, kind)(place, *args, **values))

    def raw(self, stream, struct, **fields):
        """Append an entry of `struct` with these fields."""
        layout = self.device.layout(struct)
        header = {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}
        known = {name: value for name, value in header.items() if name in layout.by_name}
        return stream.queue.append(layout.build({**known, **fields}))

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


class _MixLab:
    """Plugin: a mix kernel whose keys use the cores in every way there is, a vector kernel and a cube kernel."""

    MIXES = (
        (1, Mix(MixType.AIC_ONLY, 0)),
        (2, Mix(MixType.AIV_ONLY, 0)),
        (3, Mix(MixType.AIC_MAIN, 2)),
        (4, Mix(MixType.AIV_MAIN, 1)),
        (5, Mix(MixType.AIC_MAIN, 1)),
    )

    @staticmethod
    def told(launch):
        """Writes key, block dim, ratio, and how many launches there were, to the address in argument 0."""
        at = launch.arg(0)
        before = launch.memory.u32(at + 12)
        words = (launch.tiling_key, launch.block_dim, launch.ratio, before + 1)
        launch.memory.write(at, b"".join(word.to_bytes(4, "little") for word in words))

    @staticmethod
    def refuses(_launch):
        """A kernel that faults."""
        raise DeviceFault("no", ts_code=0, id="lab.no")

    @hookimpl
    def sqemu_kernels(self):
        """1.8 GHz x 8192 operations: each of them costs 1000 ns on one core in all."""
        cost = Cost(flops=1800 * 8192)
        return (
            KernelSpec("Mixed", CoreType.MIX, (1, 2, 3, 4, 5), self.told, lambda _: cost, mix_of=self.MIXES),
            KernelSpec("Cubes", CoreType.AIC, (1, 7), self.told, lambda _: cost),
            KernelSpec("Vectors", CoreType.AIV, (1,), self.told, lambda _: cost),
            KernelSpec("Refuses", CoreType.AIC, (1,), self.refuses, lambda _: cost),
            KernelSpec("Priceless", CoreType.AIC, (1,), self.told, self.refuses),
        )


class _MixBench:
    """Kernel images, tiling tables and cells on a device, a stream that runs kernels and one that updates them."""

    def __init__(self, queues):
        self.queues, self.device, self.build = queues, queues.device, queues.build
        self.main, self.attached = queues.stream(name="main"), queues.stream(name="attached")
        self.images = {
            name: load_kernel(self.device, BlobKernel(name, 0, keys))
            for name, keys in (
                ("Mixed", (1, 2, 3, 4, 5)),
                ("Cubes", (1, 7)),
                ("Vectors", (1,)),
                ("Refuses", (1,)),
                ("Priceless", (1,)),
            )
        }
        self.out = self.cell(bytes(16), space=Space.HBM)
        self.args = self.cell(self.out.to_bytes(8, "little"), space=Space.HBM)
        self.key, self.dim = self.cell(bytes(8)), self.cell(bytes(8))

    def cell(self, data, space=Space.TS):
        """The address of `data`, written to device memory."""
        found = self.device.memory.allocate(len(data), label="cell", space=space)
        self.device.memory.write(found.address, data)
        return found.address

    def launch(self, name="Mixed", key=3, block_dim=4, schem=0):
        """Append a launch to the main stream; returns its slot and the address of its context."""
        queue = self.main.queue
        place = Place(self.main.id, queue.next_task_id())
        values = LaunchValues(block_dim, schem, self.args, 0)
        entry = kernel_entry(self.device, self.build, place, self.images[name], key, values, where=name)
        return queue.append(entry.sqe), entry.context

    def update(self, key, block_dim, slot=0, context=None, name="Mixed", **fields):
        """Append an update of the entry in `slot` to the attached stream."""
        self.device.memory.poke(self.key, key.to_bytes(8, "little"))
        self.device.memory.poke(self.dim, block_dim.to_bytes(8, "little"))
        table, rows = write_tiling_table(self.device, self.images[name], "Mixed")
        at = self.device.memory.offset_of
        values = {
            "tiling_key_offset": at(self.key), "block_dim_offset": at(self.dim), "tiling_tab_offset": at(table),
            "tiling_tab_len": rows, "desc_buf_offset": (1 << 64) - 1 if context is None else at(context),
            "des_stream_id": self.main.id, "des_task_id": self.main.queue.task_at[slot],
        }  # fmt: skip
        header = {"type": 3, "task_type": 101, "pre_p": 1, "wr_cqe": 1}
        self.queues.raw(self.attached, "PhModelTaskUpdateSqe", **{**header, **values, **fields})

    def graph(self, contexts, ready=1, **fields):
        """Append an FFTS+ entry with the contexts (dicts) to the main stream; returns their address."""
        structs = [CONTEXTS.get(c.get("context_type", 0), "FftsPlusComCtx") for c in contexts]
        raw = b"".join(self.device.layout(s).build({"thread_dim": 1, **c} if s != "FftsPlusComCtx" else c)
                       for s, c in zip(structs, contexts, strict=True))  # fmt: skip
        address = self.device.contexts.allocate(len(raw), "contexts")
        self.device.memory.poke(address, raw)
        header = {
            "type": 0, "ffts_type": 4, "total_context_num": len(contexts), "ready_context_num": ready,
            "preload_context_num": 1, "context_address_base": address,
        }  # fmt: skip
        self.queues.raw(self.main, "FftsPlusSqe", **{**header, **fields})
        return address

    def told(self):
        """What the kernel wrote: key, block dim, ratio, launches."""
        raw = self.device.memory.read(self.out, 16)
        return tuple(int.from_bytes(raw[i : i + 4], "little") for i in range(0, 16, 4))

    def context(self, address):
        """The mix context at `address`, decoded."""
        layout = self.device.layout("FftsPlusMixAicAivCtx")
        raw = self.device.memory.read(address, 128)
        return {**layout.parse(raw), **{name: layout.field(name).read(raw) for name in layout.joined}}

    def sqe(self, slot=0):
        """The FFTS+ entry in `slot` of the main stream, decoded."""
        return self.device.layout("FftsPlusSqe").parse(self.main.queue.entry(slot))

    def run(self):
        """The attached stream until it is idle, then the main one."""
        self.queues.run(self.attached)
        self.queues.run(self.main)


@pytest.fixture
def mix_bench(queues):
    """Makes a `_MixBench`: `mix_bench(**policies)`; `chip=` takes another chip."""

    def make(*, chip="ascend910b3", **policies):
        return _MixBench(queues(plugins=[_MixLab()], chip=chip, **policies))

    return make
