"""What a release must agree on: one version in the package, the changelog and the installed distribution."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def package_version():
    """The version in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_the_changelog_begins_with_the_version_of_the_package():
    """`## 1.2.3 (unreleased)` or `## 1.2.3 (2026-01-31)`, a version of three numbers."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    found = re.fullmatch(r"(\d+\.\d+\.\d+) \((unreleased|\d{4}-\d{2}-\d{2})\)", headings[0])
    assert found, headings[0]
    assert found[1] == package_version()


def test_the_installed_distribution_has_that_version():
    """The command says the version of the distribution it came with."""
    assert version("sqemu") == package_version()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_pages_beside_the_readme_lead_somewhere(page):
    """Their links are to files that are there."""
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        assert target.startswith("http") or (ROOT / target).exists(), target
