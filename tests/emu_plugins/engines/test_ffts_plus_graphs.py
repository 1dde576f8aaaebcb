"""Graphs of AIC, AIV and mix contexts: order, cores, faults, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.clock import Clock
from emu_core.cores import Demand, Job
from emu_core.errors import DeviceFault
from emu_core.kernels import Mix
from emu_core.trace import TaskDone, TaskStarted
from emu_plugins.engines.ffts_plus_contexts import ContextTask, Thread, check_graph
from emu_plugins.engines.ffts_plus_graph import ContextGraph

LAUNCH_NS = 3000


def _plain(bench, name, blocks, *, waits=0, successors=(), **fields):
    """Fields of a context that runs `name` (key 1) on `blocks` blocks, after `waits` others."""
    kind = {"Vectors": 1}.get(name, 0)
    pc = bench.images[name].entries[1]
    return {
        "context_type": kind, "tail_block_dim": blocks, "tail_task_start_pc": pc, "task_param_ptr_base": bench.args,
        "pred_cnt": waits, "pred_cnt_init": waits, "successor_num": len(successors),
        "successor_list": [*successors, *[0] * (26 - len(successors))], **fields,
    }  # fmt: skip


def _mixed(bench, key, blocks, *, waits=0, **fields):
    """Fields of a mix context of kernel Mixed."""
    image = bench.images["Mixed"]
    return {
        "context_type": 6, "tail_block_dim": blocks, "tail_block_ratio_n": image.mixes[key].secondary,
        "tail_aic_task_start_pc": image.entries[key], "tail_aiv_task_start_pc": image.seconds.get(key, 0),
        "aic_task_param_ptr": bench.args, "aiv_task_param_ptr": bench.args, "pred_cnt": waits, **fields,
    }  # fmt: skip


def _end(bench):
    (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
    return done.time


def test_successors_start_when_their_predecessors_end(mix_bench):
    """A diamond: 20 cubes (50 ns), then 10 vector blocks (100 ns) beside 4 cubes (250), then 5 mix blocks (200)."""
    bench = mix_bench()
    bench.graph([
        _plain(bench, "Cubes", 20, successors=(1, 2)),
        _plain(bench, "Vectors", 10, waits=1, successors=(3,)),
        _plain(bench, "Cubes", 4, waits=1, successors=(3,)),
        _mixed(bench, 3, 5, waits=2),
    ])  # fmt: skip
    bench.run()
    assert bench.queues.faults == []
    assert _end(bench) == LAUNCH_NS + 50 + 250 + 200
    assert bench.told() == (3, 5, 2, 4)
    (start,) = [e for e in bench.device.trace if isinstance(e, TaskStarted)]
    assert start.facts == {"kernel": "Cubes + Vectors + Mixed", "tiling_key": 1, "block_dim": 39, "contexts": 4}


def test_contexts_that_are_ready_share_the_cores(mix_bench):
    """Two contexts of 20 cube blocks each: the second gets its cores when the first has ended."""
    bench = mix_bench()
    bench.graph([_plain(bench, "Cubes", 20), _plain(bench, "Cubes", 20)], ready=2)
    bench.run()
    assert _end(bench) == LAUNCH_NS + 100
    assert bench.told()[3] == 2


def test_the_counts_in_memory_stay_for_the_next_round(mix_bench):
    """A graph that runs twice starts from the same predecessor counts: they are not used up."""
    bench = mix_bench()
    contexts = [_plain(bench, "Cubes", 2, successors=(1,)), _plain(bench, "Vectors", 2, waits=1)]
    address = bench.graph(contexts)
    before = bench.device.memory.read(address, 256)
    bench.run()
    sqe = bench.main.queue.entry(0)
    bench.main.queue.append(sqe)
    bench.run()
    assert bench.device.memory.read(address, 256) == before
    assert bench.told()[3] == 4


def test_a_fault_stops_the_graph(mix_bench):
    """The kernel of context 0 faults after 50 ns: its successor does not start, a longer neighbour is dropped."""
    bench = mix_bench()
    bench.graph(
        [
            _plain(bench, "Refuses", 20, successors=(2,)),
            _plain(bench, "Vectors", 1),
            _plain(bench, "Cubes", 1, waits=1),
        ],
        ready=2,
    )
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.time) == ("lab.no", 0x10F, LAUNCH_NS + 50)
    assert bench.told() == (0, 0, 0, 0)
    assert bench.device.cores.free == bench.device.cores.capacity
    assert bench.device.cores.jobs == ()


@pytest.mark.parametrize("first", [True, False])
def test_a_launch_whose_cost_faults_stops_the_graph(mix_bench, first):
    """A successor, or one of the first contexts: the entry has the fault, and nothing of it keeps cores."""
    bench = mix_bench()
    if first:
        contexts = [_plain(bench, "Cubes", 1), _plain(bench, "Priceless", 1), _plain(bench, "Cubes", 1)]
    else:
        contexts = [_plain(bench, "Cubes", 1, successors=(1,)), _plain(bench, "Priceless", 1, waits=1)]
    bench.graph(contexts, ready=3 if first else 1)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.time) == ("lab.no", 0x10F, LAUNCH_NS + (0 if first else 1000))
    assert bench.told()[3] == (0 if first else 1)
    assert (bench.device.cores.jobs, bench.device.cores.free) == ((), bench.device.cores.capacity)


def test_a_graph_over_its_budget_times_out_and_says_what_waits(mix_bench):
    """10 µs of credit against a batch of 30 cubes that never fits: 0x111, and the context is named."""
    bench = mix_bench(kernel_credit_us="10")
    bench.graph([_plain(bench, "Vectors", 1), _plain(bench, "Cubes", 30, schem=1)], ready=2, kernel_credit=1)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code, fault.time) == ("task.timeout", 0x111, 10_000)
    assert "context 1: 30 of its 30 blocks have no cube core" in fault.what
    assert bench.device.cores.jobs == ()


REFUSED = [
    (3, "notify"), (4, "notify"), (5, "write"), (8, "sdma"), (9, "data"), (0xC, "aicpu"), (0x10D, "cond"),
    (0x300, "at"), (0x500, "label"), (0x600, "cache"),
]  # fmt: skip


@pytest.mark.parametrize("context_type", [kind for kind, _ in REFUSED])
def test_other_contexts_are_refused_as_unsupported(mix_bench, context_type):
    """What the reference documents beside AIC, AIV and mix contexts is refused loudly, by its type."""
    bench = mix_bench()
    bench.graph([_plain(bench, "Cubes", 1), {"context_type": context_type}], ready=2)
    bench.run()
    (fault,) = bench.queues.faults
    assert (fault.id, fault.ts_code) == ("sqe.unsupported", 0x106)
    assert "context 1 (FftsPlus" in fault.what
    assert f"type {context_type:#x}) is unsupported here" in fault.what
    assert bench.told() == (0, 0, 0, 0)


def _thread(index):
    return Thread(index, 1, Mix(), (), 0, batch=False)


def _contexts(edges, count):
    """Contexts 0 to count - 1 with these (from, to) edges."""
    return tuple(
        ContextTask(i, _thread(i), sum(b == i for _, b in edges), tuple(b for a, b in edges if a == i))
        for i in range(count)
    )


BAD_GRAPHS = [
    (_contexts([(0, 1), (1, 2), (2, 1)], 3), 1, "contexts [1, 2] never become ready"),
    (_contexts([], 2), 1, "the entry says that 1 contexts are ready at once, 2 wait for none"),
    (
        (ContextTask(0, _thread(0), 0, (1, 1)), ContextTask(1, _thread(1), 1, ())), 1,
        "context 1 has more predecessors than its count says",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("contexts", "ready", "what"), BAD_GRAPHS)
def test_a_graph_that_cannot_end_is_a_fault(contexts, ready, what):
    """Cycles, a wrong ready count, and a context that is counted down too often."""
    with pytest.raises(DeviceFault) as caught:
        check_graph(contexts, ready)
    assert caught.value.id == "ffts.graph"
    assert what in caught.value.what


class _OneByOne:
    """A pool in which a job of `n` blocks ends `n` ns after it came."""

    def __init__(self, clock):
        self.clock = clock

    def submit(self, job):
        self.clock.after(job.demand.blocks, 0, job.done)

    def cancel(self, job):
        raise AssertionError

    def why(self, job):
        raise AssertionError


@st.composite
def _graphs(draw):
    """(durations, edges from smaller to larger index) of an acyclic graph."""
    durations = draw(st.lists(st.integers(1, 9), min_size=1, max_size=7))
    count = len(durations)
    edges = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))))
    return durations, sorted((min(e), max(e)) for e in edges if e[0] != e[1])


@given(_graphs())
@settings(deadline=None)
def test_a_graph_takes_its_longest_path(found):
    """With cores for all, a context starts when its last predecessor ends and each runs exactly once."""
    durations, edges = found
    edges = sorted(set(edges))
    contexts = _contexts(edges, len(durations))
    check_graph(contexts, sum(not c.waits_for for c in contexts))
    clock, ran = Clock(), []

    def prepare(thread):
        return Demand({}, durations[thread.context], 0), lambda: ran.append(thread.context)

    ends = []
    graph = ContextGraph(clock, _OneByOne(clock), contexts, prepare)
    graph.submit(Job(0, 0, Demand({}, 1, 0), lambda: ends.append(clock.now)))
    while clock.step():
        pass
    graph.finish()
    longest = {}
    for i, duration in enumerate(durations):
        longest[i] = duration + max((longest[a] for a, b in edges if b == i), default=0)
    assert ends == [max(longest.values())]
    assert sorted(ran) == list(range(len(durations)))
