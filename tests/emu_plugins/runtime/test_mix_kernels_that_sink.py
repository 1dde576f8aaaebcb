"""The whole way of a mix kernel whose tiling sinks: compiled, loaded as entry and context, patched, run, shown."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.trace import ContextPatched, TaskDone
from emu_plugins.kernels.mix_probe import OPERATOR
from formats.follow import follow
from tools.patch_table import show_patches

B3, P3 = "ascend910b3", "ascend310p3"
SLOT = 10


def _graph(probe_graph, **kwargs):
    return probe_graph(operator="MixProbe", **kwargs)


@pytest.fixture
def mix(lab, probe_graph):
    """A loaded model of one MixProbe of 40 elements."""

    def make(chip=B3, *, sink=True, **policies):
        return lab(chip, graph=_graph(probe_graph, sink=sink), **policies)

    return make


def _wanted(bench, n):
    """What MixProbe must give, by its reference."""
    chip = bench.device.chip
    assert OPERATOR.reference is not None
    return OPERATOR.reference({"x": np.zeros(40, np.float32), "n": np.array([n])}, {}, chip)["y"]


def _sqe(bench, slot=SLOT):
    layout = bench.device.layout("FftsPlusSqe")
    raw = bench.device.streams[0].queue.entry(slot)
    return layout.parse(raw) | {"at": layout.field("context_address_base").read(raw)}


def _context(bench, raw=None):
    layout = bench.device.layout("FftsPlusMixAicAivCtx")
    raw = bench.device.memory.read(_sqe(bench)["at"], 128) if raw is None else raw
    return {**layout.parse(raw), **{name: layout.field(name).read(raw) for name in layout.joined}}


def test_a_mix_kernel_is_loaded_as_entry_and_context(mix):
    """910B3: wait, reset, 8 NOPs, then the FFTS+ entry, its placeholder block dims and the context of key 0."""
    bench = mix()
    sqe, context = _sqe(bench), _context(bench)
    assert (sqe["type"], sqe["ffts_type"], sqe["sub_type"], sqe["block_dim"]) == (0, 4, 6, 0xFFFF)
    assert (sqe["total_context_num"], sqe["ready_context_num"], sqe["preload_context_num"]) == (1, 1, 1)
    assert sqe["at"] % 128 == 0
    assert (context["context_type"], context["thread_dim"], context["ns"], context["schem"]) == (6, 1, 1, 0)
    assert (context["non_tail_block_dim"], context["tail_block_dim"]) == (0xFFFF, 0xFFFF)
    assert (context["non_tail_block_ratio_n"], context["tail_block_ratio_n"]) == (2, 2)
    assert context["aic_task_param_ptr_offset"] == 8 * 5
    assert context["tail_aic_task_start_pc"] == context["non_tail_aic_task_start_pc"] != 0
    assert bench.device.journal.since(0) == ()
    assert bench.device.memory.protected_as(sqe["at"]) == "the mix context of op0"


def test_s19_the_update_names_the_context_of_its_target(mix):
    """S19: without a descriptor of the caller, its offset is that of the aligned context of the destination."""
    bench = mix()
    layout = bench.device.layout("PhModelTaskUpdateSqe")
    offset = layout.field("desc_buf_offset").read(bench.device.streams[1].queue.entry(1))
    assert bench.device.memory.address_of_offset(offset) == _sqe(bench)["at"]


def test_s20_the_update_of_a_plain_kernel_names_none(lab):
    """S20: 2^64 - 1 for the vector kernel of TilingProbe, and for a mix kernel on fused cores."""
    for bench in (lab(B3), lab(P3)):
        layout = bench.device.layout("PhModelTaskUpdateSqe")
        assert layout.field("desc_buf_offset").read(bench.device.streams[1].queue.entry(1)) == 2**64 - 1


def test_three_executions_follow_the_value(mix):
    """Keys 0, 3 and 2 of mix types 3, 4 and 2, on 5, 13 and 12 blocks: outputs, ring and context follow each time."""
    bench = mix()
    for n, key, kind, ratio in ((5, 0, 6, 2), (13, 3, 7, 1), (12, 2, 7, 0)):
        result = bench.run(n)
        assert result.ok
        assert result.hazards == ()
        np.testing.assert_array_equal(result.outputs["y0"], _wanted(bench, n))
        assert result.outputs["y0"][0] == 100 * key
        sqe, context = _sqe(bench), _context(bench)
        assert (sqe["block_dim"], sqe["sub_type"], context["context_type"]) == (n, kind, kind)
        assert (context["tail_block_dim"], context["non_tail_block_dim"]) == (n, n)
        assert (context["tail_block_ratio_n"], context["non_tail_block_ratio_n"]) == (ratio, ratio)
        patched = {e.tiling_key for e in result.trace if isinstance(e, ContextPatched)}
        assert patched == {key}
        assert {p.target for p in result.patches} == {"cell", "context", "sqe"}


def test_the_patch_stays_or_is_taken_back_before_the_next_run(mix):
    """Run 2 starts from run 1's entry and context; with `reexecute_keeps_patch=off` from what was loaded."""
    kept = mix()
    kept.run(13)
    before = [p.before for p in kept.run(12).patches if p.field == "tail_block_dim"]
    assert before == [13]
    fresh = mix(reexecute_keeps_patch="off")
    loaded = _context(fresh)
    fresh.run(13)
    result = fresh.run(12)
    assert result.ok
    changes = [(p.before, p.after, p.writer.engine) for p in result.patches if p.field == "tail_block_dim"]
    assert changes == [(13, 0xFFFF, "host"), (0xFFFF, 12, "task_update")]
    restored = {p.field for p in result.patches if p.writer.engine == "host" and p.target == "context"}
    assert {"context_type", "tail_block_ratio_n", "tail_aic_task_start_pc_l", "tail_aiv_task_start_pc_l"} <= restored
    assert loaded["context_type"] == 6


def test_a_fused_chip_keeps_one_plain_entry(mix):
    """310P3: no FFTS+, no context; the same operator runs and the update patches the AI Core entry."""
    bench = mix(P3)
    result = bench.run(13)
    assert result.ok
    np.testing.assert_array_equal(result.outputs["y0"], _wanted(bench, 13))
    assert bench.kernel_sqe()[1]["ffts_type"] == 5
    assert {p.target for p in result.patches} == {"cell", "sqe"}


def test_a_mix_kernel_scheduled_by_the_host(mix, probe_graph, lab):
    """An unknown shape has no rings: each launch writes its entry and its context on the plain stream."""
    graph = _graph(probe_graph, sink=False)
    graph["inputs"][0]["shape"] = [40]
    graph["options"] = {"ge.tiling_schedule_optimize": "0"}
    bench = lab(B3, graph=graph)
    for n in (5, 13, 12):
        result = bench.run(n)
        assert result.ok
        np.testing.assert_array_equal(result.outputs["y0"], _wanted(bench, n))
    assert [p for p in result.patches if p.target == "context"] == []


NOPS = [
    # N, start: context / with_sqe: context
    (0, "fresh", "stale"),
    (6, "fresh", "stale"),
    (7, "fresh", "fresh"),
]


@pytest.mark.parametrize(("nops", "at_start", "with_sqe"), NOPS)
@pytest.mark.parametrize("policy", ["start", "with_sqe"])
def test_a_context_is_stale_only_if_it_is_fetched_with_its_entry(mix, ids, nops, at_start, with_sqe, policy):
    """Prefetch depth 8: N + 2 > 8 is fresh. Behind fewer NOPs the entry is stale, and its context by policy only."""
    bench = mix(nop_count=nops, context_preload=policy, block_dim_placeholder="compiled")
    result = bench.run(13)
    wanted = at_start if policy == "start" else with_sqe
    assert result.ok
    y = result.outputs["y0"]
    if wanted == "fresh":
        np.testing.assert_array_equal(y, _wanted(bench, 13))
    else:
        assert y.max() == 19.5
    stale_entry = ["hazard.stale-prefetch"] * (nops < 7)
    stale_context = ["hazard.stale-prefetch"] * (wanted == "stale")
    assert ids(result.hazards) == stale_entry + stale_context
    if wanted == "stale":
        hazard = result.hazards[-1]
        at = _sqe(bench, nops + 2)["at"]
        assert hazard.detail["context"] == at
        assert f"the context at {at:#x} of the entry in slot {nops + 2} was rewritten" in hazard.what
        assert "tail_block_ratio_n" in hazard.what
        assert (hazard.detail["distance"], hazard.detail["missing"]) == (nops + 2, 8 + 1 - (nops + 2))


@pytest.mark.parametrize(("policy", "faults"), [("fault", ["hazard.stale-prefetch", "model.failed"]), ("refetch", [])])
def test_what_to_do_with_a_stale_context_is_a_policy(mix, ids, policy, faults):
    """`stale_prefetch` holds for contexts too: a fault (TS 0x106), or both are read again."""
    bench = mix(nop_count=0, context_preload="with_sqe", stale_prefetch=policy)
    result = bench.run(13)
    assert ids(result.faults) == faults
    if not faults:
        assert result.hazards == ()
        np.testing.assert_array_equal(result.outputs["y0"], _wanted(bench, 13))


def test_a_second_run_with_a_stale_context_repeats_the_first(mix):
    """S27 for mix with `with_sqe`: run 2 executes run 1's key and blocks on run 2's tiling data."""
    bench = mix(nop_count=0, context_preload="with_sqe", block_dim_placeholder="compiled")
    bench.run(13)
    result = bench.run(9)
    np.testing.assert_array_equal(result.outputs["y0"], _wanted(bench, 13))


def test_a_missed_update_is_the_placeholder_fault(mix, ids):
    """With the seed's placeholder a stale context starts with 0xFFFF blocks: FFTS+ exception 0x10F."""
    bench = mix(nop_count=0, context_preload="with_sqe")
    result = bench.run(13)
    assert ids(result.faults) == ["kernel.placeholder-block-dim", "model.failed"]
    assert (result.faults[0].ts_code, result.faults[0].acl_code) == (0x10F, 507049)


def test_the_dump_follows_the_entry_to_its_context(mix):
    """With memory at hand the entry leads to the context as the update left it."""
    bench = mix()
    bench.run(13)
    device = bench.device
    decoded = device.host.registry.decode("v100", device.streams[0].queue.entry(SLOT))
    (found,) = follow(decoded, device.memory.read)
    assert (found.role, found.record.struct.struct_name) == ("context 0", "FftsPlusMixAicAivCtx")
    assert (found.record.values["tail_block_dim"], found.record.values["context_type"]) == (13, 7)


def test_mix_kernels_share_cores_as_their_mix_says(mix):
    """Key 3 on 20 blocks of one vector and one cube core: one wave, so no waves in the trace."""
    bench = mix()
    result = bench.run(23)
    (done,) = [e for e in result.trace if isinstance(e, TaskDone) and e.kind == "kernel"]
    assert done.detail == "MixProbe key 3 block dim 20 AIV with 1 of the other kind"


@pytest.mark.parametrize(
    ("policy", "hazards", "faults"),
    [("hazard", ["update.after-consume"], []), ("fault", [], ["update.after-consume"]), ("ignore", [], [])],
)
@pytest.mark.parametrize("preload", ["start", "with_sqe"])
def test_an_update_after_the_mix_kernel_started(mix, ids, policy, hazards, faults, preload):
    """Record before update: the kernel runs compile-time key 0 on 20 blocks, entry and context are patched too late."""
    bench = mix(
        sink_run_order="picture",
        block_dim_placeholder="compiled",
        update_after_consume=policy,
        context_preload=preload,
    )
    result = bench.run(13)
    assert ids(result.hazards) == hazards
    assert ids(result.faults)[: len(faults)] == faults
    if not faults:
        assert result.outputs["y0"].max() == 19.5
        assert (_sqe(bench)["block_dim"], _context(bench)["tail_block_dim"]) == (13, 13)
        assert bench.device.streams[0].window.preloads == {}
    else:
        assert _context(bench)["tail_block_dim"] == 20


def test_the_table_of_patches_shows_the_context(mix, capsys, monkeypatch):
    """`sqemu run` lists patches with each program counter as one value, and says what lies in the context."""
    monkeypatch.setattr("tools.patch_table.columns", lambda: 200)
    monkeypatch.setattr("tools.fitted.columns", lambda: 200, raising=False)
    bench = mix()
    show_patches([bench.run(13)])
    lines = [line for line in capsys.readouterr().out.splitlines() if "context" in line]
    assert sum("context non_tail_aic_task_start_pc " in line for line in lines) == 1
    assert any("0:10" in line and "context tail_block_ratio_n" in line for line in lines)
