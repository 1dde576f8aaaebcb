"""How an update finds its row, and every way in which what it points at can be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.kernels import CoreType
from emu_plugins.engines.task_update_table import binary, linear
from emu_plugins.runtime.images import KernelImage, write_tiling_table


@given(st.lists(st.integers(0, 60), unique=True, max_size=20), st.integers(0, 60))
def test_all_searches_find_the_same_row_of_an_ascending_table(keys, key):
    """S17: rows ascend and are unique, so linear and binary search agree, on hits and misses."""
    keys = sorted(keys)
    expected = keys.index(key) if key in keys else None
    assert linear(keys.__getitem__, len(keys), key) == expected
    assert binary(keys.__getitem__, len(keys), key) == expected


def test_a_binary_search_reads_few_keys():
    """1000 rows: at most 10 halvings and the comparison at the end."""
    seen = []
    assert binary(lambda i: seen.append(i) or 3 * i, 1000, 3 * 700) == 700
    assert len(seen) <= 11


@pytest.mark.parametrize(
    ("keys", "key", "by_linear", "by_binary"),
    [((7, 1, 5), 7, 0, None), ((1, 1, 1), 1, 0, 0), ((5, 5, 9), 5, 0, 0), ((9, 2), 2, 1, None)],
)
def test_a_table_that_does_not_ascend_depends_on_the_search(keys, key, by_linear, by_binary):
    """Linear search takes the first row with the key, binary search may miss it."""
    assert linear(keys.__getitem__, len(keys), key) == by_linear
    assert binary(keys.__getitem__, len(keys), key) == by_binary


def _rows(bench, *rows):
    """A tiling table of (key, name of the kernel entry's key) rows for Cubes; returns its offset."""
    layout, entries = bench.device.layout("TilingTabl"), bench.images["Cubes"].entries
    raw = b"".join(layout.build({"tiling_key": key, "pc_addr0": entries.get(entry, 0)}) for key, entry in rows)
    return bench.device.memory.offset_of(bench.cell(raw))


@pytest.mark.parametrize(("search", "ran"), [("linear", 7), ("binary", 1)])
def test_the_policy_decides_in_an_unsorted_table(mix_bench, search, ran):
    """Keys 9, 2 in this order: a linear search finds 2, a binary one does not and the old entry stays."""
    bench = mix_bench(update_table_search=search, update_unknown_key="keep_old")
    slot, _ = bench.launch("Cubes", key=1)
    bench.update(2, 4, slot, None, "Cubes", tiling_tab_offset=_rows(bench, (9, 1), (2, 7)), tiling_tab_len=2)
    bench.run()
    assert bench.told()[0] == ran


def test_s17_a_program_with_keys_in_any_order_has_ascending_unique_rows(mix_bench):
    """S17: keys 30, 10, 20, 10 give rows 10, 20, 30."""
    bench = mix_bench()
    image = KernelImage("K", CoreType.AIC, {key: 0x1000 + key for key in (30, 10, 20, 10)})
    address, rows = write_tiling_table(bench.device, image, "op")
    raw = bench.device.memory.read(address, 32 * rows)
    assert [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw), 32)] == [10, 20, 30]


def test_s21_rows_behind_the_truncated_count_are_not_found(mix_bench):
    """S21: of 70000 rows the entry's 16 bits say 4464; key 4463 is found, key 4464 is not."""
    rows = 70000 & 0xFFFF
    assert rows == 4464
    for key, found in ((4463, True), (4464, False)):
        bench = mix_bench(update_unknown_key="keep_old")
        layout, entry = bench.device.layout("TilingTabl"), bench.images["Cubes"].entries[7]
        raw = bytearray(32 * 70000)
        for i in range(4400, 4500):
            raw[32 * i : 32 * i + 32] = layout.build({"tiling_key": i, "pc_addr0": entry})
        at = bench.device.memory.offset_of(bench.cell(bytes(raw)))
        slot, _ = bench.launch("Cubes", key=1)
        bench.update(key, 4, slot, None, "Cubes", tiling_tab_offset=at, tiling_tab_len=rows)
        bench.run()
        assert (bench.told()[0] == 7) == found
        assert [h.id for h in bench.device.hazards] == ([] if found else ["update.unknown-key"])


FAR = 0x7000_0000_0000
POINTERS = [
    ("tiling_key_offset", FAR, "update_unknown_key", "memory.bounds"),
    ("tiling_key_offset", "odd", "update_unknown_key", "update.alignment"),
    ("tiling_key_offset", "short", "update_unknown_key", "memory.bounds"),
    ("block_dim_offset", FAR, "update_bad_block_dim", "memory.bounds"),
    ("block_dim_offset", "odd", "update_bad_block_dim", "update.alignment"),
    ("tiling_tab_offset", FAR, "update_unknown_key", "memory.bounds"),
    ("tiling_tab_offset", "odd", "update_unknown_key", "update.alignment"),
    ("tiling_tab_offset", "short", "update_unknown_key", "memory.bounds"),
    ("tiling_tab_offset", "freed", "update_unknown_key", "memory.freed"),
]


def _place(bench, kind):
    """An offset that is wrong in the way `kind` says."""
    if isinstance(kind, int):
        return kind
    address = bench.cell(bytes(60))
    if kind == "freed":
        bench.device.memory.free(address)
    return bench.device.memory.offset_of(address) + {"odd": 1, "short": 56, "freed": 0}[kind]


@pytest.mark.parametrize("policy", ["fault", "keep_old"])
@pytest.mark.parametrize(("field", "kind", "name", "id_"), POINTERS)
def test_an_offset_that_leads_nowhere_is_refused_by_the_policy_of_what_it_names(
    mix_bench, policy, field, kind, name, id_
):
    """Key, block dim and table out of memory, across an end, freed or unaligned: TS 0x4, or the old values stay."""
    bench = mix_bench(**{name: policy})
    slot, _ = bench.launch("Cubes", key=1)
    bench.update(7, 9, slot, None, "Cubes", **{field: _place(bench, kind)})
    bench.run()
    faults = [f for f in bench.queues.faults if f.engine == "task_update"]
    if policy == "fault":
        (fault,) = faults
        assert (fault.id, fault.ts_code, fault.error_type) == (id_, 0x4, 32 if id_ == "update.alignment" else 1)
    else:
        assert [h.id for h in bench.device.hazards] == [id_]
    assert bench.told() == (1, 4, 0, 1)


@pytest.mark.parametrize("policy", ["fault", "keep_old"])
@pytest.mark.parametrize("mix_type", [5, 255])
def test_a_row_that_cannot_be_one_is_refused(mix_bench, policy, mix_type):
    """A row that was never initialised: mix types are 0 to 4."""
    bench = mix_bench(update_unknown_key=policy)
    raw = bench.device.layout("TilingTabl").build({"tiling_key": 7, "mix_type": mix_type})
    slot, _ = bench.launch("Cubes", key=1)
    at = bench.device.memory.offset_of(bench.cell(raw))
    bench.update(7, 9, slot, None, "Cubes", tiling_tab_offset=at, tiling_tab_len=1)
    bench.run()
    found = [f.id for f in bench.queues.faults] if policy == "fault" else [h.id for h in bench.device.hazards]
    assert found == ["update.bad-row"]
    assert bench.told() == (1, 4, 0, 1)


def test_a_table_without_rows_has_no_key(mix_bench):
    """Length 0: nothing is read, no key is found."""
    bench = mix_bench()
    slot, _ = bench.launch("Cubes", key=1)
    bench.update(7, 9, slot, None, "Cubes", tiling_tab_len=0)
    bench.run()
    assert bench.queues.faults[0].what == "the tiling key 7 is in none of the 0 rows of the tiling table (keys [])"


@pytest.mark.parametrize(("dim", "reads"), [(0, 0), (0xFFFF, 0xFFFF), (0x10000, 0), (0x1_0000_0005, 5)])
def test_the_block_dim_is_the_low_16_bits_of_32(mix_bench, dim, reads):
    """0 and 0xFFFF are refused; the upper 32 bits of the cell are not read."""
    bench = mix_bench()
    slot, _ = bench.launch("Cubes", key=1)
    bench.update(7, dim, slot, None, "Cubes")
    bench.run()
    if reads in (0, 0xFFFF):
        assert bench.queues.faults[0].id == "update.block-dim"
        assert f"the block dim to write is {reads:#x}" == bench.queues.faults[0].what
    else:
        assert bench.told() == (7, 5, 0, 1)


def test_s13_an_update_whose_target_was_never_launched(mix_bench):
    """S13: the host accepts it with all ones as descriptor; the device says that the destination is not there."""
    bench = mix_bench()
    bench.launch("Cubes", key=1)
    bench.update(7, 9, 0, None, "Cubes", des_task_id=999)
    bench.queues.run(bench.attached)
    (fault,) = bench.queues.faults
    assert (fault.id, fault.what) == ("update.target-missing", "the target stream 0 task 999 is in no ring")


def test_a_target_that_left_the_ring_is_missing(mix_bench):
    """A plain ring wrapped around: the task's slot holds another one now."""
    bench = mix_bench()
    queue = bench.main.queue
    for _ in range(queue.depth + 1):
        bench.queues.add(bench.main, "nop")
        bench.queues.run(bench.main)
    slot, _ = bench.launch("Cubes", key=1)
    bench.update(7, 9, slot, None, "Cubes", des_task_id=0)
    bench.queues.run(bench.attached)
    assert bench.queues.faults[0].id == "update.target-missing"
