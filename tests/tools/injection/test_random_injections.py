"""Random plans over random small programs, and small campaigns over the demo graph and ChunkGatedDeltaRule."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.api import compile_graph
from emu_core.errors import LimitError, PluginError
from emu_core.graph import CompileOptions
from emu_core.injection import Injections, Outcome, judge, shrunk
from emu_core.injection.plan import plan_of
from emu_core.plugins import PluginHost
from tools.demo import scene
from tools.injection.campaign import Campaign, Trials, campaign
from tools.injection.compared import Program
from tools.injection.draw import draw
from tools.injection.subjects import SUBJECTS, subject_called

HOST = PluginHost()
CHIPS = ("ascend310p3", "ascend910b3", "ascend950pr_9599")
OPERATORS = ("TilingProbe", "MixProbe")
SIZE = 40


@cache
def program(chip, operators, sink, wait_limit):
    """A chain of operators, each with an n of its own; the first reads x, each other one the output before."""
    inputs = [("x", "float32", SIZE), *((f"n{i}", "int32", 1) for i in range(len(operators)))]
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "chain", "options": {"ge.tiling_schedule_optimize": sink},
        "inputs": [{"name": name, "dtype": dtype, "shape": [size]} for name, dtype, size in inputs],
        "nodes": [
            {"name": f"op{i}", "type": kind, "inputs": [f"y{i - 1}" if i else "x", f"n{i}"], "outputs": [f"y{i}"]}
            for i, kind in enumerate(operators)
        ],
        "outputs": [f"y{i}" for i in range(len(operators))],
    }  # fmt: skip
    blob = compile_graph(graph, chip, CompileOptions(offline=False), HOST)
    found = Program(blob, chip, {"event_wait_timeout_s": wait_limit}, HOST)
    numbers = {f"n{i}": np.array([2 + i], np.int32) for i in range(len(operators))}
    return Trials(found, [{"x": np.arange(SIZE, dtype=np.float32), **numbers}] * 2)


PROGRAMS = st.builds(
    program,
    st.sampled_from(CHIPS),
    st.lists(st.sampled_from(OPERATORS), min_size=1, max_size=3).map(tuple),
    st.sampled_from(("0", "1")),
    st.sampled_from(("0", "2")),
)


@given(PROGRAMS, st.integers(0, 1 << 32))
@settings(deadline=None, max_examples=150)
def test_outcomes_are_true(trials, number):
    """A good outcome has the outputs of the plain run; others are named, with the injected cause first."""
    plan = draw(trials.source, 1, number)
    chip, limits = shrunk(trials.chip, plan)
    try:
        model = trials.program.load(chip)
        at_work = Injections(model, plan)
        found = at_work.execute(trials.inputs[0])
    except (LimitError, PluginError):
        return
    verdict = judge(trials.plain[0], found, limits, at_work.fired)
    same = found.ok and all(a.tobytes() == found.outputs[name].tobytes() for name, a in trials.plain[0].outputs.items())
    assert verdict.good == same
    assert (verdict.outcome is Outcome.SILENT_CORRUPTION) == (found.ok and not same)
    assert verdict.outcome is Outcome.IDLE or verdict.causes
    assert verdict.outcome is not Outcome.IDLE or at_work.never()


@given(PROGRAMS, st.integers(0, 1 << 32))
@settings(deadline=None, max_examples=100)
def test_every_trial_has_a_proper_report(trials, number):
    """No exception, no hang, a cause first: what a campaign asks of each plan."""
    assert trials.run(2, number).trouble == ""


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_small_campaign(name):
    """Forty plans end in forty proper reports, with outcomes of at least three sorts."""
    trials = Trials(*subject_called(name, HOST, "ascend310p3"))
    found = campaign(trials, 40, 5)
    assert found.trouble == []
    assert found.trials == 40
    assert len(found.outcomes) >= 3


def test_the_same_seed_gives_the_same():
    """Plans and outcomes are those of the seed."""
    trials = program("ascend310p3", ("TilingProbe",), "1", "0")
    first, second = campaign(trials, 30, 9), campaign(trials, 30, 9)
    assert first.lines() == second.lines()
    assert campaign(trials, 30, 10).lines() != first.lines()


def test_trouble_is_shown_with_its_plan():
    """A trial without a proper report is listed, with the plan as JSON."""
    from tools.injection.campaign import Trial
    from tools.injection.plan_file import plan_of_bytes

    trials = program("ascend310p3", ("TilingProbe",), "1", "0")
    plan = draw(trials.source, 1, 1)
    found = Campaign(1)
    found.add(Trial(1, plan, trouble="TypeError left the run: x"))
    line = found.lines()[-1]
    assert line.startswith("trial 1: TypeError left the run: x; plan {")
    assert plan_of_bytes(line.partition("plan ")[2].encode(), "p") == plan
    assert found.lines()[2] == "1 without a proper report"


def test_a_plan_that_does_not_fit_is_trouble(monkeypatch):
    """What the drawing must not do shows up as an exception that left the run."""
    from emu_core.injection.plan import Entry, Stall

    trials = program("ascend310p3", ("TilingProbe",), "1", "0")
    monkeypatch.setattr("tools.injection.campaign.draw", lambda *_: plan_of(Stall(Entry(kind="none"))))
    assert "InputError left the run" in trials.run(1, 1).trouble


def test_what_takes_too_long_is_trouble(monkeypatch):
    """A trial that does not end is ended, and named."""
    import time

    trials = program("ascend310p3", ("TilingProbe",), "1", "0")
    monkeypatch.setattr("tools.injection.campaign.PATIENCE_S", 1)
    monkeypatch.setattr(Trials, "_run", lambda *_: time.sleep(30))
    assert trials.run(1, 1).trouble == "TimeoutError left the run: not done after 1 s"


def test_the_scene_is_the_one_of_the_demo():
    """The campaign's demo program has the outputs of `sqemu demo`."""
    found, inputs = subject_called("demo", HOST, "ascend310p3")
    assert list(Trials(found, inputs[:1]).plain[0].outputs) == list(scene.OUTPUTS)
