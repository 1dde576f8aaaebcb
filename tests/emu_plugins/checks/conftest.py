"""Programs to check: compiled ones, edited ones, and the findings of all checks about them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.checks import run_checks
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    return PluginHost()


def probe_graph(nodes=1, *, sink=True):
    """`nodes` operators that read x and the value of n."""
    names = [f"y{i}" for i in range(nodes)]
    return {
        "format": "sqemu-graph", "version": 1, "name": "p",
        "options": {"ge.tiling_schedule_optimize": str(int(sink))},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [
            {"name": f"op{i}", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": [y]}
            for i, y in enumerate(names)
        ],
        "outputs": names,
    }  # fmt: skip


@pytest.fixture
def probe(host):
    """Compiles a graph of probes: `probe(2, chip=..., nop_count=3)`."""

    def make(nodes=1, *, chip="ascend910b3", sink=True, **policies):
        given = {name: str(value) for name, value in policies.items()}
        return compile_graph(probe_graph(nodes, sink=sink), chip, CompileOptions(offline=False, policies=given), host)

    return make


@pytest.fixture
def graph_of_probes():
    """The graph that `probe` compiles."""
    return probe_graph


@pytest.fixture
def findings(host):
    """(id, place) of everything the checks find in a blob; policies by name."""

    def check(blob, *, chip=None, full=False, **policies):
        given = {**blob.policies, **{name: str(value) for name, value in policies.items()}}
        asked = host.chip(chip or blob.chip) if chip is None or isinstance(chip, str) else chip
        found = [
            each for _, all_ in run_checks(blob, asked, PolicySet(host.policy_specs, given), host) for each in all_
        ]
        return found if full else [(each.id, each.where) for each in found]

    return check


def _edited(blob, index, **changes):
    tasks = list(blob.tasks)
    tasks[index] = replace(tasks[index], **changes)
    return replace(blob, tasks=tuple(tasks))


@pytest.fixture
def edited():
    """A blob with one task changed: `edited(blob, 3, event_id=1)`."""
    return _edited


@pytest.fixture
def reordered():
    """A blob with its tasks in another order."""
    return lambda blob, order: replace(blob, tasks=tuple(blob.tasks[i] for i in order))
