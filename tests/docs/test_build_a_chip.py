"""docs/build_a_chip.md: the steps, run as shown and in order, build a chip that works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "build_a_chip.md").read_text(encoding="utf-8")
STEPS = re.findall(r"<!-- step -->\n```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each step printed."""
    folder = tmp_path_factory.mktemp("chip")
    (folder / "tests").symlink_to(ROOT / "tests")
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    source = {} if os.environ.get("SQEMU_TEST_INSTALLED") else {"PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **source, "PATH": places}
    found = []
    for step in STEPS:
        command = ["bash", "-euo", "pipefail", "-c", step]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
        assert ran.returncode == 0, f"{step}\n{ran.stdout}\n{ran.stderr}"
        found.append(ran.stdout)
    return found


def test_every_block_is_a_step():
    """No command is shown that is not run."""
    assert len(STEPS) == PAGE.count("```sh") == 5


def test_the_steps_say_what_the_page_says(said):
    """Tests pass at the start and at the end; the dump of step 3, the patch of step 5 and the checks are as told."""
    package, looked, entries, graph, checked = said
    assert "10 passed" in package
    assert "edu-one" in looked
    assert "edu kernel" in entries
    assert "blocks 3" in entries
    assert "1 task update, 0 hazards" in graph
    assert "kernel x3" in graph
    assert "failed" not in checked
    assert "10 passed" in checked


def test_every_module_of_the_package_is_named():
    """Each module of edu stands on the page."""
    modules = {p.name for p in (ROOT / "tests/thirdparty/edu/src/sqemu_edu").glob("*.py")} - {"__init__.py", "texts.py"}
    assert not [name for name in modules if f"`{name}`" not in PAGE]
