"""Run N steps, save, run M, restore, run M: the same to the byte, for a program of every engine."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core import Acts, DeviceFault, Handler, InputError, PluginError, PluginHost, Run, hookimpl
from emu_core.snapshot import contract
from emu_core.snapshot.image import decoded, take

NAMES = (
    "demo", "demo-on-host", "late-events", "faulty", "mix", "mix-v200", "super-kernel", "flags", "counted",
    "conditions", "callbacks", "edu",
)  # fmt: skip
SOME = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", NAMES)
@SOME
@given(before=st.integers(0, 120), after=st.integers(0, 120), lanes=st.booleans())
def test_a_snapshot_and_its_file_go_on_as_the_run_does(program, name, before, after, lanes):
    """Memory, rings, journal, trace, faults, hazards, time and flags are those of the uninterrupted run."""
    device, session = program(name)
    device.scheduler.lanes.on = lanes and device.scheduler.lanes.on
    assert contract.differences(device, session, before, after) == {"file": (), "back": ()}


@SOME
@given(before=st.integers(0, 60))
def test_a_copy_ends_like_a_run_that_nobody_looked_at(program, before):
    """A fork of queues that run ahead, taken at any step, ends with the bytes of a run without snapshots."""
    whole, session = program("flags")
    whole.scheduler.run_until_idle()
    device, session = program("flags")
    contract.run_steps(device, session, before)
    copy = device.fork()
    copy.scheduler.run_until_idle()
    assert contract.fingerprint(copy) == contract.fingerprint(whole)


def test_a_fork_is_independent(program):
    """What happens on the copy leaves memory, journal and streams of the device alone."""
    device, session = program("demo")
    model = session.model
    before = contract.fingerprint(device)
    copy = device.fork()
    twin = copy.models[model.id]
    result = twin.execute(session.inputs[0])
    assert result.ok
    assert contract.fingerprint(device) == before
    assert model.execute(session.inputs[0]).trace == result.trace


def test_restoring_keeps_the_objects_of_the_host_program(program):
    """Model, streams and memory are the same objects after a restore, in the state of the snapshot."""
    device, session = program("demo")
    model, stream, memory = session.model, session.model.streams[0], device.memory
    snapshot = device.snapshot()
    first = model.execute(session.inputs[0])
    device.restore(snapshot)
    assert (device.models[model.id], device.streams[stream.id], device.memory) == (model, stream, memory)
    assert (model.executions, stream.queue.head, device.clock.now) == (0, 0, 0)
    assert model.execute(session.inputs[0]).trace == first.trace


def test_restoring_forgets_memory_that_was_taken_later(program):
    """An allocation made after the snapshot is gone, one that was freed is back with its bytes."""
    device, _ = program("callbacks")
    room = device.memory.allocate(100, label="kept").address
    device.memory.write(room, b"before")
    snapshot = device.snapshot()
    device.memory.write(room, b"after!")
    device.memory.free(room)
    later = device.memory.allocate(100, label="later").address
    snapshot.restore()
    assert device.memory.read(room, 8) == b"before\0\0"
    assert device.memory.find(later) is None


def test_a_snapshot_in_a_step_is_refused(program):
    """A host function that the device calls cannot take one: `snapshot.running`."""
    device, _ = program("callbacks")
    device.host_functions[0x5000] = lambda _data: device.snapshot()
    with pytest.raises(InputError) as caught:
        device.scheduler.run_until_idle()
    assert caught.value.id == "snapshot.running"


def test_a_snapshot_of_another_chip_is_refused(program):
    """Restoring a snapshot of a 910B3 on a 310P3 is an error, and changes nothing."""
    one, _ = program("flags")
    two, _ = program("demo")
    before = contract.fingerprint(two)
    with pytest.raises(InputError) as caught:
        two.restore(one.snapshot())
    assert caught.value.id == "snapshot.device"
    assert contract.fingerprint(two) == before


def test_a_loaded_snapshot_goes_into_a_device_in_place(program, host):
    """The device's own model executes from the loaded state."""
    device, session = program("demo")
    model = session.model
    raw = device.snapshot().encoded()
    first = model.execute(session.inputs[0])
    device.restore(decoded(raw, host))
    assert device.models[model.id] is model
    assert model.execute(session.inputs[0]).trace == first.trace


def test_snapshots_beside_each_other_share_what_is_the_same(program):
    """The second of two snapshots without a step between them needs no byte of memory of its own."""
    device, session = program("demo")
    contract.run_steps(device, session, 30)
    first = take(device, (session,), None)
    one = take(device, (session,), first)
    two = take(device, (session,), one)
    own = [id(p) for found in two.pieces.values() for p in found.values()]
    theirs = {id(p) for found in one.pieces.values() for p in found.values()}
    assert own
    assert theirs.issuperset(own)


# ---- engines of others -------------------------------------------------------------------------------------------

COUNTED: list[int] = []
TYPE = 40


class _Engine:
    """A plugin whose one kind of entry is given by a test."""

    def __init__(self, start):
        self.start = start

    @hookimpl
    def sqemu_engines(self, device):
        """One handler of SQE type 40."""
        return (Handler("mine", "own", TYPE, lambda task: self.start(device, task)),)


@pytest.fixture
def run_of(entries_of):
    """A stream of four such entries."""

    def make(start):
        made = entries_of(PluginHost([_Engine(start)]))
        stream = made.stream()
        for _ in range(4):
            stream.queue.append(bytes([TYPE]) + bytes(63))
        return made.ring()

    return make


def test_a_lambda_of_an_engine_is_kept(run_of):
    """The effect of an entry in flight may be a closure: its code and its variables are in the file."""

    def start(device, task):
        room = device.memory.allocate(4, label="room").address
        return Run(50, lambda: device.memory.write(room, bytes([task.slot] * 4)))

    device, session = run_of(start)
    assert contract.differences(device, session, 5, 10) == {"file": (), "back": ()}


def test_state_in_the_engine_s_own_object_is_kept(run_of):
    """A counter that the handler's functions share goes back with the device."""

    def start(device, _task):
        counts = device.__dict__.setdefault("mine", [])
        counts.append(len(counts))
        return Run(50 + len(counts))

    device, session = run_of(start)
    assert contract.differences(device, session, 3, 10) == {"file": (), "back": ()}


def test_state_in_a_global_is_found(run_of):
    """A counter in the module goes on counting in the copy: the times differ, and the error names the plugin."""

    def start(_device, _task):
        COUNTED.append(1)
        return Run(50 + len(COUNTED))

    device, session = run_of(start)
    with pytest.raises(PluginError, match="trace") as caught:
        contract.require(device, session, 3, 10)
    assert caught.value.id == "snapshot.contract"
    assert "_Engine" in caught.value.where


@pytest.mark.parametrize("keep", [lambda: iter([1]), lambda: (n for n in range(3))])
def test_what_cannot_be_kept_is_named(run_of, keep):
    """An iterator or a generator in an entry's effect: the error names engine, kind, plugin and the way."""

    def start(_device, _task):
        thing = keep()
        opened.append(thing)
        return Run(50, lambda: next(thing))

    opened = []
    device, session = run_of(start)
    contract.run_steps(device, session, 1)
    with pytest.raises(PluginError) as caught:
        device.snapshot()
    error = caught.value
    assert error.id == "snapshot.unkeepable"
    assert "engine mine, kind own" in error.where
    assert "variable thing" in error.what
    assert "functools.partial" in error.remedy


def test_a_fault_in_flight_is_kept(run_of):
    """An effect that will fail fails in the copy, too, with the same report."""

    def start(_device, task):
        def finish():
            raise DeviceFault(f"no {task.slot}", ts_code=0x26, id="mine.no")

        return Run(50, finish)

    device, session = run_of(start)
    assert contract.differences(device, session, 2, 30) == {"file": (), "back": ()}
    assert device.scheduler.faults[0].id == "mine.no"


def test_a_plan_of_its_own_is_kept(entries_of):
    """Entries that act by a plan, ahead of the clock, and their engine's object."""

    class _Planned:
        """Counts in its own object."""

        def __init__(self):
            self.seen = []

        def act(self, task):
            """One more."""
            self.seen.append(task.slot)
            task.device.memory.write(self.room, len(self.seen).to_bytes(4, "little"))

        @hookimpl
        def sqemu_engines(self, device):
            """Acts after 50 ns."""
            self.room = device.memory.allocate(4, label="count").address
            plan = Acts(50, self.act)
            return (Handler("mine", "own", TYPE, lambda task: Run(50, lambda: self.act(task)), plan=plan),)

    made = entries_of(PluginHost([_Planned()]))
    stream = made.stream()
    for _ in range(40):
        stream.queue.append(bytes([TYPE]) + bytes(63))
    device, _ = made.ring()
    snapshot = device.snapshot()
    device.scheduler.run_until_idle()
    whole = contract.fingerprint(device)
    snapshot.restore()
    device.scheduler.run_until_idle()
    assert contract.fingerprint(device) == whole
