"""What came of a plan: each outcome, from results made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.errors import LimitError, PluginError
from emu_core.injection import Fired, Outcome, judge
from emu_core.injection.verdicts import first_difference, refused, stopped
from emu_core.model import Result
from emu_core.reports import Deadlock, Fault, Hazard

FIRED = (Fired(0, "stalled an engine", 1200, 1),)
FAULT = Fault("kernel.bad-pc", "what", 0x26, 507015, 1, 5, 1, 0, 7, 7, "kernel", "ai_core", consequences=("a", "b"))
HAZARD = Hazard("hazard.stale-prefetch", "what", "remedy", 5, 1, 0, 7, 7)


def result(*, y=(1.0, 2.0), faults=(), hazards=(), deadlock=None):
    """An execution with output y."""
    return Result(1, {"y": np.array(y, np.float32)}, faults, hazards, deadlock, (), (), 0, 10)


@pytest.mark.parametrize(
    ("plain", "found", "fired", "outcome", "good"),
    [
        (result(), result(), (), Outcome.IDLE, True),
        (result(), result(), FIRED, Outcome.UNAFFECTED, True),
        (result(), result(y=(1.0, 3.0)), FIRED, Outcome.SILENT_CORRUPTION, False),
        (result(), result(y=(1.0, 3.0), hazards=(HAZARD,)), FIRED, Outcome.SILENT_CORRUPTION, False),
        (result(), result(faults=(FAULT,)), FIRED, Outcome.FAILED, False),
        (result(), result(deadlock=Deadlock(7, 1, ())), FIRED, Outcome.DEADLOCK, False),
        (result(faults=(FAULT,)), result(faults=(FAULT,)), FIRED, Outcome.FAILS_ANYWAY, False),
    ],
)
def test_outcomes(plain, found, fired, outcome, good):
    """Each pair of executions has one outcome, and causes come first."""
    verdict = judge(plain, found, (), fired)
    assert (verdict.outcome, verdict.good) == (outcome, good)
    assert verdict.lines()[:-1] == tuple(f"injected: {f.what} at {f.time} ns" for f in fired)


def test_a_negative_zero_is_another_output():
    """Bytes are compared, not numbers: -0.0 is not 0.0, and a NaN is itself."""
    nan = float("nan")
    assert first_difference(result(y=(0.0, nan)), result(y=(0.0, nan))) == ""
    assert "first in number 0" in first_difference(result(y=(0.0, 1.0)), result(y=(-0.0, 1.0)))


def test_hazards_of_the_plain_run_are_not_news():
    """Only what the device says because of the plan is told."""
    known = judge(result(hazards=(HAZARD,)), result(hazards=(HAZARD,)), (), FIRED)
    new = judge(result(), result(hazards=(HAZARD,)), (), FIRED)
    assert "hazard" not in known.what
    assert new.what.endswith("the device reported hazard.stale-prefetch")


def test_outputs_that_differ_although_nothing_happened_say_so():
    """A program that does not give the same twice is no success of the plan."""
    verdict = judge(result(), result(y=(9.0, 2.0)), (), ())
    assert verdict.outcome is Outcome.SILENT_CORRUPTION
    assert verdict.what.endswith("the program does not give the same twice")


def test_programs_that_are_not_loaded_and_plugins_that_break():
    """Both name the injection first, then the error with its id."""
    shrunk = ("injected: fewer streams",)
    loaded = refused(LimitError("has 2 streams", id="207008"), shrunk)
    broken = stopped(PluginError("kernel raised", id="plugin.kernel-raised"), 1, (), FIRED)
    assert (loaded.outcome, loaded.lines()[0], loaded.good) == (Outcome.REFUSED, shrunk[0], False)
    assert (broken.outcome, broken.good) == (Outcome.STOPPED, False)
    assert "207008" in loaded.what
    assert "plugin.kernel-raised" in broken.what


def test_of_earlier_executions_the_first_time_is_told():
    """What happens now comes first; what happened only earlier is told with its execution."""
    fired = (Fired(0, "a", 10, 1), Fired(1, "b", 20, 1), Fired(1, "b", 120, 2, more=1), Fired(1, "b", 130, 2, more=3))
    found = Result(2, {"y": np.zeros(1)}, (), (), None, (), (), 0, 10)
    assert judge(found, found, (), fired).causes == (
        "injected: b at 120 ns, and 1 more time",
        "injected: b at 130 ns, and 3 more times",
        "injected: a at 10 ns, in execution 1",
    )
