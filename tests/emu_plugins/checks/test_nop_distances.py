"""The NOP distance: what the check says is what the machine does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.chips import Latencies
from emu_core.device import Device

MOST_NOPS = 60
INPUTS = {"x": np.zeros(40, "f4"), "n": np.array([3], "i4")}


def _unsafe(found):
    return [f for f in found if f.id == "check.nop-distance"]


@pytest.mark.parametrize("reset", ["on", "off"])
@pytest.mark.parametrize("nops", range(11))
def test_check_and_machine_agree(probe, findings, host, nops, reset):
    """S24: with depth 8 a kernel is stale up to 6 NOPs (7 without the reset) in the check and in a run."""
    blob = probe(nop_count=nops, block_dim_placeholder="compiled")
    model = Device("ascend910b3", {"wait_reset": reset}, host).load(blob)
    stale = "hazard.stale-prefetch" in [h.id for h in model.execute(INPUTS).hazards]
    assert bool(_unsafe(findings(blob, full=True, wait_reset=reset))) is stale
    assert stale is (nops <= (6 if reset == "on" else 7))


@pytest.mark.parametrize(
    ("chip", "policies", "safe"),
    [
        ("ascend910b3", {}, 7),
        ("ascend910b3", {"wait_reset": "off"}, 8),
        ("ascend310p3", {}, 4),
        ("ascend310p3", {"prefetch_depth": "platform"}, 9),
        ("ascend910b3", {"prefetch_depth": 20}, 19),
    ],
)
def test_the_smallest_safe_count_is_named(probe, findings, chip, policies, safe):
    """P - 1 NOPs, P without the reset, for each operator by its kernel."""
    found = _unsafe(findings(probe(2, chip=chip, nop_count=0), full=True, **policies))
    assert [f.where for f in found] == ["task #2 (ALL_KERNEL of op0)", "task #7 (ALL_KERNEL of op1)"]
    assert all(f.level == "error" and f"the smallest safe count is {safe}:" in f.remedy for f in found)
    assert not _unsafe(findings(probe(2, chip=chip, nop_count=safe), full=True, **policies))
    assert len(_unsafe(findings(probe(2, chip=chip, nop_count=safe - 1), full=True, **policies))) == 2


def test_fetching_again_makes_it_a_note(probe, findings):
    """With stale_prefetch=refetch the entry is fetched again, so the distance is only good to know."""
    found = _unsafe(findings(probe(nop_count=0), full=True, stale_prefetch="refetch"))
    assert [f.level for f in found] == ["info"]


def test_no_prefetch_no_finding(probe, findings):
    """Depth 0 fetches nothing ahead."""
    assert findings(probe(nop_count=0), prefetch_depth=0) == []


def _stale(blob, host, chip="ascend910b3", **policies):
    """Whether a run of `blob` reports a stale entry."""
    model = Device(chip, {name: str(value) for name, value in policies.items()}, host).load(blob)
    return "hazard.stale-prefetch" in [h.id for h in model.execute(INPUTS).hazards]


@pytest.mark.parametrize(
    ("chip", "model", "safe"),
    [
        ("ascend910b3", "window", 7),
        ("ascend910b3", "latency", 5),
        ("ascend910b3", "both", 7),
        ("ascend310p3", "window", 4),
        ("ascend310p3", "latency", 5),
        ("ascend310p3", "both", 5),
    ],
)
def test_each_reason_has_its_smallest_safe_count(probe, findings, host, chip, model, safe):
    """Window: P - 1 for P = 8 and 5. Latency: the reset of 100 ns and five NOPs of 100 ns fill 600 ns."""
    counts = {"window": 7 if chip == "ascend910b3" else 4, "latency": 5}
    for nops in (safe - 1, safe):
        blob = probe(chip=chip, nop_count=nops, block_dim_placeholder="compiled")
        found = _unsafe(findings(blob, full=True, nop_model=model))
        assert bool(found) is (nops < safe) is _stale(blob, host, chip, nop_model=model)
        for finding in found:
            assert finding.remedy == (
                f"the smallest safe count is {safe}: compile with --policy nop_count={safe} (nop_model=window: "
                f"{counts['window']}, latency: {counts['latency']})"
            )


@pytest.mark.parametrize("chip", ["ascend910b1", "ascend310p3", "ascend910b4-1"])
@pytest.mark.parametrize("model", ["window", "latency", "both"])
def test_the_seeds_counts_are_safe_under_every_reason(probe, findings, host, chip, model):
    """8 on 910B and 5 on 310P, in the check and in a run."""
    blob = probe(chip=chip, block_dim_placeholder="compiled")
    assert not _unsafe(findings(blob, full=True, nop_model=model))
    assert not _stale(blob, host, chip, nop_model=model)


def test_the_finding_says_which_reasons_it_breaks(probe, findings):
    """One NOP: three entries behind the wait, 200 ns after the event."""
    blob = probe(nop_count=1)
    words = {
        model: _unsafe(findings(blob, full=True, nop_model=model))[0].what for model in ("window", "latency", "both")
    }
    window, latency = (
        "within the 8 that are fetched while the stream waits",
        "200 ns of the 600 until the event is noticed",
    )
    assert [(window in what, latency in what) for what in words.values()] == [
        (True, False),
        (False, True),
        (True, True),
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    depth=st.integers(0, 12),
    model=st.sampled_from(["window", "latency", "both"]),
    times=st.tuples(st.integers(1, 300), st.integers(0, 300), st.integers(0, 2000)),
    reset=st.sampled_from(["on", "off"]),
    nops=st.integers(0, 12),
)
def test_the_named_count_is_the_smallest_that_runs_fresh(probe, findings, host, depth, model, times, reset, nops):
    """For any depth and latencies the named count is fresh in check and run, and one NOP less is stale in both."""
    nop_ns, write_ns, notice_ns = times
    latencies = Latencies(nop_ns=nop_ns, write_value_ns=write_ns, event_notify_ns=notice_ns)
    chip = replace(host.chip("ascend910b3"), latencies=latencies)
    policies = {"prefetch_depth": depth, "nop_model": model, "wait_reset": reset}

    def check(count):
        blob = probe(nop_count=count, block_dim_placeholder="compiled")
        found = _unsafe(findings(blob, chip=chip, full=True, **policies))
        assert bool(found) is _stale(blob, host, chip, **policies)
        return found

    found = check(nops)
    safe = int(found[0].remedy.split()[5].rstrip(":")) if found else 0
    if 0 < safe <= MOST_NOPS:
        assert not check(safe)
        assert check(safe - 1)
