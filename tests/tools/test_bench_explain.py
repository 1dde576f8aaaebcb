"""The figures of snapshots and steps back: both sides agree before anything is timed."""

from __future__ import annotations

import pytest

from tools.bench import explain_group
from tools.bench.pairs import measure


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """1 MiB and 500 tasks, of which nothing is remembered."""
    monkeypatch.setattr(explain_group, "TOUCHED", 1 << 20)
    monkeypatch.setattr(explain_group, "TASKS", 500)
    explain_group._travelled.cache_clear()
    yield
    explain_group._travelled.cache_clear()


@pytest.mark.parametrize("each", explain_group.PAIRS, ids=lambda pair: pair.id)
def test_each_figure_is_measured(each):
    """Every pair gives a ratio above 0; its sides were compared on the way."""
    figure = measure(each)
    assert figure.ratio is not None
    assert figure.ratio > 0


def test_a_wrong_step_back_is_not_timed(monkeypatch):
    """When running again leads elsewhere nothing is measured."""
    monkeypatch.setattr(explain_group, "_rerun", lambda _steps: -1)
    with pytest.raises(explain_group.UnequalError):
        explain_group.step_back()
