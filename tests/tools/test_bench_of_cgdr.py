"""Figures of the ChunkGatedDeltaRule kernel: both sides give the same result before anything is timed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tools.bench import cgdr_group
from tools.bench.catalog import pairs_of
from tools.bench.pairs import PeerMissingError, UnequalError, measure


def test_group():
    """R19 and R20 are figures of the group `cgdr`; costs are judged as costs."""
    found = {pair.id: pair for pair in pairs_of(["cgdr"])}
    assert {"R19", "R20", "R20-two-term"} <= set(found)
    assert (found["R19"].target, found["R20-two-term"].target) == (0.33, 3)
    assert [found[i].largest for i in ("R19", "R20", "R20-two-term")] == [False, True, True]


@pytest.mark.parametrize("product", ["fp32", "two_term", "plain_fp16"])
def test_launches_meet_the_recurrence(product):
    """A launch is compared with float64 before it may be timed, and counts its operations."""
    made = cgdr_group.launch(cgdr_group.CHECKED_TOKENS, product)
    # 4 chunks, 32 heads; per pair 3 * 64 * 64 * 128 + 64^3 / 3 and 128 * (2 * 64 * 64 + 3 * 64 * 128) multiply-adds.
    assert made.flops == 2 * (1572864 + 87381 + 4194304) * 4 * 32


def test_naive_peer_meets_the_recurrence():
    """The peer computes the same, in float32."""
    out = cgdr_group.chunked(cgdr_group.inputs(cgdr_group.CHECKED_TOKENS), cgdr_group.SCALE)
    assert out.dtype == np.float32
    cgdr_group.check("naive", out)


def test_wrong_results_are_not_measured():
    """Zeros are refused."""
    with pytest.raises(UnequalError, match=r"limit 0\.0005"):
        cgdr_group.check("zeros", np.zeros((cgdr_group.CHECKED_TOKENS, 32, 128), np.float32))


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed here")
def test_missing_peers_are_named():
    """Without torch the figures against transformers are skipped, with what to install."""
    with pytest.raises(PeerMissingError, match="transformers"):
        cgdr_group.against_transformers("fp32", 1024)
    (pair,) = pairs_of(["R20-hf"])
    assert measure(pair).status == "skipped"


def test_blas_is_reported(monkeypatch):
    """Preset variables are part of the peer's name."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert "OPENBLAS_CORETYPE=Haswell" in cgdr_group.blas_text()
