"""Mix kernels: FFTS+ entries with one context, what they occupy, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.trace import TaskDone, TaskStarted

LAUNCH_NS, WORK_NS = 3000, 1000

KINDS = [
    (1, 6, 0, {"cube core": 1}),
    (2, 7, 0, {"vector core": 1}),
    (3, 6, 2, {"cube core": 1, "vector core": 2}),
    (4, 7, 1, {"vector core": 1, "cube core": 1}),
    (5, 6, 1, {"cube core": 1, "vector core": 1}),
]


def _end(bench):
    """When the only task ended, and how it was described."""
    (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
    return done.time, done.detail


@pytest.mark.parametrize(("key", "context_type", "ratio", "units"), KINDS)
def test_a_mix_kernel_runs_what_its_context_says(mix_bench, key, context_type, ratio, units):
    """Every mix type: entry and context as launched, the kernel's key, block dim and ratio, and the cores it holds."""
    bench = mix_bench()
    slot, address = bench.launch(key=key, block_dim=4)
    sqe, context = bench.sqe(slot), bench.context(address)
    assert (sqe["type"], sqe["ffts_type"], sqe["sub_type"], sqe["block_dim"]) == (0, 4, context_type, 4)
    assert (sqe["total_context_num"], sqe["ready_context_num"], sqe["preload_context_num"]) == (1, 1, 1)
    assert (context["context_type"], context["thread_dim"], context["successor_num"]) == (context_type, 1, 0)
    assert (context["non_tail_block_dim"], context["tail_block_dim"]) == (4, 4)
    assert (context["non_tail_block_ratio_n"], context["tail_block_ratio_n"]) == (ratio, ratio)
    assert context["aic_task_param_ptr"] == context["aiv_task_param_ptr"] == bench.args
    held = {}
    bench.device.clock.at(LAUNCH_NS + 100, 99, lambda: held.update(bench.device.cores.free))
    bench.queues.run(bench.main)
    whole = {"cube core": 20, "vector core": 40}
    assert held == {kind: n - 4 * units.get(kind, 0) for kind, n in whole.items()}
    assert bench.told() == (key, 4, ratio, 1)
    assert bench.queues.faults == []
    (start,) = [e for e in bench.device.trace if isinstance(e, TaskStarted)]
    assert (start.engine, start.kind) == ("ffts_plus", "kernel")
    assert start.facts == {"kernel": "Mixed", "tiling_key": key, "block_dim": 4, "mix_type": key if key < 5 else 3,
                           "ratio": ratio}  # fmt: skip


def test_the_secondary_cores_decide_how_many_blocks_run_at_once(mix_bench):
    """30 blocks of one vector and one cube core on 20 cube cores: 20 and 10, each 1000 / 30 ns."""
    bench = mix_bench()
    bench.launch(key=4, block_dim=30)
    bench.run()
    time, detail = _end(bench)
    assert time == LAUNCH_NS + 67
    assert detail.endswith("in 2 waves")


def test_vector_cores_alone_fit_forty_blocks_at_once(mix_bench):
    """The fake mix of key 2 takes no cube core: 40 blocks in one wave."""
    bench = mix_bench()
    bench.launch(key=2, block_dim=40)
    bench.run()
    assert _end(bench) == (LAUNCH_NS + 25, "Mixed key 2 block dim 40 AIV only")


def test_a_fused_chip_launches_a_mix_kernel_as_a_plain_entry(mix_bench):
    """310P: one kind of cores, so an AI Core entry without a context, and no secondary cores."""
    bench = mix_bench(chip="ascend310p3")
    slot, context = bench.launch(key=3, block_dim=4)
    assert context is None
    assert bench.device.layout("AicoreKernelSqe").field("ffts_type").read(bench.main.queue.entry(slot)) == 5
    bench.run()
    assert bench.told() == (3, 4, 0, 1)


def test_a_fused_chip_refuses_ffts_plus(mix_bench):
    """There is no FFTS+ on a 310P: the entry is refused as unsupported here."""
    bench = mix_bench(chip="ascend310p3")
    bench.graph([{"context_type": 6}])
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.error_type) == ("sqe.unsupported", 0x106, 8)


def test_plain_kernels_of_separate_cores_have_no_context(mix_bench):
    """S20: AIC and AIV kernels stay AI Core entries."""
    bench = mix_bench()
    assert bench.launch("Cubes", key=1)[1] is None
    assert bench.launch("Vectors", key=1)[1] is None


def test_contexts_are_protected(mix_bench):
    """A kernel or copy cannot write a context, as it cannot write a ring."""
    bench = mix_bench()
    _, address = bench.launch()
    with pytest.raises(Exception, match="hits the mix context of Mixed"):
        bench.device.memory.write(address, b"1")


def _change(bench, address, **fields):
    bench.device.contexts.patch(address, fields, bench.device.layout("FftsPlusMixAicAivCtx"))


CONTEXT_FAULTS = [
    ({"tail_block_dim": 0}, "kernel.block-dim-zero", 0x10F, 507049),
    ({"tail_block_dim": 0xFFFF}, "kernel.placeholder-block-dim", 0x10F, 507049),
    ({"tail_aic_task_start_pc_l": 0}, "kernel.bad-pc", 0x10F, 507049),
    ({"tail_aiv_task_start_pc_h": 7}, "kernel.bad-pc", 0x10F, 507049),
    ({"thread_dim": 0}, "ffts.context", 0x106, 507001),
    ({"aten": 1}, "sqe.unsupported", 0x106, 507001),
    ({"context_type": 8}, "sqe.unsupported", 0x106, 507001),
    ({"context_type": 0}, "ffts.context", 0x106, 507001),
    ({"successor_num": 27}, "ffts.context", 0x106, 507001),
    ({"pred_cnt": 1}, "ffts.graph", 0x106, 507001),
    ({"aiv_task_param_ptr_l": 4}, "sqe.unsupported", 0x106, 507001),
]


@pytest.mark.parametrize(("fields", "id_", "ts_code", "acl"), CONTEXT_FAULTS)
def test_a_context_that_cannot_run_is_a_fault(mix_bench, fields, id_, ts_code, acl):
    """Each bad field of the context ends the entry with the code of the reference."""
    bench = mix_bench()
    _, address = bench.launch(key=3)
    _change(bench, address, **fields)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.acl_code, fault.engine) == (id_, ts_code, acl, "ffts_plus")
    assert bench.told() == (0, 0, 0, 0)


def test_non_tail_fields_do_not_matter_for_one_thread(mix_bench):
    """The only thread is the last one: block dim 0 and no entries for the others change nothing."""
    bench = mix_bench()
    _, address = bench.launch(key=3)
    _change(bench, address, non_tail_block_dim=0, non_tail_aic_task_start_pc_l=0)
    bench.run()
    assert bench.told() == (3, 4, 2, 1)


def test_the_second_entry_does_not_matter_without_secondary_cores(mix_bench):
    """With ratio 0 the vector cores are not started, whatever stands in their entry."""
    bench = mix_bench()
    _, address = bench.launch(key=1)
    _change(bench, address, tail_aiv_task_start_pc_l=0x1234, aiv_task_param_ptr_l=1)
    bench.run()
    assert bench.told() == (1, 4, 0, 1)


def test_the_threads_of_a_context_walk_through_their_arguments(mix_bench):
    """Three threads: two with non-tail blocks, one with tail blocks, each 8 bytes of arguments further."""
    bench = mix_bench()
    outs = [bench.cell(bytes(16)) for _ in range(3)]
    args = bench.cell(b"".join(out.to_bytes(8, "little") for out in outs))
    _, address = bench.launch(key=1)
    fields = {"thread_dim": 3, "non_tail_block_dim": 5, "tail_block_dim": 2, "aic_task_param_ptr_offset": 8}
    _change(bench, address, **fields, aic_task_param_ptr_l=args & 0xFFFFFFFF, aic_task_param_ptr_h=args >> 32)
    bench.run()
    assert bench.queues.faults == []
    dims = [int.from_bytes(bench.device.memory.read(out + 4, 4), "little") for out in outs]
    assert dims == [5, 5, 2]


def test_entries_of_two_kernels_together_are_refused(mix_bench):
    """A half that was not patched: the cube entry is key 3's, the vector entry key 5's."""
    bench = mix_bench()
    _, address = bench.launch(key=3)
    other = bench.images["Mixed"].seconds[5]
    _change(bench, address, tail_aiv_task_start_pc_l=other & 0xFFFFFFFF, tail_aiv_task_start_pc_h=other >> 32)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, "Mixed key 3 and Mixed key 5" in fault.what) == ("kernel.bad-pc", True)


def test_an_entry_for_other_cores_is_refused(mix_bench):
    """The vector entry of key 3 started on a cube core."""
    bench = mix_bench()
    _, address = bench.launch(key=3)
    other = bench.images["Mixed"].seconds[3]
    _change(bench, address, tail_aic_task_start_pc_l=other & 0xFFFFFFFF, tail_aic_task_start_pc_h=other >> 32)
    bench.run()
    (fault,) = bench.queues.faults
    assert fault.id == "kernel.core-type"
    assert "is for AIV cores, the context starts it on AIC" in fault.what


ENTRY_FAULTS = [
    ({"total_context_num": 2}, "ffts.entry"),
    ({"total_context_num": 0}, "ffts.entry"),
    ({"preload_context_num": 2}, "ffts.entry"),
    ({"ready_context_num": 2}, "ffts.graph"),
    ({"sub_type": 0x0A}, "sqe.unsupported"),
    ({"sub_type": 0x5A}, "sqe.unsupported"),
    ({"context_address_base_l": 64}, "ffts.entry"),
    ({"context_address_base_l": 0, "context_address_base_h": 0}, "memory.bounds"),
]


@pytest.mark.parametrize(("fields", "id_"), ENTRY_FAULTS)
def test_an_entry_that_cannot_be_executed_is_a_fault(mix_bench, fields, id_):
    """Counts, sub types and context addresses that do not fit."""
    bench = mix_bench()
    slot, _ = bench.launch(key=3)
    layout = bench.device.layout("FftsPlusSqe")
    bench.device.patch_sqe(bench.main.id, slot, fields, layout)
    bench.run()
    (fault,) = bench.queues.faults
    assert fault.id == id_
    assert fault.ts_code == (0x10F if id_ == "memory.bounds" else 0x106)


def test_the_sub_type_only_describes_the_context(mix_bench):
    """An entry of sub type 7 with a context of type 6 runs: the firmware may leave the entry as it was."""
    bench = mix_bench()
    slot, _ = bench.launch(key=3)
    bench.device.patch_sqe(bench.main.id, slot, {"sub_type": 7, "block_dim": 9}, bench.device.layout("FftsPlusSqe"))
    bench.run()
    assert bench.told() == (3, 4, 2, 1)


def test_a_batch_waits_for_cores_of_both_kinds(mix_bench):
    """S61 for mix: 30 blocks in batch mode never start on 20 cube cores; after 254 units of credit 0x111 says so."""
    bench = mix_bench(kernel_credit_us="10")
    bench.launch(key=3, block_dim=30, schem=1)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.acl_code, fault.error_type) == ("task.timeout", 0x111, 507048, 4)
    assert fault.time == 254 * 10_000


def test_a_batch_that_never_fits_can_be_an_error(mix_bench):
    """Policy `schem_batch_overflow` = error answers at the start."""
    bench = mix_bench(schem_batch_overflow="error")
    bench.launch(key=3, block_dim=21, schem=1)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.time) == ("kernel.batch-overflow", 0)


def test_cube_and_vector_kernels_share_the_pool_with_mix_kernels(mix_bench):
    """While 15 mix blocks hold 15 cube and 30 vector cores, 20 vector blocks of another stream run 10 and 10."""
    bench = mix_bench()
    bench.launch(key=3, block_dim=15)
    other = bench.queues.stream(name="other")
    image = bench.images["Vectors"]
    bench.queues.add(
        other, "kernel", core_type=image.core_type, block_dim=20, schem=0, pc=image.entries[1], args=bench.args, stack=0
    )
    bench.queues.run(bench.main, other)
    ends = {e.stream: e.time for e in bench.device.trace if isinstance(e, TaskDone)}
    # one mix block takes 1000 / 15 = 66.7 ns, a vector block 50 ns: ten at 3000, ten more at 3050
    assert ends == {bench.main.id: LAUNCH_NS + 67, other.id: LAUNCH_NS + 100}


def test_two_launches_are_two_contexts_and_a_wrapped_slot_uses_its_room_again(mix_bench):
    """Contexts belong to slots: the ring's second lap writes the same rooms."""
    bench = mix_bench()
    first = [bench.launch(key=3)[1] for _ in range(2)]
    bench.run()
    queue = bench.main.queue
    while queue.tail:
        bench.queues.add(bench.main, "nop")
        bench.run()
    assert [bench.launch(key=5)[1] for _ in range(2)] == first
    bench.run()
    assert bench.told() == (5, 4, 1, 4)


def test_very_many_threads_take_no_memory_before_they_start(mix_bench):
    """65535 threads of 20 blocks are described, not listed; here their budget ends after the first ones."""
    bench = mix_bench(kernel_credit_us="10")
    slot, address = bench.launch(key=1)
    _change(bench, address, thread_dim=65535, non_tail_block_dim=20, aic_task_param_ptr_offset=0)
    bench.device.patch_sqe(bench.main.id, slot, {"kernel_credit": 1}, bench.device.layout("FftsPlusSqe"))
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.time) == ("task.timeout", 10_000)
    assert bench.told() == (1, 20, 0, 139)


def test_more_threads_than_are_in_flight_all_run(mix_bench):
    """600 threads of one block on the same arguments: the kernel counts 600 launches."""
    bench = mix_bench()
    _, address = bench.launch(key=1)
    _change(bench, address, thread_dim=600, non_tail_block_dim=1, tail_block_dim=1, aic_task_param_ptr_offset=0)
    bench.run()
    assert bench.queues.faults == []
    assert bench.told() == (1, 1, 0, 600)


@st.composite
def _fields(draw, layout):
    """Values of up to four fields, but not of those that make it an FFTS+ entry."""
    known = [f for f in layout.named_fields if f.count is None and f.name not in ("type", "ffts_type")]
    chosen = draw(st.lists(st.sampled_from(known), unique_by=lambda f: f.name, max_size=4))
    return {f.name: draw(st.integers(0, (1 << f.width) - 1)) for f in chosen}


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_lead_to_anything_but_a_fault_or_a_run(mix_bench, data):
    """Entry and context with fields of any value: a fault with a code, or the kernel ran; never an exception."""
    bench = mix_bench(kernel_credit_us="10")
    slot, address = bench.launch(key=3)
    context, entry = (bench.device.layout(name) for name in ("FftsPlusMixAicAivCtx", "FftsPlusSqe"))
    bench.device.contexts.patch(address, data.draw(_fields(context)), context)
    bench.device.patch_sqe(bench.main.id, slot, data.draw(_fields(entry)), entry)
    bench.device.patch_sqe(bench.main.id, slot, {"kernel_credit": 1}, bench.device.layout("FftsPlusSqe"))
    bench.queues.run(bench.main)
    assert all(f.ts_code for f in bench.queues.faults)
    assert bench.queues.faults or bench.told()[3] >= 1
