"""docs/device_facts.md names tests that exist; docs/device.md lists exactly the scenarios that no test shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from emu_core.plugins import PluginHost

TESTS = Path(__file__).parents[2]
DOCS = TESTS.parent / "docs"
SCENARIOS = range(1, 63)


@pytest.fixture(scope="module")
def names():
    """Names of all test functions in this repository."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("test_*.py"))
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.fixture(scope="module")
def facts():
    """Rows of the tables of facts: section, fact, what shows it."""
    text = (DOCS / "device_facts.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (\d\.\d) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)


def _listed():
    """Numbers of the scenarios that docs/device.md says cannot be shown."""
    text = (DOCS / "device.md").read_text(encoding="utf-8")
    body = text.partition("## Scenarios of the reference")[2].partition("| scenario |")[2]
    found = []
    for cell in re.findall(r"^\| (S\d[^|]*) \|", body, re.MULTILINE):
        for part in cell.split(", "):
            first, _, last = part.replace("S", "").partition("–")
            found += range(int(first), int(last or first) + 1)
    return found


def test_scenarios_without_a_test_are_those_that_the_page_lists(names):
    """Each of S1 to S62 has a test named by its number, or a row with the reason; none has both."""
    shown = {int(found[1]) for name in names if (found := re.match(r"test_s(\d+)_", name))}
    assert sorted(_listed()) == sorted(set(SCENARIOS) - shown)
    assert shown <= set(SCENARIOS)


def test_every_test_on_the_page_of_facts_exists(names):
    """A renamed or deleted test has to be changed on the page, too."""
    text = (DOCS / "device_facts.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"`(test_\w+)`", text)) - names) == []


def test_every_fact_has_a_test_a_policy_or_a_reason(facts):
    """The last column names tests, names policies, or begins with "not shown:"."""
    without = [row for row in facts if not re.match(r"`test_|policies `|not shown: \w", row[2])]
    assert without == []


def test_every_section_from_1_to_6_has_facts(facts):
    """All but 3.4, where nothing is confirmed, are on the page, in order."""
    sections = [row[0] for row in facts]
    counts = {1: 2, 2: 6, 3: 3, 4: 4, 5: 9, 6: 4}
    assert sorted(set(sections)) == [f"{top}.{n}" for top, last in counts.items() for n in range(1, last + 1)]
    assert sections == sorted(sections)


def test_policies_on_the_page_of_facts_exist():
    """A policy that replaces a fact is one that can be set."""
    text = (DOCS / "device_facts.md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"policies (`.+)\|", text) for name in re.findall(r"`(\w+)`", row)}
    assert named
    assert named <= {spec.name for spec in PluginHost().policy_specs}
