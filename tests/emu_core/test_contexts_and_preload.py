"""Contexts: protected records that entries point at, how they change, and what is fetched together with an entry."""

from __future__ import annotations

import pytest

from emu_core.cores import units_of
from emu_core.device import Device
from emu_core.errors import DeviceFault
from emu_core.journal import Writer
from emu_core.kernels import CoreType, Cost, KernelSpec, Mix, MixType
from emu_core.memory import Space
from emu_core.plugins import PluginHost
from emu_core.prefetch import PrefetchWindow
from emu_core.trace import ContextPatched, Trace

WRITER = Writer(7, 8, "task_update")


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture
def device(host):
    """A 910B3."""
    return Device("ascend910b3", {}, host)


@pytest.fixture
def layout(device):
    """Layout of a mix context."""
    return device.layout("FftsPlusMixAicAivCtx")


def _placed(device, layout, stream=None, **fields):
    """A context in slot 3 of a new stream; returns stream and address."""
    stream = stream or device.create_stream("s", bound=False)
    address = device.contexts.room(128, "a context", stream.id, 3)
    device.contexts.place(address, layout, layout.build({"context_type": 6, **fields}), stream.id, 3)
    return stream, address


def test_a_context_lies_aligned_in_scheduler_memory_and_only_patches_reach_it(device, layout):
    """128 bytes aligned in the TS space; writes of tasks are faults, placing it leaves no journal entry."""
    _, address = _placed(device, layout)
    assert address % 128 == 0
    assert device.memory.find(address).space is Space.TS
    with pytest.raises(DeviceFault, match="hits a context") as caught:
        device.memory.write(address + 100, b"12")
    assert caught.value.id == "memory.protected"
    assert len(device.journal) == 0


def test_a_patch_changes_fields_and_says_who_did_it(device, layout):
    """One journal entry and one event per field, with the entry that points at the context."""
    stream, address = _placed(device, layout, tail_block_dim=0xFFFF)
    device.contexts.patch(
        address, {"tail_block_dim": 9, "tail_block_ratio_n": 2}, layout, WRITER, tiling_key=5, table_row=1
    )
    now = layout.parse(device.memory.read(address, 128))
    assert (now["tail_block_dim"], now["tail_block_ratio_n"], now["context_type"]) == (9, 2, 6)
    first, second = device.journal
    assert (first.target, first.struct, first.field) == ("context", "FftsPlusMixAicAivCtx", "tail_block_dim")
    assert (first.stream, first.slot, first.address) == (stream.id, 3, address)
    assert (first.bit_offset, first.bit_width, first.before, first.after) == (78 * 8, 16, 0xFFFF, 9)
    assert (first.writer, first.tiling_key, first.table_row) == (WRITER, 5, 1)
    assert (second.field, second.before, second.after) == ("tail_block_ratio_n", 0, 2)
    events = [e for e in device.trace if isinstance(e, ContextPatched)]
    assert [(e.field, e.before, e.after, e.engine, e.writer_stream) for e in events] == [
        ("tail_block_dim", 0xFFFF, 9, "task_update", 7),
        ("tail_block_ratio_n", 0, 2, "task_update", 7),
    ]


def test_a_context_nobody_placed_is_patched_without_an_owner(host, layout):
    """A patch of any aligned memory is journalled with stream, slot and task -1; events may be off."""
    device = Device("ascend910b3", {}, host, trace=Trace(()))
    address = device.memory.allocate(128, label="other", space=Space.TS).address
    device.contexts.patch(address, {"thread_dim": 1}, layout)
    (entry,) = device.journal
    assert (entry.stream, entry.slot, entry.task, entry.writer.engine) == (-1, -1, -1, "host")
    assert len(device.trace) == 0
    assert device.contexts.at(address) is None


def test_restoring_gives_back_what_was_placed(device, layout):
    """Only streams that are named, only fields that differ, and once."""
    one, first = _placed(device, layout, tail_block_dim=1)
    _, second = _placed(device, layout, tail_block_dim=2)
    for address in (first, second):
        device.contexts.patch(address, {"tail_block_dim": 9}, layout, WRITER)
    mark = len(device.journal)
    device.contexts.restore([one.id])
    device.contexts.restore([one.id])
    (entry,) = device.journal.since(mark)
    assert (entry.field, entry.before, entry.after, entry.writer.engine) == ("tail_block_dim", 9, 1, "host")
    read = layout.field("tail_block_dim").read
    assert [read(device.memory.read(a, 128)) for a in (first, second)] == [1, 9]


def test_a_slot_uses_its_room_again_unless_it_was_freed(device):
    """Rings wrap; a load that failed has given its memory back."""
    found = device.contexts.room(128, "c", 4, 2)
    assert device.contexts.room(128, "c", 4, 2) == found
    assert device.contexts.room(128, "c", 4, 3) != found
    device.memory.free(found)
    assert device.contexts.room(128, "c", 4, 2) != found


def test_a_fetch_buffer_knows_its_slots_and_what_it_fetched(device):
    """Head at slot 1, depth 2, five entries published: slots 1 to 3, in the bytes they had when they were fetched."""
    queue = device.create_stream("s", bound=False).queue
    for i in range(5):
        queue.append(bytes([3]) * 63 + bytes([i]))
    queue.head, queue.enabled = 1, True
    window = PrefetchWindow(queue, 2)
    assert list(window.slots()) == [1, 2, 3]
    window.before_write(2)
    device.memory.poke(queue.address(2), bytes(64))
    assert (window.fetched(2)[63], window.fetched(3)[63]) == (2, 3)
    window.preloads[2] = b"old"
    window.clear()
    assert window.preloads == {}
    queue.enabled = False
    assert list(window.slots()) == []


class TestPreload:
    """An FFTS+ entry at slot 2 of a stream that stands at slot 0, with policy `with_sqe`."""

    @staticmethod
    def made(host, layout, **policies):
        """Device, stream and address; three NOPs, then the entry; nothing is published yet."""
        device = Device("ascend910b3", {"context_preload": "with_sqe", **policies}, host)
        stream = device.create_stream("s", bound=False)
        _, address = _placed(device, layout, stream)
        queue = stream.queue
        for _ in range(3):
            queue.append(device.layout("PhSqe").build({"type": 3, "task_type": 103}))
        sqe = {"type": 0, "ffts_type": 4, "total_context_num": 1, "preload_context_num": 1}
        queue.append(device.layout("FftsPlusSqe").build({**sqe, "context_address_base": address}))
        return device, stream, address

    def test_what_was_fetched_is_kept_once(self, host, layout):
        """The first change after the fetch saves the context; later ones do not."""
        device, stream, address = self.made(host, layout)
        stream.queue.enabled = True
        before = device.memory.read(address, 128)
        device.contexts.patch(address, {"tail_block_dim": 1}, layout)
        device.contexts.patch(address, {"tail_block_dim": 2}, layout)
        assert stream.window.preloads == {3: before}

    def test_nothing_is_kept_before_the_fetch(self, host, layout):
        """Not published, or further ahead than the prefetch depth."""
        device, stream, address = self.made(host, layout)
        device.contexts.patch(address, {"tail_block_dim": 1}, layout)
        assert stream.window.preloads == {}
        near, stream, address = self.made(host, layout, prefetch_depth="2")
        stream.queue.enabled = True
        near.contexts.patch(address, {"tail_block_dim": 1}, layout)
        assert stream.window.preloads == {}

    def test_other_memory_is_not_of_interest(self, host, layout):
        """A change of another context keeps nothing of this one."""
        device, stream, _ = self.made(host, layout)
        stream.queue.enabled = True
        other = device.contexts.allocate(128, "other")
        device.contexts.patch(other, {"tail_block_dim": 1}, layout)
        assert stream.window.preloads == {}

    def test_an_entry_that_leads_nowhere_keeps_nothing(self, host, layout):
        """Its context was freed: that shows when it starts."""
        device, stream, address = self.made(host, layout)
        stream.queue.enabled = True
        device.memory.free(address)
        wide = device.layout("FftsPlusSqe").field("preload_context_num")
        raw = bytearray(stream.queue.entry(3))
        wide.patch(raw, 0, 100)
        device.memory.poke(stream.queue.address(3), bytes(raw))
        other = device.contexts.allocate(128, "other")
        device.contexts.patch(other, {"tail_block_dim": 1}, layout)
        assert stream.window.preloads == {}


SEPARATE = [
    (Mix(MixType.AIC_ONLY, 5), {"cube core": 1}),
    (Mix(MixType.AIV_ONLY, 5), {"vector core": 1}),
    (Mix(), {"cube core": 1, "vector core": 2}),
    (Mix(MixType.AIC_MAIN, 1), {"cube core": 1, "vector core": 1}),
    (Mix(MixType.AIV_MAIN, 1), {"vector core": 1, "cube core": 1}),
    (Mix(MixType.AIV_MAIN, 0), {"vector core": 1}),
]


@pytest.mark.parametrize(("mix", "units"), SEPARATE)
def test_cores_of_a_mix_block(host, mix, units):
    """A main core and the secondary ones; a fused core is both at once."""
    separate = host.chip("ascend910b3")
    assert units_of(CoreType.MIX, separate, mix) == units
    assert units_of(CoreType.MIX, host.chip("ascend310p3"), mix) == {"AI Core": 1}


def test_how_the_entries_of_a_kernel_mix():
    """`mix` holds for every key that `mix_of` does not name; kernels of other core types do not mix."""
    mix = KernelSpec("K", CoreType.MIX, (1, 2), print, lambda _: Cost(), mix_of=((2, Mix(MixType.AIV_MAIN, 1)),))
    assert (mix.mix_at(1), mix.mix_at(2)) == (Mix(MixType.AIC_MAIN, 2), Mix(MixType.AIV_MAIN, 1))
    assert KernelSpec("K", CoreType.AIC, (1,), print, lambda _: Cost()).mix_at(1) is None


@pytest.mark.parametrize(
    ("kind", "main", "both"),
    [(1, "AIC", False), (2, "AIV", False), (3, "AIC", True), (4, "AIV", True)],
)
def test_the_numbers_of_mix_types_are_those_of_the_tiling_table(kind, main, both):
    """1 and 2 have one kind of cores, 3 and 4 both; 2 and 4 are led by vector cores."""
    found = MixType(kind)
    assert (found.main.name, found.both, Mix(found, 3).secondary) == (main, both, 3 * both)
