"""Models of the host API from creation to destruction, and what executions report (S47 to S53)."""

from __future__ import annotations

import struct

import pytest

from emu_core.errors import InputError, LimitError
from emu_core.model import ModelState
from emu_plugins.runtime import DEFAULT_FLAG, DeviceError, LaunchConfig, RuntimeApiError

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
CHIPS = [B3, P3, DAVID]


def refused(call, *arguments, **named):
    """Code and message class of a refused call."""
    with pytest.raises(RuntimeApiError) as caught:
        call(*arguments, **named)
    return caught.value.code, caught.value.message


def built(bench, *, nops=1, update=True):
    """Complete the model of `bench`: the work stream waits, launches a kernel and ends; the side stream releases it."""
    runtime = bench.runtime
    event = runtime.create_event()
    runtime.wait_event(bench.work, event)
    runtime.reset_event(event, bench.work)
    task = bench.launch(config=LaunchConfig(block_task_prefetch=nops))
    runtime.end_graph(bench.model, bench.work)
    if update:
        runtime.model_task_update(bench.work, task, bench.side, bench.para)
    runtime.record_event(event, bench.side)
    return runtime.load_complete(bench.model)


def y_of(bench):
    """Key and block dim that the kernel wrote to y."""
    y = int.from_bytes(bench.runtime.memcpy_to_host(bench.args + 16, 8), "little")
    return struct.unpack("<2f", bench.runtime.memcpy_to_host(y, 8))


def run(bench):
    """One execution from the calling stream."""
    bench.runtime.execute_model(bench.model, bench.caller)
    bench.runtime.synchronize_stream(bench.caller)


def test_s47_a_stream_is_bound_once(bound):
    """Bound again, to any model: 107005 with EE1007; it is unbound only from its own model (107005 with EE4002)."""
    bench = bound(B3)
    runtime, other = bench.runtime, bench.runtime.create_model()
    assert refused(runtime.bind_stream, bench.model, bench.work) == (107005, "EE1007")
    assert refused(runtime.bind_stream, other, bench.work) == (107005, "EE1007")
    assert refused(runtime.unbind_stream, other, bench.work) == (107005, "EE4002")
    runtime.unbind_stream(bench.model, bench.work)
    assert refused(runtime.unbind_stream, bench.model, bench.work) == (107005, "EE4002")
    runtime.bind_stream(other, bench.work)
    assert [s.id for s in other.streams] == [bench.work.id]


def test_s48_flag_0_is_a_head_stream(bound):
    """Flag 0 makes a head stream, the default flag does not: only head streams are activated by an execution."""
    bench = bound(B3, bind=False)
    bench.runtime.bind_stream(bench.model, bench.work, 0)
    bench.runtime.bind_stream(bench.model, bench.side, DEFAULT_FLAG)
    assert bench.model.heads == [bench.work]
    assert bench.model.streams == [bench.work, bench.side]
    core = built(bench)
    assert [s.id for s in core.head_streams] == [bench.work.id]


def test_s49_end_graph_needs_a_bound_stream(bound):
    """On a stream of no model, or of another one, it is 507000 and takes no notify; a second end is refused, too."""
    bench = bound(B3)
    runtime, free = bench.runtime, bench.runtime.create_stream()
    other = runtime.create_model()
    assert refused(runtime.end_graph, bench.model, free)[0] == 507000
    assert refused(runtime.end_graph, other, bench.work)[0] == 507000
    assert runtime.create_notify().id == 0
    runtime.end_graph(bench.model, bench.work)
    assert refused(runtime.end_graph, bench.model, bench.side)[0] == 507000


def test_an_end_that_finds_no_room_takes_no_notify(bound, chip_like):
    """The notify of a record that does not fit is given back."""
    bench = bound(chip_like(B3, usable_tasks=1))
    bench.runtime.launch_nop(bench.work)
    assert refused(bench.runtime.end_graph, bench.model, bench.work) == (507002, "EE1019")
    assert bench.model.end is None
    assert bench.runtime.create_notify().id == 0


def test_what_a_complete_model_needs(bound):
    """A stream (107005, EE1018), then an end of graph (507011, EE1018); complete twice is 507000."""
    bench = bound(B3)
    runtime, empty = bench.runtime, bench.runtime.create_model()
    assert refused(runtime.load_complete, empty) == (107005, "EE1018")
    assert refused(runtime.load_complete, bench.model) == (507011, "EE1018")
    assert refused(runtime.execute_model, bench.model, bench.caller) == (507011, "EE1018")
    assert refused(runtime.abort_model, bench.model) == (507011, "EE1018")
    runtime.end_graph(bench.model, bench.work)
    runtime.load_complete(bench.model)
    assert refused(runtime.load_complete, bench.model)[0] == 507000


@pytest.mark.parametrize("chip", CHIPS)
def test_each_execution_runs_what_the_update_says(bound, chip):
    """Key and block dim of the cells are those of the kernel, run by run; the ring keeps those of the last one."""
    bench = bound(chip)
    core = built(bench)
    for key, block_dim in ((2, 8), (0, 20), (4, 1)):
        bench.set_cells(key, block_dim)
        run(bench)
        assert y_of(bench) == (key, block_dim)
        assert core.state is ModelState.READY
    assert core.executions == 3
    assert not bench.device.hazards


def test_the_context_of_a_mix_kernel_is_patched(bound):
    """On A2 a mix kernel is an FFTS+ entry; the update changes the block dim in its context, not only in the entry."""
    bench = bound(B3, kernel="Mixed")
    built(bench)
    bench.set_cells(0, 6)
    run(bench)
    context = bench.work.launched[10].context
    layout = bench.device.layout("FftsPlusMixAicAivCtx")
    found = layout.parse(bench.runtime.memcpy_to_host(context, layout.size))
    assert (found["non_tail_block_dim"], found["tail_block_dim"]) == (6, 6)


def test_without_room_for_the_patch_the_old_values_run(bound, ids):
    """With no NOPs the kernel is in the fetch buffer: block dim 1 runs, and the hazard says why."""
    bench = bound(B3)
    built(bench, nops=0)
    bench.set_cells(2, 8)
    run(bench)
    assert y_of(bench) == (0, 1)
    assert ids(bench.device.hazards) == ["hazard.stale-prefetch"]


def test_s51_a_model_that_still_runs_is_busy(bound, ids):
    """Executed from two streams at once, the second execution fails on the device; the first one ends well."""
    bench = bound(B3)
    core, second = built(bench), bench.runtime.create_stream()
    bench.set_cells(1, 2)
    bench.runtime.execute_model(bench.model, bench.caller)
    bench.runtime.execute_model(bench.model, second)
    with pytest.raises(DeviceError, match="is busy") as caught:
        bench.runtime.synchronize_stream(second)
    assert ids(caught.value.faults) == ["model.busy"]
    assert [fault.ts_code for fault in caught.value.faults] == [0x4]
    assert core.executions == 2


def test_the_caller_whose_execution_failed_is_told(bound, ids):
    """Two callers, the second one busy: the first one's wait ends with 507011, although the second one came later."""
    bench = bound(B3)
    built(bench)
    second = bench.runtime.create_stream()
    bench.set_cells(99, 2)
    bench.runtime.execute_model(bench.model, bench.caller)
    bench.runtime.execute_model(bench.model, second)
    with pytest.raises(DeviceError, match="model m failed") as caught:
        bench.runtime.synchronize_stream(bench.caller)
    assert caught.value.code == 507011
    with pytest.raises(DeviceError, match="is busy"):
        bench.runtime.synchronize_stream(second)
    assert ids(bench.device.scheduler.faults) == ["model.busy", "update.unknown-key", "model.failed"]


def test_an_execution_that_does_not_fit_submits_nothing(bound, chip_like):
    """Model execute and its wait are submitted both or not at all."""
    bench = bound(chip_like(B3, sq_depth=16, usable_tasks=15))
    runtime, gate = bench.runtime, bench.runtime.create_notify()
    core = built(bench, nops=0)
    runtime.wait_notify(gate, bench.caller)
    for _ in range(13):
        runtime.launch_nop(bench.caller)
    assert refused(runtime.execute_model, bench.model, bench.caller) == (507002, "EE1019")
    assert (bench.caller.core.queue.pending, core.executions) == (14, 0)


def test_a_failed_model_reports_507011_and_needs_an_abort(bound, ids):
    """An unknown key: 507011 names the cause; the next execution is busy until the model was aborted."""
    bench = bound(B3)
    built(bench)
    bench.set_cells(99, 2)
    with pytest.raises(DeviceError) as caught:
        run(bench)
    assert caught.value.code == 507011
    assert "update.unknown-key" in caught.value.what
    assert ids(bench.device.scheduler.faults) == ["update.unknown-key", "model.failed"]
    with pytest.raises(DeviceError, match="busy"):
        run(bench)
    bench.runtime.abort_model(bench.model)
    bench.set_cells(3, 2)
    run(bench)
    assert y_of(bench) == (3, 2)


def test_a_model_that_waits_for_ever_is_reported(bound):
    """Nothing records the event: the synchronisation names the stream that waits; a limit gives the same code."""
    bench = bound(B3)
    runtime, event = bench.runtime, bench.runtime.create_event()
    runtime.wait_event(bench.work, event)
    runtime.end_graph(bench.model, bench.work)
    runtime.load_complete(bench.model)
    runtime.execute_model(bench.model, bench.caller)
    with pytest.raises(RuntimeApiError, match=r"never will be.*\(work\) task 0 .*waits for event 0") as caught:
        runtime.synchronize_stream(bench.caller)
    assert caught.value.code == 507046
    assert refused(runtime.synchronize_stream, bench.caller, 10)[0] == 507046
    assert refused(runtime.destroy_model, bench.model)[0] == 107037
    runtime.abort_model(bench.model)
    runtime.destroy_model(bench.model)


def test_an_abort_ends_all_calls(bound):
    """A model that waits for ever, called from two streams: after the abort both are idle, and it runs again."""
    bench = bound(B3)
    built(bench)
    second = bench.runtime.create_stream()
    bench.device.scheduler.pause(bench.side.core)
    bench.set_cells(2, 3)
    for caller in (bench.caller, second):
        bench.runtime.execute_model(bench.model, caller)
    assert refused(bench.runtime.synchronize_stream, bench.caller, 1)[0] == 507046
    bench.runtime.abort_model(bench.model)
    assert (bench.caller.core.queue.pending, second.core.queue.pending) == (0, 0)
    run(bench)
    assert y_of(bench) == (2, 3)


def test_a_destroyed_model_gives_everything_back(bound):
    """Id, notify and streams can be used again; the handle cannot."""
    bench = bound(B3)
    built(bench)
    runtime = bench.runtime
    runtime.destroy_model(bench.model)
    assert refused(runtime.execute_model, bench.model, bench.caller)[0] == 107017
    assert bench.device.models == {}
    assert runtime.create_model().id == bench.model.id
    assert runtime.create_notify().id == 0
    runtime.launch_nop(bench.work)
    runtime.synchronize_stream(bench.work)
    runtime.destroy_stream(bench.work)
    assert runtime.create_stream().id == bench.work.id


def test_models_run_out(api):
    """The 2049th model is 207010 with EE1023."""
    runtime = api(B3)
    made = [runtime.create_model() for _ in range(2048)]
    assert refused(runtime.create_model) == (207010, "EE1023")
    runtime.destroy_model(made[7])
    assert runtime.create_model().id == 7


def test_the_calling_stream_must_be_plain(bound):
    """A model is not executed from a stream of a model; `Model.execute` needs a caller that was named."""
    bench = bound(B3)
    core = built(bench)
    assert refused(bench.runtime.execute_model, bench.model, bench.side)[0] == 107005
    with pytest.raises(RuntimeApiError, match="has no calling stream"):
        core.execute({})


def test_a_stream_that_was_used_cannot_be_bound(bound):
    """Its old tasks would be executed again."""
    bench = bound(B3, bind=False)
    bench.runtime.launch_nop(bench.work)
    assert refused(bench.runtime.bind_stream, bench.model, bench.work) == (107005, "EE1007")


def test_more_sunk_tasks_than_the_chip_keeps(bound, chip_like):
    """They are counted when the model is complete: 207005, and the limit's own id."""
    bench = bound(chip_like(B3, persistent_tasks=2))
    for _ in range(2):
        bench.runtime.launch_nop(bench.work)
    bench.runtime.end_graph(bench.model, bench.work)
    with pytest.raises(LimitError) as caught:
        bench.runtime.load_complete(bench.model)
    assert (caught.value.code, caught.value.id) == (207005, "limit.persistent-tasks")


def test_s53_the_failure_mode_cannot_be_taken_back(bound):
    """Stop, then continue is 207000; a failing task then aborts everything, and the next submission is 107023."""
    bench = bound(B3)
    runtime = bench.runtime
    runtime.set_device_failure_mode(0)
    runtime.set_device_failure_mode(1)
    assert refused(runtime.set_device_failure_mode, 0) == (207000, "EE1005")
    assert refused(runtime.set_device_failure_mode, 2) == (107000, "EE1003")
    stream = runtime.create_stream()
    assert stream.core.stops
    runtime.launch_kernel(runtime.get_function(bench.program, 0), 0xFFFF, stream, bench.args)
    runtime.launch_nop(stream)
    with pytest.raises(DeviceError) as caught:
        runtime.synchronize_stream(stream)
    assert caught.value.id == "kernel.placeholder-block-dim"
    tail = stream.core.queue.tail
    with pytest.raises(InputError) as caught:
        runtime.launch_nop(stream)
    assert (caught.value.code, caught.value.id, stream.core.queue.tail) == (107023, "stream.aborted", tail)
    assert refused(runtime.synchronize_stream, stream)[0] == 107023


def test_the_last_error_hides_the_first(bound, ids):
    """In mode continue a stream goes on; synchronising gives the code of the last task that failed, and all faults."""
    bench = bound(B3)
    runtime, stream = bench.runtime, bench.runtime.create_stream()
    runtime.launch_kernel(runtime.get_function(bench.program, 0), 0xFFFF, stream, bench.args)
    runtime.launch_aicpu("nobody.so", "nothing", stream, bench.args)
    runtime.launch_nop(stream)
    with pytest.raises(DeviceError, match="2 tasks failed, this is the last") as caught:
        runtime.synchronize_stream(stream)
    assert caught.value.code == 507018
    assert ids(caught.value.faults) == ["kernel.placeholder-block-dim", "aicpu.unknown-function"]
    runtime.synchronize_stream(stream)
