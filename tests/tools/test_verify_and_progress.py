"""Checks against references, and progress on a terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tools.progress import Progress
from tools.verify import check_outputs


class TestCheck:
    def test_normalised_rms(self):
        """Errors of 0.5 on values of 2 are 0.25 of the reference."""
        (found,) = check_outputs({"y": np.array([2.5, 1.5])}, {"y": np.array([2.0, 2.0])}, 0.25)
        assert (found.error, found.largest, found.ok) == (0.25, 0.5, True)
        assert found.verdict() == "within 0.25"

    @pytest.mark.parametrize(("actual", "verdict"), [([1.0, 2.0], "equal"), ([1.0, 2.5], "not equal")])
    def test_limit_zero_means_equal(self, actual, verdict):
        """With limit 0 the outputs must be equal."""
        (found,) = check_outputs({"y": np.array(actual)}, {"y": np.array([1.0, 2.0])}, 0.0)
        assert found.verdict() == verdict

    def test_nan_is_never_within(self):
        """A NaN in the output fails whatever the limit is."""
        (found,) = check_outputs({"y": np.array([np.nan])}, {"y": np.array([1.0])}, 1e9)
        assert not found.ok
        assert found.verdict() == "above 1e+09"

    def test_another_shape_fails(self):
        """A reference of another shape fails instead of being broadcast."""
        (found,) = check_outputs({"y": np.zeros(2)}, {"y": np.zeros((2, 1))}, 1.0)
        assert not found.ok

    def test_outputs_without_reference_are_left_out(self):
        """Only outputs with a reference are checked."""
        assert check_outputs({"a": np.zeros(1)}, {"b": np.zeros(1)}, 1.0) == []


class _Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    @pytest.mark.parametrize(
        ("stream", "seconds", "shown"), [(_Terminal, 3, True), (_Terminal, 1, False), (io.StringIO, 3, False)]
    )
    def test_only_on_terminals_and_after_two_seconds(self, monkeypatch, stream, seconds, shown):
        """Progress appears on a terminal after two seconds, and nowhere else."""
        err, clock = stream(), iter([0.0, float(seconds), float(seconds)])
        monkeypatch.setattr("tools.progress.sys.stderr", err)
        monkeypatch.setattr("tools.progress.time.monotonic", lambda: next(clock))
        with Progress("execution", 3) as progress:
            progress.step()
        assert ("execution 1 of 3" in err.getvalue()) is shown
