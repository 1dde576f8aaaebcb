"""`sqemu check --explore`: schedules drawn from a seed, outcomes compared, failing ones shrunk to what is needed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core import compile_graph
from emu_core.checks import Level, run_checks
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet
from tools.explore.as_text import lines
from tools.explore.outcomes import Outcome, Subject
from tools.explore.run import explore
from tools.explore.schedules import Schedule, draw, seeded
from tools.explore.shrink import shrink

CHIP = "ascend310p3"


def graph(count):
    """`count` TilingProbe operators that sink, in a chain over x."""
    nodes = [
        {"name": f"op{i}", "type": "TilingProbe", "inputs": ["x" if not i else f"y{i - 1}", "n"], "outputs": [f"y{i}"]}
        for i in range(count)
    ]
    return {
        "format": "sqemu-graph",
        "version": 1,
        "name": "probes",
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": nodes,
        "outputs": [f"y{count - 1}"],
    }


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture(scope="module")
def arrays():
    """Inputs of one execution: some of the first five elements are not zero."""
    return {"x": np.arange(1, 41, dtype="f4"), "n": np.array([5], "i4")}


def subject_of(blob, host, *inputs, **policies):
    """What is explored."""
    return Subject(blob, blob.chip, policies, host, list(inputs))


@pytest.fixture(scope="module")
def racing(host):
    """Two sinking probes, the second tiled by what the first computes (`reference/tiling_sink_compiler.md` 9.3)."""
    blob = compile_graph(graph(2), CHIP, plugins=host)
    first, second = blob.ops
    return replace(blob, ops=(first, replace(second, inputs=(second.inputs[0], first.outputs[0]))))


def test_the_generated_sequence_gives_the_same_under_every_schedule(host, arrays):
    """The feature itself: two operators that sink, two executions, 40 schedules."""
    found = explore(subject_of(compile_graph(graph(2), CHIP, plugins=host), host, arrays, arrays), 40, 0)
    assert (found.ok, found.differing, found.unordered, found.executions) == (True, 0, (), 2)
    assert "all give the outputs of the plain one" in lines(found)[-1]


def test_a_sink_producer_that_feeds_a_sink_consumer_depends_on_the_schedule(racing, host, arrays):
    """The pair is named by the clocks, and one delay of the producer's side is enough to show it."""
    found = explore(subject_of(racing, host, arrays), 40, 0)
    assert not found.ok
    assert found.differing
    (pair,) = {(h.id, h.node) for h in found.unordered}
    assert pair == ("hazard.unordered-access", "op1")
    shown = found.failing[0]
    assert len(shown.delays) == 1
    assert shown.delays[0].entry.node == "op0"
    assert shown.delays[0].ns > 0
    text = "\n".join(lines(found))
    assert "do not" in text
    assert "that nothing orders:" in text


def test_the_same_seed_finds_the_same(racing, host, arrays):
    """Another run is equal in every part; another seed draws other schedules."""
    subject = subject_of(racing, host, arrays)
    first, again, other = (explore(subject, 12, seed) for seed in (3, 3, 4))
    assert first == again
    assert [f.delays for f in first.failing] != [f.delays for f in other.failing]


def test_too_few_nops_show_as_stale_in_every_schedule(host, arrays):
    """Without NOPs between wait and kernel the plain schedule already runs the placeholder, and says so."""
    blob = compile_graph(graph(1), CHIP, CompileOptions(policies={"nop_count": "0"}), plugins=host)
    found = explore(subject_of(blob, host, arrays, stale_prefetch="fault"), 5, 0)
    assert found.plain == ("hazard.stale-prefetch",)
    assert not found.ok
    found = explore(subject_of(blob, host, arrays), 5, 0)
    assert (found.plain, found.differing, found.ok) == (("kernel.placeholder-block-dim",), 0, False)
    assert lines(found)[2].startswith("  plain schedule: hazard.stale-prefetch: ")


def test_a_program_that_never_succeeds_is_not_called_equal(host, arrays):
    """Without its record every schedule ends with a deadlock: there are no outputs to compare, and the text says so."""
    blob = compile_graph(graph(1), CHIP, plugins=host)
    cut = replace(blob, tasks=tuple(t for t in blob.tasks if t.type.name != "EVENT_RECORD"))
    found = explore(subject_of(cut, host, arrays), 4, 0)
    assert (found.plain, found.differing, found.ok) == (("a deadlock",), 0, False)
    text = "\n".join(lines(found))
    assert "no execution of the plain schedule succeeds, and the other 4 end the same way: repair that first" in text
    assert "give the outputs" not in text


KEYS = st.lists(st.tuples(st.just(1), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=30, unique=True)


@given(keys=KEYS, data=st.data())
def test_shrinking_keeps_exactly_what_is_needed(keys, data):
    """A failure that needs all of some delays, whichever they are, keeps those and no others."""
    needed = set(data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=4)))
    whole = Schedule(dict.fromkeys(keys, 7))
    found = shrink(whole, lambda schedule: needed <= set(schedule.delays))
    assert set(found.delays) == needed


@given(seed=st.integers(0, 99), number=st.integers(0, 99))
def test_drawn_delays_are_positive_and_of_known_entries(seed, number):
    """No entry gets less time than it takes, and no delay is for an entry that never ran."""
    keys = [(1, s, n) for s in range(3) for n in range(8)]
    found = draw(seeded(seed, number), keys, 1000)
    assert set(found.delays) <= set(keys)
    assert all(0 < ns <= 100_000 for ns in found.delays.values())


def test_outcomes_differ_in_their_first_element_or_in_how_they_end():
    """The words name execution, output and element; failures come before outputs."""
    a = Outcome(({"y": np.array([1, 2, 3])},), ("",), (), ())
    b = Outcome(({"y": np.array([1, 2, 4])},), ("",), (), ())
    c = Outcome(({},), ("kernel.x",), (), ())
    assert a.difference(a) == ""
    assert a.difference(b) == "output y of execution 1 differs, first in element 2"
    assert a.difference(c) == "execution 1 ends with kernel.x instead of no error"


@pytest.fixture
def files(tmp_path, arrays):
    """Paths of a graph and of its inputs."""
    (tmp_path / "g.json").write_text(json.dumps(graph(1)))
    np.savez(tmp_path / "in.npz", **arrays)
    return str(tmp_path / "g.json"), str(tmp_path / "in.npz")


def test_the_command_explores_behind_the_checks(sqemu, files):
    """Exit code 0 and one more block; with --json one more object."""
    program, inputs = files
    done = sqemu("check", program, "--chip", CHIP, "--explore", "8", "--seed", "5", "--inputs", inputs)
    assert done.code == 0
    assert "explored 8 schedules (seed 5), 1 execution each" in done.out
    done = sqemu("check", program, "--chip", CHIP, "--explore", "8", "--inputs", inputs, "--json")
    last = json.loads(done.out.splitlines()[-1])
    assert (last["type"], last["schedules"], last["differing"], last["ok"]) == ("exploration", 8, 0, True)


def test_the_command_asks_for_inputs_before_it_shows_anything(sqemu, files):
    """A program with inputs cannot be run without them: exit code 2, nothing on standard output."""
    done = sqemu("check", files[0], "--chip", CHIP, "--explore", "8")
    assert (done.code, done.out) == (2, "")
    assert "input.none" in done.err


def chips_of(host):
    """A chip of each series that is there."""
    found = {}
    for name, chip in sorted(host.chips.items()):
        if name != "edu-large":
            found.setdefault(chip.product, name)
    return sorted(found.values())


def test_each_series_of_chips_is_safe_from_its_smallest_count_on_and_fails_below(host, arrays):
    """Wait, reset and n NOPs put the kernel at distance n + 2, which must exceed the depth; `distance` says the same.

    On chips without task updates the host tiles, and no NOP is needed.
    """
    names = chips_of(host)
    assert len(names) >= 4
    for name in names:
        sinks = any(op.sink for op in compile_graph(graph(1), name, plugins=host).ops)
        safe = host.chip(name).prefetch_depth - 1 if sinks else 0
        for count in range(max(safe - 2, 0), safe + 2):
            options = CompileOptions(policies={"nop_count": str(count)})
            blob = compile_graph(graph(1), name, options, plugins=host)
            found = explore(subject_of(blob, host, arrays, arrays), 6, 1)
            findings = dict(run_checks(blob, host.chip(name), PolicySet(host.policy_specs, blob.policies), host))
            errors = [f for f in findings["distance"] if f.level is Level.ERROR]
            assert (found.ok, not errors) == (count >= safe, count >= safe), (name, count)


def test_one_schedule_is_one(sqemu, files):
    """A single schedule and a single execution are told in the singular."""
    program, inputs = files
    done = sqemu("check", program, "--chip", CHIP, "--explore", "1", "--inputs", inputs)
    assert "explored 1 schedule (seed 0), 1 execution each" in done.out


@pytest.mark.parametrize("more", [("--seed", "0"), ("--inputs", "in.npz"), ("--seed", "1", "--inputs", "in.npz")])
def test_options_of_explore_need_it(sqemu, files, more):
    """What only --explore uses is not passed over in silence without it."""
    done = sqemu("check", files[0], *more, "--json")
    assert (done.code, done.out, done.error["error"]) == (2, "", "usage")
    named = " and ".join(word for word in more if word.startswith("--"))
    assert done.error["what"].startswith(f"{named} without --explore")
