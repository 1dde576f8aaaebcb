"""The programs of docs/races.md: each shows what the page says, each repair is clean under every schedule."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from emu_core.plugins import PluginHost
from formats.blob import decode
from tools.explore.outcomes import Subject
from tools.explore.run import explore

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "race_programs.py"


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """Explores one of the programs."""
    folder = tmp_path_factory.mktemp("races")
    spec = importlib.util.spec_from_file_location("race_programs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        module.main()
    inputs = [dict(np.load(folder / name)) for name in ("first.npz", "second.npz")]
    host = PluginHost()

    def call(name):
        blob = decode((folder / f"{name}.sqt").read_bytes())
        return explore(Subject(blob, blob.chip, {"context_preload": "with_sqe"}, host, inputs), 30, 0)

    return call


@pytest.mark.parametrize("name", ["fed", "early", "preload"])
def test_repaired_programs_are_clean(explored, name):
    """All schedules agree, nothing is unordered, nothing is stale."""
    assert explored(f"{name}_repaired").ok


def test_a_sink_fed_by_a_sink(explored):
    """op1's tiling reads what op0's kernel writes; some schedules give another output."""
    found = explored("fed")
    assert {(h.id, h.node, h.kind) for h in found.unordered} == {("hazard.unordered-access", "op1", "aicpu")}
    assert found.differing
    assert any(d.entry.node == "op0" for d in found.failing[0].delays)


def test_a_record_before_the_update(explored):
    """The kernel is not ordered behind its patch, and starts with the placeholder."""
    found = explored("early")
    assert found.plain[0] == "kernel.placeholder-block-dim"
    assert {(h.id, h.kind) for h in found.unordered} == {("hazard.unordered-update", "kernel")}
    assert found.differing


def test_a_context_that_is_fetched_ahead(explored):
    """Entry and context are stale, although the order is right."""
    found = explored("preload")
    assert (found.unordered, found.differing, found.ok) == ((), 0, False)
    assert {"context" in h.what for h in found.stale} == {True, False}
    assert all("put 1 more NOP in between" in h.remedy for h in found.stale)
