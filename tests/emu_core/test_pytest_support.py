"""`-p emu_core.testing`: fixtures, forks, scenarios, and what a failing test tells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import emu_core

pytest_plugins = "pytester"

ROOT = Path(emu_core.__file__).parents[1]


@pytest.fixture
def inner(pytester, monkeypatch):
    """Run tests of a text with the support on, in a process of their own."""
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))

    def run(text, *arguments, conftest=""):
        pytester.makeconftest(conftest)
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess("-p", "emu_core.testing", "-p", "no:cacheprovider", *arguments)

    return run


def test_fixtures_and_markers(inner):
    """Chip by ini, option and marker; the fixture is a device; the factory makes more of them."""
    found = inner(
        """
        import pytest

        def test_default(npu):
            assert npu.chip.name == "ascend310p3"

        @pytest.mark.npu("ascend910b3", policies={"nop_model": "both"})
        def test_marked(npu, npu_factory):
            assert (npu.chip.name, npu.policies["nop_model"]) == ("ascend910b3", "both")
            assert npu_factory().chip.name == "ascend910b3"
            assert npu_factory("ascend310p1").chip.name == "ascend310p1"
        """,
        "--strict-markers",
    )
    found.assert_outcomes(passed=2)


def test_each_test_has_a_fork(inner):
    """The set-up runs once; what one test does to its device, the next does not see."""
    found = inner(
        """
        import pytest
        MADE = []

        @pytest.fixture(scope="session")
        def npu_setup():
            def prepare(device):
                MADE.append(device)
                device.create_stream("prepared", bound=False)
            return prepare

        @pytest.mark.parametrize("n", range(3))
        def test_alone(npu, n):
            assert len(MADE) == 1
            assert npu is not MADE[0]
            assert len(npu.streams) == 1
            npu.create_stream("mine", bound=False)
        """
    )
    found.assert_outcomes(passed=3)


def test_scenarios_choose(inner):
    """`--scenario` takes a number or a name, with and without S and zeros."""
    text = """
        import pytest

        @pytest.mark.scenario("s07")
        def test_seven(): pass

        @pytest.mark.scenario(8, "late patch")
        def test_eight(): pass

        def test_none(): pass
        """
    inner(text, "--scenario", "7").assert_outcomes(passed=1, deselected=2)
    inner(text, "--scenario", "late patch", "--scenario", "S7").assert_outcomes(passed=2, deselected=1)


def test_a_failing_test_tells_hazards_and_events(inner):
    """Sections per device: hazards and faults, and the last 50 of its events, the last ones."""
    found = inner(
        """
        import pytest
        from emu_core import Hazard
        from emu_core.trace import ModelPhase

        @pytest.mark.scenario("s05")
        def test_bad(npu):
            for time in range(60):
                npu.trace.add(ModelPhase(time=time, model=time, phase="tried"))
            npu.report(Hazard("hazard.mine", "it was late", "be early", 7, 1, 0, 0, 0, {}))
            assert False

        def test_good(npu):
            npu.trace.add(ModelPhase(time=1, model=1, phase="not told"))
        """
    )
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*scenarios*", "s5", "*hazards of npu ascend310p3*", "hazard.mine: *it was late*"])
    found.stdout.fnmatch_lines(["*last 50 of 61 events of npu ascend310p3*"])
    assert "phase=tried" in found.stdout.str()
    assert " 10 ns " not in found.stdout.str()
    assert " 11 ns " in found.stdout.str()
    assert "not told" not in found.stdout.str()


def test_the_machine_does_without_pytest():
    """Nothing outside of `emu_core.testing` imports it: a run with all plugins does not either."""
    script = (
        "import sys; from tools import cli; import emu_core, emu_core.conformance, emu_core.device\n"
        "from emu_core import PluginHost\nPluginHost().chips\n"
        "print([m for m in sys.modules if m.partition('.')[0] in ('pytest', '_pytest')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert found.stdout == "[]\n"
    sources = [p for p in (ROOT / "emu_core").rglob("*.py") if "testing" not in p.parts]
    assert not [p for p in sources if "import pytest" in p.read_text(encoding="utf-8")]
