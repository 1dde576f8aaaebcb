"""Streams of models: waiting for them, and that a complete model takes no more."""

from __future__ import annotations

import pytest

from emu_core import Device
from emu_plugins.runtime import DeviceError, LaunchConfig, Runtime, RuntimeApiError

CHIPS = ("ascend310p3", "ascend910b3", "ascend950pr_9599")


@pytest.fixture
def late_fault(bound):
    """A complete model whose end comes at once, and whose side stream updates a NOP: a fault, but a later one."""

    def make(chip):
        lab = bound(chip)
        nop = lab.runtime.launch_nop(lab.work)
        lab.runtime.end_graph(lab.model, lab.work)
        lab.runtime.model_task_update(lab.work, nop, lab.side, lab.para)
        lab.runtime.load_complete(lab.model)
        return lab

    return make


@pytest.mark.parametrize("chip", CHIPS)
def test_a_stream_of_a_model_is_waited_for(late_fault, chip):
    """The end of graph does not end the side stream: synchronising it lets it run, and reports its fault."""
    lab = late_fault(chip)
    lab.runtime.execute_model(lab.model, lab.caller)
    lab.runtime.synchronize_stream(lab.caller)
    with pytest.raises(DeviceError) as error:
        lab.runtime.synchronize_stream(lab.side)
    assert [fault.stream for fault in error.value.faults] == [lab.side.id]


def test_a_stream_of_a_model_drives_the_execution_that_waits(late_fault):
    """Synchronising the work stream right after the call runs the whole execution."""
    lab = late_fault("ascend910b3")
    lab.runtime.synchronize_stream(lab.work)
    assert lab.device.clock.now == 0
    lab.runtime.execute_model(lab.model, lab.caller)
    lab.runtime.synchronize_stream(lab.work)
    assert lab.caller.core.queue.pending == 0


def test_a_stream_of_a_model_that_waits_for_ever_is_reported(bound):
    """A side stream that waits for a notify nobody records is 507046, though the execution is over."""
    lab = bound()
    lab.runtime.end_graph(lab.model, lab.work)
    lab.runtime.wait_notify(lab.runtime.create_notify(), lab.side)
    lab.runtime.load_complete(lab.model)
    lab.runtime.execute_model(lab.model, lab.caller)
    lab.runtime.synchronize_stream(lab.caller)
    for limit in (-1, 1):
        with pytest.raises(RuntimeApiError) as error:
            lab.runtime.synchronize_stream(lab.side, limit)
        assert error.value.code == 507046


def test_a_model_that_is_being_built_is_not_waited_for(bound):
    """Nothing of an incomplete model runs, so that synchronising one of its streams is 107005."""
    lab = bound()
    with pytest.raises(RuntimeApiError, match="which is not complete") as error:
        lab.runtime.synchronize_stream(lab.work)
    assert error.value.code == 107005


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    "call",
    [
        lambda lab: lab.launch(),
        lambda lab: lab.launch(config=LaunchConfig(block_task_prefetch=1)),
        lambda lab: lab.runtime.launch_nop(lab.side),
        lambda lab: lab.runtime.launch_aicpu("l", "f", lab.side, lab.args),
        lambda lab: lab.runtime.record_event(lab.runtime.create_event(), lab.side),
        lambda lab: lab.runtime.wait_notify(lab.runtime.create_notify(), lab.side),
        lambda lab: lab.runtime.model_task_update(lab.work, 0, lab.side, lab.para),
        lambda lab: lab.runtime.bind_stream(lab.model, lab.runtime.create_stream()),
    ],
)
def test_a_complete_model_takes_no_more(bound, chip, call):
    """After load complete submissions and bindings are 107005 with the call's name; executions go on as before."""
    lab = bound(chip)
    lab.launch(key=2, block_dim=3)
    lab.runtime.end_graph(lab.model, lab.work)
    lab.runtime.load_complete(lab.model)
    tails, used = [s.core.queue.tail for s in (lab.work, lab.side)], lab.device.memory.used
    with pytest.raises(RuntimeApiError, match="is complete") as error:
        call(lab)
    assert (error.value.code, bool(error.value.function)) == (107005, True)
    assert [s.core.queue.tail for s in (lab.work, lab.side)] == tails
    assert lab.device.memory.used - used < 1 << 20
    for _ in range(2):
        lab.runtime.execute_model(lab.model, lab.caller)
        lab.runtime.synchronize_stream(lab.caller)


@pytest.mark.parametrize("timeout_ms", [-1, 1, 5000])
def test_a_limit_does_not_hide_the_failure_of_a_model(timeout_ms):
    """A kernel that faults long before the limit ends the caller with the model's failure, not with a timeout."""
    runtime = Runtime(Device("ascend910b3"))
    program, model = runtime.register_program("TilingProbe"), runtime.create_model()
    work, caller = runtime.create_stream(), runtime.create_stream()
    runtime.bind_stream(model, work)
    nowhere = runtime.arguments([0, 0, 0x1234, 0x1234, 0x1234])
    runtime.launch_kernel(runtime.get_function(program), 1, work, nowhere)
    runtime.end_graph(model, work)
    runtime.load_complete(model)
    runtime.execute_model(model, caller)
    with pytest.raises(DeviceError, match=r"memory\.bounds") as caught:
        runtime.synchronize_stream(caller, timeout_ms)
    assert caught.value.code == 507011
