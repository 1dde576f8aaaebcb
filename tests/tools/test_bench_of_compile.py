"""`sqemu bench compile`: the graphs it measures, and that both sides write the same rings."""

from __future__ import annotations

import numpy as np
import pytest

from emu_plugins.runtime.emission import KERNEL, RECORD, WAIT
from tools.bench import compile_group
from tools.bench.catalog import pairs_of
from tools.bench.pairs import UnequalError


@pytest.fixture
def small(monkeypatch):
    """Few nodes."""
    monkeypatch.setattr(compile_group, "NODES", 600)
    monkeypatch.setattr(compile_group, "PEER_NODES", 300)


def test_targets():
    """The targets of the reference: 15 times objects, 300 times construct, growth 1.5, 2 GiB."""
    targets = {p.id: (p.target, p.largest) for p in pairs_of(["compile"])}
    assert targets == {
        "R17": (15, False), "R17-construct": (300, False), "growth-nodes": (1.5, True), "memory-nodes": (2048, True),
    }  # fmt: skip


def test_graph_of_emission():
    """Every wait has one record of the same event, on another stream, earlier in the list; two producers per node."""
    tasks = compile_group.dag(500)
    records = {int(e): i for i, e in enumerate(tasks.event) if tasks.kind[i] == RECORD}
    waits = np.flatnonzero(tasks.kind == WAIT)
    assert len(records) == len(waits) > 900
    assert np.count_nonzero(tasks.kind == KERNEL) == 500
    for at in waits:
        record = records[int(tasks.event[at])]
        assert record < at
        assert tasks.stream[record] != tasks.stream[at]


@pytest.mark.usefixtures("small")
def test_both_sides_are_the_same_work():
    """The object side builds the rings of the product, entry by entry; calls count entries."""
    for prepare in (compile_group.emission, compile_group.emission_construct):
        peer, product = prepare()
        peer.call()
        product.call()
        assert 0 < peer.items < product.items


@pytest.mark.usefixtures("small")
def test_a_difference_is_noticed(monkeypatch):
    """Nothing is measured when one side writes other bytes."""
    build = compile_group.Objects.build
    monkeypatch.setattr(compile_group.Objects, "build", lambda self: [b"", *build(self)[1:]])
    with pytest.raises(UnequalError):
        compile_group.emission()


def test_graph_of_growth():
    """One operator in ten sinks."""
    blob = compile_group.compiled(40).blob
    assert [op.sink for op in blob.ops].count(True) == 4


def test_growth_is_a_quotient(monkeypatch):
    """Time per node of the large graph by that of the small one."""
    monkeypatch.setattr(compile_group, "_per_node", {1_000: 2.0, 100_000: 3.0}.__getitem__)
    assert compile_group.growth() == 1.5


def test_peak_memory_is_that_of_a_process(monkeypatch):
    """MiB that a process says."""
    monkeypatch.setattr(compile_group.subprocess, "run", lambda *_, **__: type("Found", (), {"stdout": "512.5"}))
    assert compile_group.peak_memory() == 512.5
