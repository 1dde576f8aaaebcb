"""Model task update of mix kernels: which fields of entry and context it writes, and what it refuses (table 5.6)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.trace import ContextPatched, Patched

LOW, HIGH = 0xFFFFFFFF, 32


def _pcs(prefix, address):
    """Both halves of both entries of AIC or AIV."""
    return {f"{part}_{prefix}_task_start_pc_{half}": value for part in ("non_tail", "tail")
            for half, value in (("l", address & LOW), ("h", address >> HIGH))}  # fmt: skip


def _expected(bench, key, block_dim):
    """What table 5.6 says an update to `key` writes into the context of a launch of key 3."""
    image = bench.images["Mixed"]
    first, second = image.entries[key], image.seconds.get(key, 0)
    written = {
        1: _pcs("aic", first),
        2: _pcs("aiv", first),
        3: _pcs("aic", first) | _pcs("aiv", second),
        4: _pcs("aic", first) | _pcs("aiv", second),
        5: _pcs("aic", first) | _pcs("aiv", second),
    }[key]
    ratio = {1: 0, 2: 0, 3: 2, 4: 1, 5: 1}[key]
    written |= {"non_tail_block_dim": block_dim, "tail_block_dim": block_dim}
    written |= {"non_tail_block_ratio_n": ratio, "tail_block_ratio_n": ratio}
    return written | ({"context_type": 7} if key in (2, 4) else {})


@pytest.mark.parametrize("key", [1, 2, 3, 4, 5])
def test_each_mix_type_writes_its_fields_and_leaves_the_others(mix_bench, key):
    """A launch of key 3 on 4 blocks becomes `key` on 9; every patch is journalled and traced with key and row."""
    bench = mix_bench()
    slot, address = bench.launch(key=3, block_dim=4)
    before = bench.context(address)
    bench.update(key, 9, slot, address)
    bench.queues.run(bench.attached)
    expected = _expected(bench, key, 9)
    after = bench.device.layout("FftsPlusMixAicAivCtx").parse(bench.device.memory.read(address, 128))
    assert {n: after[n] for n in after} == {n: expected.get(n, before[n]) for n in after}
    journal = list(bench.device.journal)
    of_context = {e.field: (e.before, e.after) for e in journal if e.target == "context"}
    assert of_context == {n: (before[n], expected[n]) for n in expected}
    of_entry = {e.field: (e.before, e.after) for e in journal if e.target == "sqe"}
    assert of_entry == {"block_dim": (4, 9), **({"sub_type": (6, 7)} if key in (2, 4) else {})}
    assert {(e.tiling_key, e.table_row, e.writer.engine) for e in journal} == {(key, key - 1, "task_update")}
    assert {(e.stream, e.slot, e.task) for e in journal} == {(bench.main.id, slot, 0)}
    events = [e for e in bench.device.trace if isinstance(e, (ContextPatched, Patched))]
    assert {(e.struct, e.field) for e in events} == {(e.struct, e.field) for e in journal}
    assert {e.struct for e in events} == {"FftsPlusMixAicAivCtx", "FftsPlusSqe"}
    bench.queues.run(bench.main)
    assert bench.told() == (key, 9, {1: 0, 2: 0, 3: 2, 4: 1, 5: 1}[key], 1)


def test_a_journal_line_of_a_context_names_the_entry_that_points_at_it(mix_bench):
    """One line per field: time, stream, slot, task, struct and field, before, after, by whom."""
    bench = mix_bench()
    slot, address = bench.launch(key=3, block_dim=4)
    bench.update(5, 9, slot, address)
    bench.run()
    line = next(e.text() for e in bench.device.journal if e.field == "tail_block_ratio_n")
    assert line.split("  ")[-1] == (
        "stream 0 slot 0 task 0 FftsPlusMixAicAivCtx.tail_block_ratio_n: 0x2 -> 0x1 by stream 1 task 0 (task_update)"
    )


def test_a_ratio_is_narrowed_to_the_eight_bits_of_the_context(mix_bench):
    """Rows have 32 bits of `task_ratio`: of 0x102 the context gets 2."""
    bench = mix_bench()
    slot, address = bench.launch(key=5)
    table = bench.device.layout("TilingTabl").build(
        {"tiling_key": 3, "pc_addr0": bench.images["Mixed"].entries[3], "pc_addr1": bench.images["Mixed"].seconds[3],
         "task_ratio": 0x102, "mix_type": 3}
    )  # fmt: skip
    at = bench.device.memory.offset_of(bench.cell(table))
    bench.update(3, 2, slot, address, tiling_tab_offset=at, tiling_tab_len=1)
    bench.run()
    assert bench.told() == (3, 2, 2, 1)


def _refused(bench, id_, policy="fault", *, kept=(3, 4, 2, 1)):
    """The update was refused with `id_`; with `keep_old` the launch of key 3 ran as it was."""
    faults = [f for f in bench.queues.faults if f.engine == "task_update"]
    if policy == "fault":
        (fault,) = faults
        assert (fault.id, fault.ts_code, fault.stream) == (id_, 0x4, bench.attached.id)
        text = fault.what
    else:
        assert faults == []
        (hazard,) = bench.device.hazards
        assert (hazard.id, hazard.what.endswith("the old values stay")) == (id_, True)
        text = hazard.what
    assert bench.told() == kept
    assert [e for e in bench.device.journal if e.target != "cell"] == []
    return text


@pytest.fixture(params=["fault", "keep_old"])
def both(request, mix_bench):
    """A bench under each value of `update_bad_target`."""
    made = mix_bench(update_bad_target=request.param)
    made.policy = request.param
    return made


def test_a_mix_row_for_an_update_without_a_context_is_refused(both):
    """The target is an FFTS+ entry and the descriptor offset all ones."""
    slot, _ = both.launch(key=3, block_dim=4)
    both.update(5, 9, slot, None)
    both.run()
    assert "names no context (all ones), the target is an FFTS+ entry" in _refused(
        both, "update.descriptor", both.policy
    )


def test_a_context_for_a_plain_kernel_is_refused(both):
    """The target is an AI Core entry and a descriptor is given."""
    slot, _ = both.launch("Cubes", key=1, block_dim=4)
    both.update(7, 9, slot, both.cell(bytes(128)), name="Cubes")
    both.run()
    what = _refused(both, "update.descriptor", both.policy, kept=(1, 4, 0, 1))
    assert "names a mix context, the target is a plain kernel" in what


def test_a_plain_row_for_a_mix_kernel_is_refused(both):
    """Descriptor and target say mix, the table is that of a plain kernel."""
    slot, address = both.launch(key=3, block_dim=4)
    both.update(7, 9, slot, address, name="Cubes")
    both.run()
    what = _refused(both, "update.mix-mismatch", both.policy)
    assert "row 1 (key 7) of the tiling table says no mix, the target stream 0 task 0 is an FFTS+ entry" in what


def test_a_mix_row_for_a_plain_kernel_is_refused(both):
    """Descriptor and target say plain, the row says mix type 3."""
    slot, _ = both.launch("Cubes", key=1, block_dim=4)
    both.update(5, 9, slot, None)
    both.run()
    what = _refused(both, "update.mix-mismatch", both.policy, kept=(1, 4, 0, 1))
    assert "row 4 (key 5) of the tiling table says mix type 3, the target stream 0 task 0 is a plain kernel" in what


def test_the_context_of_another_entry_is_refused(both):
    """Two launches, and the update of the first names the context of the second."""
    slot, _ = both.launch(key=3, block_dim=4)
    _, other = both.launch(key=3, block_dim=4)
    both.update(5, 9, slot, other)
    both.run()
    what = _refused(both, "update.descriptor", both.policy, kept=(3, 4, 2, 2))
    assert "its target stream 0 task 0 uses" in what


def test_a_context_of_another_kind_is_refused(both):
    """The FFTS+ entry points at an AIC context, which is no mix kernel."""
    pc = both.images["Cubes"].entries[1]
    context = {"context_type": 0, "tail_block_dim": 1, "tail_task_start_pc": pc, "task_param_ptr_base": both.args}
    address = both.graph([context])
    both.update(5, 9, 0, address)
    both.run()
    what = _refused(both, "update.descriptor", both.policy, kept=(1, 1, 0, 1))
    assert "has the type 0x0, a mix context has 6 or 7" in what


BAD_PLACES = [(0x7000_0000_0000, "memory.bounds"), (64, "update.alignment")]


@pytest.mark.parametrize(("place", "id_"), BAD_PLACES)
def test_a_context_that_is_not_there_or_not_aligned_is_refused(both, place, id_):
    """Entry and update agree on an address out of memory, or one that is no multiple of 128."""
    slot, address = both.launch(key=3, block_dim=4)
    wrong = address + 64 if place == 64 else (both.device.memory.address_of_offset(0x1_0000_0000))
    layout = both.device.layout("FftsPlusSqe")
    fields = {"context_address_base_l": wrong & LOW, "context_address_base_h": wrong >> HIGH}
    raw = bytearray(both.main.queue.entry(slot))
    for name, value in fields.items():
        layout.field(name).patch(raw, 0, value)
    both.device.memory.poke(both.main.queue.address(slot), bytes(raw))
    both.update(5, 9, slot, wrong)
    both.queues.run(both.attached)
    both.main.queue.head = both.main.queue.tail
    _refused(both, id_, both.policy, kept=(0, 0, 0, 0))


def test_an_update_of_a_freed_context_is_refused(both):
    """The context was given back: its address leads nowhere."""
    slot, address = both.launch(key=3, block_dim=4)
    both.device.memory.free(address)
    both.update(5, 9, slot, address)
    both.queues.run(both.attached)
    both.main.queue.head = both.main.queue.tail
    _refused(both, "memory.freed", both.policy, kept=(0, 0, 0, 0))


def test_a_row_without_entries_faults_when_the_kernel_starts(mix_bench):
    """Failed address look-ups leave a row with PC 0 on v1: the update writes it, the kernel has no entry there."""
    bench = mix_bench()
    slot, address = bench.launch(key=3)
    table = bench.device.layout("TilingTabl").build({"tiling_key": 3, "task_ratio": 2, "mix_type": 3})
    at = bench.device.memory.offset_of(bench.cell(table))
    bench.update(3, 2, slot, address, tiling_tab_offset=at, tiling_tab_len=1)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.engine, fault.what) == ("kernel.bad-pc", "ffts_plus", "no kernel entry lies at PC 0x0")


def test_a_row_with_the_other_entry_first_faults_when_the_kernel_starts(mix_bench):
    """Mix type 2 takes its vector entry from `pcInfo[0]`; a cube entry there cannot start on vector cores."""
    bench = mix_bench()
    slot, address = bench.launch(key=3)
    table = bench.device.layout("TilingTabl").build(
        {"tiling_key": 2, "pc_addr0": bench.images["Mixed"].entries[1], "mix_type": 2}
    )
    at = bench.device.memory.offset_of(bench.cell(table))
    bench.update(2, 2, slot, address, tiling_tab_offset=at, tiling_tab_len=1)
    bench.run()
    (fault,) = bench.queues.faults
    assert fault.id == "kernel.core-type"


def test_a_block_dim_above_the_core_count_runs_in_waves(mix_bench):
    """25 mix blocks on 20 cube cores: no refusal, two waves."""
    bench = mix_bench()
    slot, address = bench.launch(key=3)
    bench.update(3, 25, slot, address)
    bench.run()
    assert bench.told() == (3, 25, 2, 1)
    assert bench.device.hazards == []


@pytest.mark.parametrize(("nops", "stale"), [(24, True), (27, True), (30, False), (40, False)])
def test_what_is_fetched_when_the_update_comes_depends_on_where_the_queue_stands(mix_bench, nops, stale):
    """The patch comes at 2000 ns, when 20 NOPs of 100 ns are done: up to slot 28 contexts were fetched (depth 8)."""
    bench = mix_bench(context_preload="with_sqe")
    for _ in range(nops):
        bench.queues.add(bench.main, "nop")
    slot, address = bench.launch(key=3, block_dim=4)
    bench.update(5, 9, slot, address)
    bench.queues.run(bench.main, bench.attached)
    assert bench.told()[:3] == ((3, 4, 2) if stale else (5, 9, 1))
    named = [h.detail.get("context") for h in bench.device.hazards]
    assert named == ([None, address] if stale else [])


@pytest.mark.parametrize("policy", ["execute_copy", "fault", "refetch"])
def test_a_context_that_alone_changed_after_its_fetch(mix_bench, policy):
    """The host rewrites the block dim of a fetched context: the copy runs, a fault, or it is read again."""
    bench = mix_bench(context_preload="with_sqe", stale_prefetch=policy)
    bench.queues.add(bench.main, "nop")
    slot, address = bench.launch(key=3, block_dim=4)
    layout = bench.device.layout("FftsPlusMixAicAivCtx")
    change = {"tail_block_dim": 9}
    bench.device.clock.at(50, 99, lambda: bench.device.contexts.patch(address, change, layout))
    bench.queues.run(bench.main)
    faults = [(f.id, f.ts_code, f.error_type, f.slot, f.engine) for f in bench.queues.faults]
    assert faults == ([("hazard.stale-prefetch", 0x106, 8, slot, "ffts_plus")] if policy == "fault" else [])
    assert bench.told()[1] == {"execute_copy": 4, "fault": 0, "refetch": 9}[policy]
    hazards = [(h.id, h.detail["context"], "(tail_block_dim); the fetched" in h.what) for h in bench.device.hazards]
    assert hazards == ([("hazard.stale-prefetch", address, True)] if policy == "execute_copy" else [])


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_update_leads_to_anything_but_a_fault_or_a_patch(mix_bench, data):
    """An update entry with fields of any value, on a table of any bytes: a fault with a code, or nothing."""
    bench = mix_bench()
    slot, address = bench.launch(key=3)
    layout = bench.device.layout("PhModelTaskUpdateSqe")
    fields = [f for f in layout.named_fields if f.offset >= 128]
    chosen = data.draw(st.lists(st.sampled_from(fields), unique_by=lambda f: f.name, max_size=3))
    values = {f.name: data.draw(st.integers(0, (1 << f.width) - 1)) for f in chosen}
    if data.draw(st.booleans()):
        row = bench.device.layout("TilingTabl").build({"tiling_key": 5})
        raw = row[:8] + data.draw(st.binary(min_size=24, max_size=24))
        values |= {"tiling_tab_offset": bench.device.memory.offset_of(bench.cell(raw)), "tiling_tab_len": 1}
    bench.update(5, data.draw(st.integers(0, 70000)), slot, address, **values)
    bench.run()
    assert all(f.ts_code for f in bench.queues.faults)
    assert bench.queues.faults or bench.told()[3] == 1
