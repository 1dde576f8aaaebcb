"""Steps forward and back, stops, and the budget for snapshots on the way."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core import InputError
from emu_core.snapshot import contract
from emu_core.snapshot.session import Idle
from emu_core.snapshot.stops import AtTask, OfFault, OfField, OfFlag, OfHazard, OfKey, OfKind, OfPatch
from emu_core.snapshot.travel import TimeTravel
from emu_core.trace import FaultRaised, HazardFound, Patched

SOME = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ended(travel):
    """Go to the end; its position."""
    travel.proceed()
    assert travel.position == travel.end
    return travel.end


def test_a_step_is_one_planned_action(entries):
    """Three NOPs: a step in which the first starts, then two for each: it ends, and the next one is looked at."""
    made = entries()
    stream = made.stream()
    for _ in range(3):
        made.add(stream, "nop")
    device, session = made.ring()
    travel = TimeTravel(device, session)
    seen = []
    while travel.step():
        seen.append((travel.position, device.clock.now, stream.queue.head, stream.state.name))
    assert seen == [
        (1, 0, 0, "WORKING"), (2, 100, 1, "SLOT_ENABLE"), (3, 100, 1, "WORKING"), (4, 200, 2, "SLOT_ENABLE"),
        (5, 200, 2, "WORKING"), (6, 300, 3, "SLOT_ENABLE"), (7, 300, 3, "IDLE"),
    ]  # fmt: skip
    assert (travel.end, travel.step()) == (7, False)


@pytest.mark.parametrize("name", ["demo", "flags", "faulty", "conditions", "edu"])
@SOME
@given(goals=st.lists(st.integers(0, 250), min_size=1, max_size=6), every=st.integers(1, 60))
def test_each_position_is_one_state(program, name, goals, every):
    """However a position is reached, forward or back, the device is the same to the byte."""
    device, session = program(name)
    travel = TimeTravel(device, session, every=every)
    for goal in goals:
        travel.run_to(goal)
        plain, other = program(name)
        plain.scheduler.lanes.on = False
        assert travel.position == contract.run_steps(plain, other, goal)
        assert contract.fingerprint(device) == contract.fingerprint(plain)


def test_back_and_forth_over_the_ends(program):
    """Back from the start does nothing, beyond the end is the end, and results lie behind `done`."""
    device, session = program("demo")
    travel = TimeTravel(device, session, every=20)
    assert not travel.back()
    end = ended(travel)
    assert (session.done, sorted(session.results)) == (2, [0, 1])
    assert travel.back()
    assert (travel.position, session.done) == (end - 1, 1)
    travel.run_to(10**9)
    assert (travel.position, session.done) == (end, 2)
    travel.back(10**9)
    assert (travel.position, device.clock.now, session.done) == (0, 0, 0)
    with pytest.raises(InputError) as caught:
        travel.run_to(-1)
    assert caught.value.id == "travel.position"


def test_every_patch_is_found_forward_and_back(program):
    """Going forward from patch to patch, and back again, visits the same positions: those of the trace's patches."""
    device, session = program("demo")
    travel = TimeTravel(device, session, every=15)
    forth = []
    while (hit := travel.proceed((OfPatch(),))) is not None:
        forth.append(hit.position)
    times = sorted({event.time for event in device.trace if isinstance(event, Patched)})
    assert len(forth) == len(times) == 6
    back = []
    while (hit := travel.proceed_back((OfPatch(),))) is not None:
        back.append(hit.position)
    assert back == forth[::-1]
    assert travel.position == 0


def test_stops_hold_at_what_they_name(program):
    """Entries, kinds, flags, keys: each stop is hit first where the trace has its first such event."""
    for stop, words in (
        (AtTask(0, 7), "stream 0 task 7"), (OfKind("task_update"), "(task_update) starts"),
        (OfFlag("event 0"), "event 0"), (OfKey(1), "by stream"), (OfField(0, 7, "block_dim"), "block_dim: 0xffff -> "),
        (OfField(0, 7, by_slot=True), "AicoreKernelSqe"),
    ):  # fmt: skip
        device, session = program("demo")
        hit = TimeTravel(device, session).proceed((stop,))
        assert hit is not None
        assert (hit.stop, words in hit.why) == (stop, True)
    device, session = program("demo")
    assert TimeTravel(device, session).proceed((AtTask(9, 9), OfKind("no"), OfFlag("event 99"))) is None


def test_faults_and_hazards_stop(program):
    """A faulty kernel and a stale launch are stopped at, in the step in which they happen."""
    device, session = program("faulty")
    hit = TimeTravel(device, session).proceed((OfFault(),))
    fault = next(event for event in device.trace if isinstance(event, FaultRaised))
    assert hit is not None
    assert f"fault {fault.id}" in hit.why
    assert device.clock.now == fault.time
    device, session = program("demo")
    for stream in session.model.streams:
        stream.window.depth = 100
    hit = TimeTravel(device, session).proceed((OfHazard(),))
    assert hit is not None
    assert next(event for event in device.trace if isinstance(event, HazardFound)).time == device.clock.now


def test_back_to_the_last_write_of_a_field(program):
    """The position is right after the write; one step back undoes it; the entry names the writer."""
    device, session = program("demo")
    travel = TimeTravel(device, session, every=25)
    end = ended(travel)
    field = OfField(0, 7, "block_dim")
    last = [entry for entry in device.journal if field.wrote(entry)][-1]
    found = travel.back_to_write(field)
    assert found == last
    slot = device.streams[0].queue.slot_of[7]
    read = device.layout("AicoreKernelSqe").field("block_dim").read
    assert read(device.streams[0].queue.entry(slot)) == last.after
    assert travel.position < end
    travel.back()
    assert read(device.streams[0].queue.entry(slot)) == last.before
    assert travel.back_to_write(OfField(0, 7, "no_such_field")) is None


def test_snapshots_stay_within_their_budget(entries):
    """With a budget of 1 MiB older snapshots are thinned; the first stays, and every state is still reached."""
    made = entries()
    stream = made.stream()
    for _ in range(900):
        made.add(stream, "nop")
    device, session = made.ring()
    travel = TimeTravel(device, session, every=20, budget_mib=1)
    end = ended(travel)
    assert end == 1801
    assert travel.bytes <= 1 << 20
    assert travel.snapshots[0] == 0
    assert len(travel.snapshots) < end // 20
    travel.run_to(777)
    assert (device.clock.now, stream.queue.head) == (38800, 388)


def test_what_somebody_else_changes_ends_the_known_future(program):
    """After a change from outside, later snapshots are forgotten, and the run goes another way from here."""
    device, session = program("demo")
    travel = TimeTravel(device, session, every=10)
    ended(travel)
    travel.run_to(35)
    device.clock.advance(5)
    travel.changed()
    assert (travel.end, max(travel.snapshots)) == (None, 35)
    travel.step()
    travel.back()
    assert travel.position == 35


def test_a_plugin_that_raises_is_the_end(entries_of, host):
    """The error reaches the caller, the position stays, and going back is possible."""
    made = entries_of(host)
    stream = made.stream()
    made.add(stream, "nop")
    made.callback(stream, 1, block=1)
    made.device.host_functions[0x5000] = lambda _data: 1 // 0
    device, _ = made.ring()
    travel = TimeTravel(device, Idle(), every=2)
    from emu_core import PluginError

    with pytest.raises(PluginError):
        travel.proceed()
    assert (travel.position, travel.end) == (3, 3)
    assert travel.back(3)
    assert device.clock.now == 0


@pytest.mark.parametrize(("every", "budget"), [(0, 1), (1, 0)])
def test_numbers_that_make_no_sense(program, every, budget):
    """Snapshots every 0 steps, or within 0 MiB, are refused."""
    device, session = program("flags")
    with pytest.raises(InputError) as caught:
        TimeTravel(device, session, every=every, budget_mib=budget)
    assert caught.value.id == "travel.every"
