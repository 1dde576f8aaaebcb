"""docs/check.md and the limits in docs/device.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emu_core.checks import REFERENCES, CheckSpec, Finding, run_checks
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet
from emu_plugins.checks.explanations import EXPLANATIONS
from emu_plugins.checks.specs import SPECS
from emu_plugins.chips.figures import FIGURES

DOCS = Path(__file__).parents[3] / "docs"
CHECK, DEVICE = ((DOCS / name).read_text() for name in ("check.md", "device.md"))
COLUMNS = {"A2, A3": "ascend910b3", "310P": "ascend310p3", "950": "ascend950pr_9599", "350": "ascend350_355e",
           "`edu-large`": "edu-large"}  # fmt: skip


def test_every_check_has_its_row():
    """In the order in which they are run."""
    section = CHECK.partition("## Checks\n")[2].partition("A finding is")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [
        REFERENCES,
        *(spec.name for spec in (*SPECS, FIGURES)),
    ]


def test_every_id_is_listed():
    """Each id that the checks explain has a row, and each row's id of that kind an explanation."""
    assert set(re.findall(r"`(check\.[a-z-]+)`", CHECK)) == set(EXPLANATIONS)


@pytest.mark.parametrize("record", [CheckSpec, Finding])
def test_records(record):
    """The table of records has every field."""
    row = next(line for line in CHECK.splitlines() if line.startswith(f"| `{record.__name__}` |"))
    assert all(f"`{name}" in row for name in record.__dataclass_fields__)


def test_the_example_works():
    """The check that the page shows finds what it says."""
    space = {}
    exec(re.search(r"```python\n(.*?)```", CHECK, re.DOTALL)[1], space)
    (spec,) = space["sqemu_checks"]()
    host = PluginHost()
    long = type("Op", (), {"name": "n" * 21})()
    blob = type("Blob", (), {"ops": [long]})()
    found = list(spec.run(blob, host.chip("ascend310p3"), PolicySet(host.policy_specs), host))
    assert [f.id for f in found] == ["mine.long-name"]
    assert callable(run_checks)


def test_limits_of_the_device_page():
    """Every figure of the table is that of the chip."""
    section = DEVICE.partition("## Limits\n")[2].partition("\n## ")[0]
    head, _, *rows = [line for line in section.splitlines() if line.startswith("|")][:9]
    names = [cell.strip() for cell in head.split("|")[2:-2]]
    assert names == list(COLUMNS)
    for row in rows:
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        figure = re.match(r"`(\w+)`", cells[0])[1]
        for name, shown in zip(names, cells[1:-1], strict=True):
            assert int(shown.split()[0]) == getattr(PluginHost().chip(COLUMNS[name]), figure)
