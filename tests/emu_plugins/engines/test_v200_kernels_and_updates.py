"""Kernels and task updates of a 950 on hand-written queues: both halves, mixes, codes, rows of 40 bytes."""

from __future__ import annotations

import pytest

from emu_core.hookspecs import hookimpl
from emu_core.kernels import CoreType, Cost, KernelSpec
from emu_core.memory import Space
from emu_core.trace import Patched
from emu_plugins.runtime.images import load_kernel, write_tiling_table
from emu_plugins.runtime.sqes import Place
from formats.blob import BlobKernel

CHIP = "ascend950pr_950z"
KEYS = (1, 2, 3, 4, 5)
RATIOS = {1: 0, 2: 0, 3: 2, 4: 1, 5: 1}
"""Secondary cores per block by tiling key of the laboratory's mix kernel."""


@pytest.fixture
def bench(mix_bench):
    """A 950 with the laboratory's kernels."""
    return mix_bench(chip=CHIP)


def _entry(bench, slot=0):
    """The entry in `slot` of the main stream, decoded."""
    found = bench.device.host.registry.decode("v200", bench.main.queue.entry(slot))
    return {**found.values, **found.struct.join(found.values)}


def _update(bench, key, block_dim, *, name="Mixed", slot=0, change=None, **target):
    """Append an update of the entry in `slot`; `change` edits the table. Returns its address."""
    memory = bench.device.memory
    memory.poke(bench.key, key.to_bytes(8, "little"))
    memory.poke(bench.dim, block_dim.to_bytes(8, "little"))
    table, rows = write_tiling_table(bench.device, bench.images[name], name)
    if change:
        change(table)
    ids = {"stream_id": bench.main.id, "task_id": bench.main.queue.task_at.get(slot, 0), **target}
    bench.queues.add(
        bench.attached, "update", key_offset=bench.key, block_dim_offset=bench.dim, table_offset=table, rows=rows,
        target=Place(**ids),
    )  # fmt: skip
    return table


def _patched(bench):
    return [(e.struct, e.field, e.before, e.after) for e in bench.device.trace if isinstance(e, Patched)]


@pytest.mark.parametrize(("name", "key", "sqe_type"), [("Cubes", 7, 0), ("Vectors", 1, 1)])
def test_a_kernel_of_one_kind_runs_from_its_half(bench, name, key, sqe_type):
    """Cube kernels are of type 0, vector kernels of type 1; the kernel sees key, block dim and arguments."""
    slot, context = bench.launch(name, key=key, block_dim=4)
    bench.run()
    assert (_entry(bench, slot)["type"], context) == (sqe_type, None)
    assert bench.told() == (key, 4, 0, 1)
    assert bench.queues.faults == []


@pytest.mark.parametrize("key", KEYS)
def test_a_mix_kernel_uses_its_cores_in_every_way(bench, key):
    """One kind only, cube cores first with two or one vector cores, vector cores first: the ratio is the entry's."""
    bench.launch(key=key, block_dim=3)
    bench.run()
    assert bench.told() == (key, 3, RATIOS[key], 1)
    assert _entry(bench)["mix"] == 1


@pytest.mark.parametrize(
    ("name", "ts_code", "acl_code"), [("Cubes", 0x26, 507015), ("Vectors", 0x31, 507035)]
)  # fmt: skip
def test_exceptions_have_the_code_of_the_leading_core(bench, name, ts_code, acl_code):
    """A placeholder block dim is an AI Core exception, or a vector core exception."""
    bench.launch(name, key=1, block_dim=0xFFFFFFFF)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.acl_code) == ("kernel.placeholder-block-dim", ts_code, acl_code)


@pytest.mark.parametrize(("credit", "ns"), [(0, 1000), (1, 2000)])
@pytest.mark.parametrize(("name", "ts_code"), [("Cubes", 0x25), ("Vectors", 0x30)])
def test_a_950_counts_credits_from_zero(mix_bench, name, ts_code, credit, ns):
    """A credit of n is n + 1 units of time, here of a microsecond: less than the launch takes."""
    bench = mix_bench(chip=CHIP, kernel_credit_us="1")
    slot, _ = bench.launch(name, key=1)
    bench.device.patch_sqe(bench.main.id, slot, {"kernel_credit": credit}, bench.device.layout("AicKernelSqe"))
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.time) == ("task.timeout", ts_code, ns)


def test_a_mix_entry_of_two_kernels_is_refused(bench):
    """The vector half starts another kernel than the cube half."""
    image = bench.images["Mixed"]
    bench.queues.add(
        bench.main, "kernel", core_type=CoreType.MIX, block_dim=1, schem=0, pc=image.entries[3], args=bench.args,
        stack=0, second_pc=bench.images["Vectors"].entries[1],
    )  # fmt: skip
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code) == ("kernel.bad-pc", 0x26)
    assert "Mixed key 3 and Vectors key 1" in fault.what


def test_s16_a_row_has_40_bytes(bench):
    """S16: one kernel with keys 1 and 7 gives two rows; the first one byte by byte, 0 in the v200 part."""
    image = bench.images["Cubes"]
    table, rows = write_tiling_table(bench.device, image, "op")
    raw = bench.device.memory.read(table, 80)
    assert rows == 2
    assert bench.device.memory.find(table).size == 80
    assert raw[:40] == (1).to_bytes(8, "little") + image.entries[1].to_bytes(8, "little") + bytes(24)
    assert raw[40:48] == (7).to_bytes(8, "little")


def test_s16_a_row_of_a_mix_kernel_names_both_entries_and_the_ratio(bench):
    """Key 3 leads with cube cores and two vector cores each: mix type 3, both program counters, ratio 2."""
    image = bench.images["Mixed"]
    table, _ = write_tiling_table(bench.device, image, "op")
    raw = bench.device.memory.read(table + 2 * 40, 40)
    words = [int.from_bytes(raw[i : i + 8], "little") for i in range(0, 40, 8)]
    assert words == [3, image.entries[3], image.seconds[3], 3 << 32 | 2, 0]


class _Wide:
    """Plugin: a vector kernel with the key of scenario S6."""

    def __init__(self):
        self.launches = []

    @hookimpl
    def sqemu_kernels(self):
        """One kernel with one key."""
        note = self.launches.append
        return [
            KernelSpec("Wide", CoreType.AIV, (123456,), lambda x: note((x.tiling_key, x.block_dim)), lambda _: Cost())
        ]


def test_s6_cells_of_64_bits_and_a_block_dim_that_is_narrowed(queues):
    """S6: key and block dim 123456; the entry gets 123456 mod 65536 = 57920 blocks, in two groups of 28960."""
    plugin = _Wide()
    bench = queues(plugins=[plugin], chip=CHIP)
    memory = bench.device.memory
    main, attached = bench.stream(bound=True), bench.stream(bound=True)
    main.model_id = attached.model_id = 0
    image = load_kernel(bench.device, BlobKernel("Wide", 0, (123456,)))
    slot = bench.add(
        main, "kernel", core_type=CoreType.AIV, block_dim=1, schem=0, pc=image.entries[123456], args=bench.room(8),
        stack=0,
    )  # fmt: skip
    cells = [memory.allocate(8, label="cell", space=Space.TS).address for _ in range(2)]
    for cell in cells:
        memory.write(cell, (123456).to_bytes(8, "little"))
    table, rows = write_tiling_table(bench.device, image, "op")
    bench.add(
        attached, "update", key_offset=cells[0], block_dim_offset=cells[1], table_offset=table, rows=rows,
        target=Place(main.id, slot),
    )  # fmt: skip
    bench.run(attached)
    bench.run(main)
    assert bench.faults == []
    assert plugin.launches == [(123456, 57920)]
    pc = image.entries[123456]
    assert _patched(bench) == [
        ("AivKernelSqe", "aiv_start_pc_low", pc & 0xFFFFFFFF, pc & 0xFFFFFFFF),
        ("AivKernelSqe", "aiv_start_pc_high", pc >> 32, pc >> 32),
        ("AivKernelSqe", "block_dim", 1, 57920),
        ("AivKernelSqe", "group_dim", 1, 2),
        ("AivKernelSqe", "group_block_dim", 1, 28960),
    ]


def test_an_update_of_a_mix_entry_writes_both_counters_and_the_ratio(bench):
    """From key 3 (two vector cores per block) to key 5 (one): the other fields stay."""
    bench.launch(key=3, block_dim=2)
    _update(bench, 5, 7)
    bench.run()
    image, found = bench.images["Mixed"], _entry(bench)
    assert (found["aic_start_pc"], found["aiv_start_pc"]) == (image.entries[5], image.seconds[5])
    assert (found["mix"], found["pi_mix"], found["ratio"], found["block_dim"], found["group_block_dim"]) == (
        1, 1, 1, 7, 4,
    )  # fmt: skip
    assert bench.told() == (5, 7, 1, 1)


def test_an_update_to_one_kind_of_cores_sets_the_ratio_to_none(bench):
    """Key 1 runs on cube cores only: the kernel has no secondary cores, whatever the other half still says."""
    bench.launch(key=3, block_dim=2)
    _update(bench, 1, 2)
    bench.run()
    assert (_entry(bench)["mix"], _entry(bench)["ratio"]) == (1, 0)
    assert bench.told() == (1, 2, 0, 1)


def test_a_plain_row_takes_the_mix_away(bench):
    """A row without a mix type on a mix entry: the flags go, and the leading half starts at pc_addr0."""
    bench.launch(key=3, block_dim=2)
    _update(bench, 7, 2, name="Cubes")
    bench.run()
    found = _entry(bench)
    assert (found["mix"], found["pi_mix"], found["ratio"]) == (0, 0, 1)
    assert bench.told() == (7, 2, 0, 1)


@pytest.mark.parametrize(("key", "sqe_type"), [(1, 0), (2, 1), (3, 0), (4, 1), (5, 0)])
def test_the_row_decides_which_cores_lead(bench, key, sqe_type):
    """Launched with cube cores in front, an entry becomes one of type 1 for the keys that vector cores lead."""
    bench.launch(key=3, block_dim=2)
    _update(bench, key, 2)
    bench.run()
    assert _entry(bench)["type"] == sqe_type
    assert bench.told() == (key, 2, RATIOS[key], 1)
    assert [f for _, f, _, _ in _patched(bench) if f == "type"] == ["type"] * sqe_type


def test_an_entry_that_is_no_kernel_cannot_be_updated(bench):
    """A notify record of type 6 is no target."""
    bench.queues.add(bench.main, "notify_record", 1)
    _update(bench, 3, 2)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code) == ("update.target-kind", 0x4)


def test_shared_memory_of_the_row_goes_to_the_entry(bench):
    """share_mem_size at byte 32 of a row becomes aiv_simt_dcu_sm_size; kernel_vf_type has no field."""
    bench.launch("Vectors", key=1, block_dim=2)

    def change(table):
        bench.device.memory.write(table + 32, (4096).to_bytes(4, "little") + (2).to_bytes(4, "little"))

    _update(bench, 1, 2, name="Vectors", change=change)
    bench.run()
    assert _entry(bench)["aiv_simt_dcu_sm_size"] == 4096


def test_a_target_is_found_by_all_32_bits_of_its_number(bench):
    """Task 70000 is patched; 70000 mod 65536 = 4464 names nothing."""
    bench.main.queue.submissions.count = 70000
    slot, _ = bench.launch("Cubes", key=1, block_dim=2)
    assert bench.main.queue.task_at[slot] == 70000
    _update(bench, 7, 6, name="Cubes", slot=slot)
    _update(bench, 7, 9, name="Cubes", slot=slot, task_id=4464)
    bench.queues.run(bench.attached)
    assert [f.id for f in bench.queues.faults] == ["update.target-missing"]
    assert bench.device.dispatch.find(bench.main.queue.entry(slot)).kind == "kernel"
    assert _entry(bench, slot)["aic_start_pc"] == bench.images["Cubes"].entries[7]


def test_an_unknown_key_is_refused_as_on_v100(bench):
    """The steps before the patch are the same."""
    bench.launch(key=3, block_dim=2)
    _update(bench, 99, 2)
    bench.run()
    assert [f.id for f in bench.queues.faults] == ["update.unknown-key"]
