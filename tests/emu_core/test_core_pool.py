"""Pools of cores: who gets a free one, in which order, and when a launch ends."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.clock import Clock
from emu_core.cores import CorePool, Demand, Job, core_kinds, units_of
from emu_core.kernels import CoreType
from emu_plugins.chips.ascend310p import ASCEND310P3
from emu_plugins.chips.ascend910b import ASCEND910B3


class _Lab:
    """A pool of one kind of core, and when its launches ended."""

    def __init__(self, cores, *, turns=False):
        self.clock = Clock()
        self.pool = CorePool(self.clock, {"core": cores}, turns=turns)
        self.ends = {}

    def add(self, stream, blocks, share, *, priority=0, at=0, **how):
        demand = Demand({"core": 1}, blocks, Fraction(share), **how)
        job = Job(stream, priority, demand, lambda: self.ends.__setitem__(stream, self.clock.now))
        self.clock.at(at, stream, lambda: self.pool.submit(job))
        return job

    def run(self):
        while self.clock.step():
            pass
        return self.ends


def test_more_blocks_than_cores_run_in_waves():
    """Ten blocks of 100 ns on four cores: waves at 0, 100 and 200, end at 300."""
    lab = _Lab(4)
    job = lab.add(0, 10, 100)
    assert lab.run() == {0: 300}
    assert (job.waves, job.started_at) == (3, 0)


def test_fractions_of_a_nanosecond_add_up_over_the_waves():
    """Three waves of 7/3 ns end after 7 ns, not after three rounded ones."""
    lab = _Lab(1)
    lab.add(0, 3, Fraction(7, 3))
    assert lab.run() == {0: 7}


def test_cores_that_a_launch_leaves_go_to_the_next_in_line():
    """Six blocks, then four: at 100 the first takes two cores and the second two, at 200 the second the last two."""
    lab = _Lab(4)
    lab.add(0, 6, 100)
    second = lab.add(1, 4, 100)
    assert lab.run() == {0: 200, 1: 300}
    assert (second.started_at, second.waves) == (100, 2)


def test_equal_requests_are_served_by_stream_id():
    """Both come at 5; stream 1 goes first although stream 2 was planned first."""
    lab = _Lab(1)
    lab.add(2, 1, 10, at=5)
    lab.add(1, 1, 10, at=5)
    assert lab.run() == {1: 15, 2: 25}


def test_a_smaller_priority_goes_first():
    """While stream 0 runs, 1 and 2 ask; 2 has the better priority."""
    lab = _Lab(1)
    lab.add(0, 1, 10)
    lab.add(1, 1, 10, priority=3, at=1)
    lab.add(2, 1, 10, priority=2, at=2)
    assert lab.run() == {0: 10, 2: 20, 1: 30}


def test_a_batch_starts_with_all_blocks_or_not_at_all():
    """Three free cores are not enough for four blocks, but enough for the launch behind it."""
    lab = _Lab(4)
    lab.add(0, 1, 100)
    batch = lab.add(1, 4, 100, batch=True)
    lab.add(2, 3, 50)
    assert lab.run() == {0: 100, 2: 50, 1: 200}
    assert (batch.started_at, batch.waves) == (100, 1)


def test_a_batch_larger_than_the_pool_never_starts():
    """Nothing is queued, the cores stay free, and the reason is told."""
    lab = _Lab(4)
    job = lab.add(0, 5, 100, batch=True)
    assert lab.run() == {}
    assert not lab.pool.ever_fits(job.demand)
    assert lab.pool.free == {"core": 4}
    assert lab.pool.why(job) == "5 of its 5 blocks have no core; 4 of 4 are idle"


def test_blocks_that_wait_for_each_other_keep_their_cores():
    """Three blocks: two hold cores from 0, the last starts at 40, all end one share later."""
    lab = _Lab(3)
    lab.add(0, 1, 40)
    lab.add(1, 3, 100, sync_all=True)
    assert lab.run() == {0: 40, 1: 140}


def test_taking_turns_two_launches_that_wait_for_each_other_lock_up():
    """After 10 ns four cores are free; each of two launches of three blocks gets two, and neither can end."""
    lab = _Lab(4, turns=True)
    lab.add(0, 4, 10)
    first = lab.add(1, 3, 10, sync_all=True, at=1)
    second = lab.add(2, 3, 10, sync_all=True, at=2)
    assert lab.run() == {0: 10}
    assert (first.holding, second.holding) == (2, 2)
    assert lab.pool.why(first) == ("1 of its 3 blocks have no core; 0 of 4 are idle, held by stream 1 2, stream 2 2")


def test_first_come_first_served_the_same_two_launches_end():
    """The first gets three cores, the second one, and the rest when the first ends."""
    lab = _Lab(4)
    lab.add(0, 4, 10)
    lab.add(1, 3, 10, sync_all=True, at=1)
    lab.add(2, 3, 10, sync_all=True, at=2)
    assert lab.run() == {0: 10, 1: 20, 2: 30}


def test_a_launch_that_is_dropped_gives_its_cores_back():
    """At 30 the first is dropped; the second starts then, and the first never ends."""
    lab = _Lab(2)
    first = lab.add(0, 2, 100)
    lab.add(1, 2, 100)
    lab.clock.at(30, 9, lambda: lab.pool.cancel(first))
    assert lab.run() == {1: 130}
    assert lab.pool.jobs == ()
    lab.pool.cancel(first)
    assert lab.pool.free == {"core": 2}


def test_what_runs_says_so():
    """A launch whose blocks all have cores waits for nothing."""
    lab = _Lab(2)
    job = lab.add(0, 2, 100)
    lab.clock.step()
    assert lab.pool.why(job) == "its 2 blocks run"


@pytest.mark.parametrize(
    ("chip", "kinds", "mix"),
    [
        (ASCEND910B3, {"cube core": 20, "vector core": 40}, {"cube core": 1, "vector core": 2}),
        (ASCEND310P3, {"AI Core": 8}, {"AI Core": 1}),
    ],
    ids=["910b3", "310p3"],
)
def test_a_mix_block_takes_a_cube_core_with_its_vector_cores(chip, kinds, mix):
    """910B3 has two vector cores per cube core; a 310P has one kind of core for all."""
    assert core_kinds(chip) == kinds
    assert units_of(CoreType.MIX, chip) == mix


JOBS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50), st.integers(0, 60), st.booleans()), max_size=6)


@given(st.integers(1, 5), JOBS, st.booleans())
def test_no_core_is_used_twice_and_everything_ends_that_fits(cores, jobs, turns):
    """Launches end no earlier than alone, batches that cannot fit never; in the end all cores are free."""
    lab = _Lab(cores, turns=turns)
    made = [lab.add(i, blocks, share, at=at, batch=batch) for i, (blocks, share, at, batch) in enumerate(jobs)]
    while lab.clock.step():
        assert 0 <= lab.pool.free["core"] <= cores
        assert lab.pool.free["core"] == cores - sum(j.holding for j in lab.pool.jobs)
    for i, (job, (blocks, share, at, batch)) in enumerate(zip(made, jobs, strict=True)):
        if batch and blocks > cores:
            assert i not in lab.ends
            continue
        assert lab.ends[i] >= at + share * -(-blocks // cores)
        assert (job.started, job.ended) == (blocks, blocks)
    assert lab.pool.free == {"core": cores}
