"""Everything that comes from outside, recorded and replayed, also of faulty runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import Device, DeviceFault, InputError, SqemuError, compile_graph
from emu_core.snapshot import contract
from emu_core.snapshot.recording import Recorder, Replayed, load_recording
from emu_core.snapshot.travel import TimeTravel
from emu_plugins.runtime import Runtime
from tools.demo.scene import demo_graph, demo_inputs


@pytest.fixture(scope="module")
def blob(host):
    """The demo graph."""
    return compile_graph(demo_graph(sink=True), "ascend310p3", plugins=host)


@pytest.fixture
def recorder(host):
    """A recorder on a new 310P3."""
    return Recorder(Device("ascend310p3", plugins=host))


def same(recorder, tmp_path, host):
    """Replays, of the recording and of its file, agree with the device; gives the recording."""
    recording = recorder.recording()
    recording.save(tmp_path / "run.rec")
    whole = contract.fingerprint(recorder.real)
    for each in (recording, load_recording(tmp_path / "run.rec", host)):
        found = contract.fingerprint(each.replay())
        assert [part for part in whole if whole[part] != found[part]] == []
    return recording


def test_loading_executing_and_writing(recorder, blob, tmp_path, host):
    """A model is loaded and executed, memory is written, entries are appended: all of it again, to the byte."""
    device = recorder.device
    model = device.load(blob)
    assert model.execute(demo_inputs(0)).ok
    device.memory.write(model.inputs[0].address, b"abcd")
    stream = device.create_stream("own", bound=False)
    stream.queue.append(device.layout("PhSqe").build({"type": 3, "task_type": 0}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    recording = same(recorder, tmp_path, host)
    names = [operation.name for operation in recording.operations]
    assert names[:2] == ["load", "execute"]
    assert {"write", "append", "ring_doorbell"} <= set(names)


def test_calls_of_the_host_api(recorder, tmp_path, host):
    """A `Runtime` over the stand-in: its calls are replayed without it."""
    runtime = Runtime(recorder.device)
    stream, notify, event = runtime.create_stream(), runtime.create_notify(), runtime.create_event()
    runtime.record_notify(notify, stream)
    runtime.wait_notify(notify, stream)
    runtime.record_event(event, stream)
    address = runtime.malloc(64)
    runtime.memcpy_to_device(address, bytes(range(64)))
    runtime.synchronize_stream(stream)
    same(recorder, tmp_path, host)


def test_what_host_functions_do_is_replayed_without_them(recorder, tmp_path, host, entries):
    """A function writes memory and refuses its third call: the replay writes and fails the same, and calls nobody."""
    device, calls = recorder.device, []
    room = device.memory.allocate(16, label="room").address

    def function(data):
        calls.append(data)
        device.memory.write(room + data, bytes([data]))
        if data == 3:
            raise DeviceFault("not three", ts_code=0x2A, id="mine.three")

    device.host_functions[0x5000] = function
    stream = device.create_stream("s", bound=False)
    for data in (1, 2, 3):
        values = {"type": 1, "kernel_type": 127, "topic_id": 26, "is_block": 1, "hostfunc_addr": 0x5000, "fndata": data}
        header = {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}
        stream.queue.append(device.layout("HostfuncCallbackSqe").build({**header, **values}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    same(recorder, tmp_path, host)
    assert calls == [1, 2, 3]
    assert [fault.id for fault in recorder.real.scheduler.faults] == ["mine.three"]


def test_a_faulty_run_gives_the_same_report(recorder, blob, tmp_path, host):
    """Tiling cells that an update finds unknown keys in: the fault with its consequences is the same text."""
    device = recorder.device
    model = device.load(blob)
    stream = recorder.real.models[0].streams[0]
    find, queue = recorder.real.dispatch.find, stream.queue
    slot = next(s for s in range(queue.tail) if find(queue.entry(s)).kind == "kernel")
    layout = recorder.real.layout("AicoreKernelSqe")
    device.patch_sqe(stream.id, slot, {"param_addr_low": 0}, layout)
    result = model.execute(demo_inputs(0))
    assert not result.ok
    recording = same(recorder, tmp_path, host)
    texts = [[fault.text() for fault in each.scheduler.faults] for each in (recorder.real, recording.replay())]
    assert texts[0] == texts[1]
    assert texts[0]


def test_a_recording_in_single_steps(recorder, blob, host):
    """As a session it goes forward and back: each position is one state, and the end is the recorded device's."""
    device = recorder.device
    model = device.load(blob)
    with pytest.raises(InputError):
        model.execute({})
    model.execute(demo_inputs(0))
    device.memory.write(model.inputs[0].address, b"abcd")
    model.execute(demo_inputs(1))
    stream = device.create_stream("own", bound=False)
    stream.priority = 3
    device.host_functions[0x5000] = lambda data: device.memory.write(model.inputs[1].address, bytes([data]))
    values = {"type": 1, "kernel_type": 127, "topic_id": 26, "is_block": 1, "hostfunc_addr": 0x5000, "fndata": 7}
    for _ in range(3):
        header = {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}
        stream.queue.append(device.layout("HostfuncCallbackSqe").build({**header, **values}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    recording = recorder.recording()
    copy = recording.start.fork()
    travel = TimeTravel(copy, Replayed(copy, recording), every=17)
    travel.proceed()
    whole = contract.fingerprint(recorder.real)
    assert contract.fingerprint(copy) == whole
    # load, three executions, a write, a stream, its priority, a function, three ids and entries, doorbell, run
    assert travel.session.summary() == "16 of 16 operations of the recording were done"
    travel.run_to(60)
    middle = contract.fingerprint(copy)
    travel.run_to(20)
    travel.run_to(60)
    assert contract.fingerprint(copy) == middle
    travel.run_to(10**6)
    assert contract.fingerprint(copy) == whole


def test_refused_calls_are_part_of_it(recorder, blob, tmp_path, host):
    """An execution without inputs is refused when it is recorded and when it is replayed."""
    model = recorder.device.load(blob)
    with pytest.raises(InputError):
        model.execute({})
    recording = same(recorder, tmp_path, host)
    assert recording.operations[-1].outcome.startswith("InputError: input query")


def test_a_difference_is_named(recorder, tmp_path):
    """When an operation gives something else than it gave, the replay says which one."""
    recorder.device.create_event()
    recording = recorder.recording()
    wrong = replace(recording, operations=(replace(recording.operations[0], outcome=5),))
    with pytest.raises(InputError) as caught:
        wrong.replay()
    assert (caught.value.id, caught.value.where) == ("replay.differs", "operation 0")


def test_arrays_are_kept_as_they_were(recorder, blob, tmp_path, host):
    """An array that the host program changes after the call is replayed with its old values."""
    inputs = {name: np.array(value) for name, value in demo_inputs(0).items()}
    model = recorder.device.load(blob)
    model.execute(inputs)
    for array in inputs.values():
        array.fill(0)
    same(recorder, tmp_path, host)


@pytest.mark.parametrize("cut", [0, 3, 8, 20, 200, -1, -40])
def test_damaged_recordings(recorder, tmp_path, host, cut):
    """A recording that was cut anywhere is refused."""
    recorder.device.create_event()
    path = tmp_path / "run.rec"
    recorder.recording().save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SqemuError) as caught:
        load_recording(path, host)
    assert caught.value.id in ("snapshot.damaged", "snapshot.file")
