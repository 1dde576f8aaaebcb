"""What a host program reads beside return codes: hazards, first causes, names, time limits as they really are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from emu_plugins.runtime import DeviceError, LaunchConfig, RuntimeApiError, c_api

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "host_program.py"
NEVER_US = (1 << 64) - 1


def built(bench, *, nops=0):
    """A model: wait, reset and kernel on the work stream, update and record on the side stream."""
    runtime = bench.runtime
    event = runtime.create_event(name="patched")
    runtime.wait_event(bench.work, event)
    runtime.reset_event(event, bench.work)
    task = bench.launch(config=LaunchConfig(block_task_prefetch=nops))
    runtime.end_graph(bench.model, bench.work)
    runtime.model_task_update(bench.work, task, bench.side, bench.para)
    runtime.record_event(event, bench.side)
    runtime.load_complete(bench.model)


def run(bench, key=2, block_dim=3):
    """One execution; what its synchronisation gives."""
    bench.set_cells(key, block_dim)
    bench.runtime.execute_model(bench.model, bench.caller)
    return bench.runtime.synchronize_stream(bench.caller)


def test_a_synchronisation_gives_each_hazard_once(bound):
    """Without NOPs the kernel runs as it was fetched, and in the next run as the run before patched it."""
    bench = bound(B3)
    built(bench)
    first = run(bench)
    assert [(h.id, h.stream, h.run) for h in first] == [("hazard.stale-prefetch", bench.work.id, 1)]
    assert bench.runtime.synchronize_stream(bench.caller) == ()
    second = run(bench, key=3)
    assert {h.run for h in second} == {2}
    assert bench.runtime.hazards() == (*first, *second) == tuple(bench.device.hazards)


def test_a_program_with_its_nops_has_no_hazards(bound):
    """The empty tuple, from the call and from the whole run."""
    bench = bound(B3)
    built(bench, nops=1)
    assert run(bench) == ()
    assert bench.runtime.hazards() == ()


def test_the_program_of_the_page_without_its_nops_is_stale(monkeypatch):
    """What docs/host_api.md says of it: the first execution has `hazard.stale-prefetch`."""
    spec = importlib.util.spec_from_file_location("host_program_without_nops", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = []

    def remember(device):
        made.append(device)
        return runtime_class(device)

    runtime_class = module.Runtime
    monkeypatch.setattr(module, "Runtime", remember)
    monkeypatch.setattr(module, "LaunchConfig", lambda **_: LaunchConfig())
    module.main()
    assert ("hazard.stale-prefetch", 1) in {(hazard.id, hazard.run) for hazard in made[0].hazards}


def test_hazards_of_a_stream_are_its_own(bound):
    """Those of the work stream are not those of the side stream; a destroyed stream is refused."""
    bench = bound(B3)
    built(bench)
    run(bench)
    assert [h.stream for h in bench.runtime.hazards(bench.work)] == [bench.work.id]
    assert bench.runtime.hazards(bench.side) == ()
    plain = bench.runtime.create_stream()
    bench.runtime.destroy_stream(plain)
    with pytest.raises(RuntimeApiError) as caught:
        bench.runtime.hazards(plain)
    assert caught.value.code == 107017


def test_forgotten_history_does_not_hide_later_hazards(bound):
    """After `clear_history` the next synchronisation gives what came since."""
    bench = bound(B3)
    built(bench)
    run(bench)
    bench.device.clear_history()
    assert len(run(bench, key=3)) == len(bench.device.hazards) == len(bench.runtime.hazards()) > 0


def test_codes_stay_codes(bound):
    """The function of the C-like interface returns a status, whatever hazards there are."""
    bench = bound(B3)
    built(bench)
    bench.set_cells(2, 3)
    bench.runtime.execute_model(bench.model, bench.caller)
    assert c_api.rt_stream_synchronize(bench.caller) == 0
    assert len(bench.runtime.hazards()) == 1


def test_the_first_cause_comes_first(bound):
    """The caller gets 507011; the update that failed is the first of the faults, and the text names it."""
    bench = bound(B3)
    built(bench, nops=1)
    with pytest.raises(DeviceError) as caught:
        run(bench, key=77)
    error = caught.value
    assert error.code == 507011
    assert [fault.id for fault in error.faults] == ["update.unknown-key", "model.failed"]
    assert f"the first cause is stream {bench.side.id} task" in error.what
    assert error.hazards == ()


def test_faults_of_other_streams_are_not_told(bound):
    """A stream that executed nothing reports its own failure alone."""
    bench = bound(B3)
    built(bench, nops=1)
    bench.set_cells(77, 1)
    bench.runtime.execute_model(bench.model, bench.caller)
    plain = bench.runtime.create_stream()
    bench.runtime.launch_aicpu("no.so", "Nothing", plain, bench.args)
    with pytest.raises(DeviceError) as caught:
        bench.runtime.synchronize_stream(plain)
    assert [fault.stream for fault in caught.value.faults] == [plain.id]


def test_what_never_comes_is_no_matter_of_patience(api):
    """With and without a limit: nothing is left to do, so the text does not say to wait longer."""
    runtime = api(B3)
    stream, notify = runtime.create_stream(name="alone"), runtime.create_notify()
    runtime.wait_notify(notify, stream)
    for limit in (-1, 10):
        with pytest.raises(RuntimeApiError, match="never will be") as caught:
            runtime.synchronize_stream(stream, limit)
        assert caught.value.code == 507046
        assert "no use" in caught.value.remedy
        assert "or wait longer" not in str(caught.value)


def test_what_takes_longer_is(api):
    """An entry that still runs when the limit is over: wait longer."""
    runtime = api(B3)
    stream = runtime.create_stream()
    for _ in range(11):
        runtime.submit(stream, lambda place: runtime.build.event_record(place, 1))
    with pytest.raises(RuntimeApiError, match="is not done in time") as caught:
        runtime.synchronize_stream(stream, 0)
    assert caught.value.remedy.startswith("wait longer")
    assert runtime.synchronize_stream(stream) == ()


def test_handles_have_names(api):
    """Given where they are created; a function has its program's, with the key."""
    runtime = api(DAVID)
    stream, event = runtime.create_stream(name="work"), runtime.create_event(name="patched")
    notify, counted = runtime.create_notify(name="done"), runtime.create_counted_notify(name="steps")
    program = runtime.register_program("TilingProbe")
    handles = (stream, event, notify, counted, runtime.create_model("m"), program, runtime.get_function(program, 2))
    assert [h.name for h in handles] == ["work", "patched", "done", "steps", "m", "TilingProbe", "TilingProbe key 2"]
    assert runtime.create_event().name == runtime.create_notify().name == ""
    runtime.submit(stream, lambda place: runtime.build.event_wait(place, 99))
    runtime.record_event(event, stream)
    with pytest.raises(RuntimeApiError, match=r"event 0 \(patched\) is not recorded yet"):
        runtime.synchronize_event(event)


@pytest.mark.parametrize(
    ("chip", "timeout_us", "nanoseconds", "credit"),
    [
        (B3, 1, 1 << 32, 1),
        (B3, 5_000_000, 2 << 32, 2),
        (B3, 0, 254 << 32, 254),
        (B3, None, 254 << 32, 254),
        (B3, NEVER_US, None, 255),
        (P3, 1, 1 << 31, 1),
        (DAVID, 1, 1 << 32, 0),
        (DAVID, 5_000_000, 2 << 32, 1),
        (DAVID, 0, 254 << 32, 253),
        (DAVID, None, 254 << 32, 253),
        (DAVID, NEVER_US, None, 255),
    ],
)
def test_a_limit_is_rounded_up_to_units_of_the_chip(bound, chip, timeout_us, nanoseconds, credit):
    """2^32 ns on 910B and 950, 2^31 on 310P; the 950 stores one less, and the device counts what was promised."""
    bench = bound(chip)
    assert bench.runtime.time_limit_ns(timeout_us) == nanoseconds
    bench.launch(config=LaunchConfig(timeout_us=timeout_us))
    assert bench.work.core.queue.entry(0)[14] == credit


def test_a_smaller_unit_makes_finer_limits(bound):
    """Policy `kernel_credit_us` of 10: 25 microseconds are three units; more than 254 units are 254."""
    runtime = bound(B3, kernel_credit_us=10).runtime
    assert (runtime.time_limit_ns(25), runtime.time_limit_ns(10**9)) == (30_000, 2_540_000)
    with pytest.raises(RuntimeApiError) as caught:
        runtime.time_limit_ns(-1)
    assert (caught.value.code, caught.value.message) == (107000, "EE1003")
