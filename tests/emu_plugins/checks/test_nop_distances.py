"""The NOP distance: what the check says is what the machine does."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.device import Device

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
    assert [f.where for f in found] == ["task 2 (ALL_KERNEL of op0)", "task 7 (ALL_KERNEL of op1)"]
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
