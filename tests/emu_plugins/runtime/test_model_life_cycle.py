"""A model over its life: inputs are checked, states follow, aborts clear, and equal runs are equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.device import Device
from emu_core.errors import InputError, LimitError
from emu_core.model import ModelState
from emu_core.trace import ModelPhase, Trace
from emu_plugins.runtime.sqes import Place, SqeBuilder
from formats.blob import TaskType

B3, P3 = "ascend910b3", "ascend310p3"


@pytest.mark.parametrize(
    ("changes", "id_", "what"),
    [
        ({"x": None}, "input.missing", "input 'x' is missing"),
        ({"x": np.zeros(40)}, "input.dtype", "has dtype float64, the graph says float32"),
        ({"x": np.zeros(40, ">f4")}, "input.dtype", "has dtype >f4"),
        ({"x": np.zeros(41, np.float32)}, "input.shape", "has shape [41], the graph says [40]"),
        ({"x": np.zeros((40, 1), np.float32)}, "input.shape", "has shape [40, 1]"),
        ({"x": [[1.0], [1.0, 2.0]]}, "input.array", "input 'x' is no array"),
    ],
)
def test_inputs_are_checked_before_anything_runs(lab, changes, id_, what):
    """A refused execution does not count, and the model stays ready."""
    bench = lab(P3)
    given = {"x": np.zeros(40, np.float32), "n": np.array([3], np.int32), **changes}
    with pytest.raises(InputError) as caught:
        bench.model.execute({k: v for k, v in given.items() if v is not None})
    assert caught.value.id == id_
    assert what in caught.value.what
    assert bench.model.executions == 0
    assert bench.run(3).run == 1


def test_other_arrays_are_ignored_and_layouts_do_not_matter(lab):
    """A strided array is copied in its logical order."""
    bench = lab(P3, graph=_adding())
    x = np.arange(80, dtype=np.float32)[::2]
    result = bench.model.execute({"x": x, "n": np.array([1], np.int32), "more": np.zeros(3)})
    np.testing.assert_array_equal(result.outputs["y0"], x + 100)


def _adding():
    return {
        "format": "sqemu-graph", "version": 1, "name": "p", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [
            {"name": "op0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y0"], "attrs": {"add_x": 1}}
        ],
        "outputs": ["y0"],
    }  # fmt: skip


def test_outputs_are_copies(lab):
    """Results of an earlier execution do not change with the next one."""
    bench = lab(P3)
    first = bench.run(3).outputs["y0"]
    kept = first.copy()
    bench.run(5)
    np.testing.assert_array_equal(first, kept)


def test_phases_and_states(lab):
    """Loaded, start, end for a clean run; failed after a fault, and ready again after an abort."""
    bench = lab(P3, nop_count=0)
    assert bench.model.state is ModelState.READY
    assert not bench.run(3).ok
    assert bench.model.state is ModelState.FAILED
    with pytest.raises(InputError, match="model p is failed") as caught:
        bench.run(3)
    assert (caught.value.id, caught.value.remedy) == ("model.busy", "abort it, or load it again")
    bench.model.abort()
    assert bench.model.state is ModelState.READY
    phases = [e.phase for e in bench.device.trace if isinstance(e, ModelPhase)]
    assert phases == ["loaded", "start", "failed"]


def test_after_an_abort_the_patched_entry_runs(lab, fill, ids):
    """The patch of the failed run is in the ring, so the next run is stale but has a block dim."""
    bench = lab(P3, nop_count=0)
    bench.run(5)
    bench.model.abort()
    result = bench.run(7)
    assert ids(result.hazards) == ["hazard.stale-prefetch"]
    np.testing.assert_array_equal(result.outputs["y0"], fill(2, 5))


def test_a_deadlock_can_be_aborted(lab):
    """Streams idle, flags cleared, caller free; the same deadlock comes again."""

    def no_record(blob):
        return replace(blob, tasks=tuple(t for t in blob.tasks if t.type != TaskType.EVENT_RECORD))

    bench = lab(P3, edit=no_record)
    first = bench.run(3)
    bench.model.abort()
    second = bench.run(3)
    assert [b.stream for b in first.deadlock.blocked] == [b.stream for b in second.deadlock.blocked] == [0, 2]
    assert second.deadlock.run == 2


def test_s51_a_model_that_still_runs_is_busy(lab, ids):
    """S51: a second execute entry while the first execution is under way ends with illegal parameter, error type 32."""
    bench = lab(P3)
    caller = bench.model.caller
    build = SqeBuilder(bench.device.host.registry, "v100")
    caller.queue.append(build.model_execute(Place(caller.id, 0), 0))
    result = bench.run(3)
    assert ids(result.faults) == ["model.busy"]
    fault = result.faults[0]
    assert (fault.ts_code, fault.error_type, fault.kind) == (0x4, 32, "model_execute")
    assert "stream 0 is in state polling_flag with head 0 and tail 9" in fault.what


def test_executing_a_model_that_does_not_exist_is_a_fault(lab, ids):
    """Model 7 was never loaded; in failure mode stop nothing behind it runs."""
    bench = lab(P3, failure_mode="stop")
    caller = bench.model.caller
    build = SqeBuilder(bench.device.host.registry, "v100")
    caller.queue.append(build.model_execute(Place(caller.id, 0), 7))
    assert ids(bench.run(3).faults) == ["model.unknown"]


def test_s52_the_model_ends_with_0x91_and_other_causes_keep_theirs(lab, ids):
    """S52: whatever failed inside, the waiting stream sees `model stream execution failed`."""
    for policies in ({"nop_count": 0}, {"nop_count": 0, "stale_prefetch": "fault"}):
        result = lab(P3, **policies).run(3)
        assert result.faults[1].id == "model.failed"
        assert (result.faults[1].ts_code, result.faults[1].acl_code) == (0x91, 507011)
        assert result.faults[0].id in result.faults[1].what


def test_two_models_on_one_device_do_not_disturb_each_other(lab, fill):
    """Each has its own streams, event, buffers and run numbers."""
    bench = lab(P3)
    other = bench.device.load(bench.blob)
    assert (bench.model.id, other.id) == (0, 1)
    given = {"x": np.zeros(40, np.float32)}
    for n in (3, 5):
        np.testing.assert_array_equal(bench.run(n).outputs["y0"], fill(n % 3, n))
        result = other.execute({**given, "n": np.array([n + 2], np.int32)})
        np.testing.assert_array_equal(result.outputs["y0"], fill((n + 2) % 3, n + 2))
        assert result.hazards == ()
    assert (bench.model.executions, other.executions) == (2, 2)


def test_a_launch_that_cannot_be_submitted_leaves_a_failed_model(lab, monkeypatch):
    """Whatever stops the launch, the model does not claim to be running."""
    bench = lab(P3)

    def full(*_):
        raise LimitError("SQ 2 is full", id="limit.sq-full")

    monkeypatch.setattr(bench.model.caller.queue, "append", full)
    with pytest.raises(LimitError):
        bench.run(3)
    assert bench.model.state is ModelState.FAILED
    monkeypatch.undo()
    bench.model.abort()
    assert bench.run(3).ok


def test_many_executions_wrap_the_callers_ring(lab, chip_like):
    """Two entries per execution in a ring of 16: the caller's ring is plain and wraps."""
    bench = lab(chip_like(P3, sq_depth=16, usable_tasks=12, cq_depth=4))
    for n in range(1, 30):
        result = bench.run(n)
        assert result.ok
        assert result.hazards == ()
    assert bench.model.caller.queue.next_task_id() == 58


@pytest.mark.parametrize("policies", [{}, {"nop_count": 0, "block_dim_placeholder": "compiled"}, {"nop_count": 0}])
@pytest.mark.parametrize("chip", [B3, P3])
def test_two_devices_with_one_program_are_equal(lab, chip, policies):
    """Traces, journals, hazards, faults, rings, device memory and outputs of two runs do not differ in a byte."""
    first, second = (lab(chip, **policies) for _ in range(2))
    for n in (5, 7):
        one, two = first.run(n), second.run(n)
        assert one.trace == two.trace
        assert one.patches == two.patches
        assert (one.hazards, one.faults, one.started, one.ended) == (two.hazards, two.faults, two.started, two.ended)
        assert {k: v.tobytes() for k, v in one.outputs.items()} == {k: v.tobytes() for k, v in two.outputs.items()}
        assert first.model.rings() == second.model.rings()
        assert first.model.executed() == second.model.executed()
        if not one.ok:
            break
    for mine, theirs in zip(first.device.memory.allocations(), second.device.memory.allocations(), strict=True):
        assert mine == theirs
        assert first.device.memory.read(mine.address, mine.size) == second.device.memory.read(
            theirs.address, theirs.size
        )


@pytest.mark.parametrize("policies", [{}, {"nop_count": 0}, {"nop_count": 0, "block_dim_placeholder": "compiled"}])
def test_a_device_without_trace_behaves_alike(lab, host, policies):
    """Recording nothing changes neither times nor reports nor outputs."""
    loud = lab(P3, **policies)
    device = Device(P3, None, host, trace=Trace(()))
    quiet = device.load(loud.blob)
    given = {"x": np.zeros(40, np.float32), "n": np.array([5], np.int32)}
    first, second = loud.run(5), quiet.execute(given)
    assert second.trace == ()
    assert (first.faults, first.hazards, first.patches) == (second.faults, second.hazards, second.patches)
    assert (first.started, first.ended) == (second.started, second.ended)
    assert {k: v.tobytes() for k, v in first.outputs.items()} == {k: v.tobytes() for k, v in second.outputs.items()}
    assert quiet.executed() == quiet.rings()


def test_a_deadlock_without_trace_is_reported_too(lab, host):
    """The report comes from the streams, not from events."""
    blob = lab(P3).blob
    blob = replace(blob, tasks=tuple(t for t in blob.tasks if t.type != TaskType.EVENT_RECORD))
    device = Device(P3, None, host, trace=Trace(()))
    result = device.load(blob).execute({"x": np.zeros(40, np.float32), "n": np.array([5], np.int32)})
    assert [b.stream for b in result.deadlock.blocked] == [0, 2]
