"""The three scenarios of docs/scenarios.md print what the page says (seed 1, chapter 6)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"<!-- executed -->\n```sh\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("script", "expected"), SHOWN, ids=["static", "super-kernel", "not-reused", "offline"])
def test_scenarios_print_what_the_page_shows(script, expected, tmp_path):
    """Standard output of each block equals the text below it, line by line."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    source = {} if os.environ.get("SQEMU_TEST_INSTALLED") else {"PYTHONPATH": str(ROOT)}
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **source, "PATH": places}
    command = ["bash", "-euo", "pipefail", "-c", script]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert found.returncode == 0, found.stderr
    assert [line.rstrip() for line in found.stdout.splitlines()] == expected.splitlines()
