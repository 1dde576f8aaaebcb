"""The program that docs/host_api.md shows: it runs as shown, on every family, in a process of its own as well."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from emu_plugins.runtime import CODES, LIMIT_CODES, Runtime

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "host_api.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs" / "examples" / "host_program.py"
RUN = "import runpy, sys; sys.path.insert(0, {root!r}); runpy.run_path({example!r}, run_name='__main__')"
EXPECTED = [[200, 200, 201, 201, 202, 202, 203, 203], [100, 100, 100, 100, 101, 101, 101, 101]]


@pytest.mark.parametrize("chip", ["ascend910b3", "ascend310p3", "ascend950pr_9599"])
def test_it_runs_on_every_family(chip):
    """Key 2 in 4 blocks fills pairs from 200, key 1 in 2 blocks fours from 100."""
    spec = importlib.util.spec_from_file_location("host_program", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(chip) == EXPECTED


def test_it_prints_what_the_page_shows():
    """The output of the program is the block below it on the page, and the page shows the program itself."""
    found = subprocess.run(
        [sys.executable, "-c", RUN.format(root=str(ROOT), example=str(EXAMPLE))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"```\n{found.stdout}```" in PAGE
    body = EXAMPLE.read_text(encoding="utf-8").partition("def main(")[2].partition("\n\n\nif __name__")[0]
    assert body in PAGE


def test_every_call_is_on_the_page():
    """The tables of calls list every public method of `Runtime`, with its parameters."""
    shown = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    public = {
        name
        for part in Runtime.__mro__
        if part.__module__.startswith("emu_plugins.runtime.host")
        for name in vars(part)
        if not name.startswith("_") and hasattr(vars(part)[name], "__wrapped__")
    }
    assert public - shown == set()


def test_every_code_is_on_the_page():
    """The table of codes has each code of the host, and each limit its pair."""
    section = PAGE.partition("\n## Codes\n")[2]
    shown = {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
    assert shown == set(CODES)
    assert all(f"| `{limit}` | {row.code} | {row.message} |" in PAGE for limit, row in LIMIT_CODES.items())
