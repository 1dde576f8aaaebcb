"""README and documents: what they show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(name):
    """The shell lines of the README block marked `name`."""
    return re.search(rf"<!-- {name} -->\n```sh\n(.*?)```", README, re.DOTALL)[1].strip().splitlines()


EXECUTED = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, text in enumerate(re.findall(r"<!-- executed -->\n```sh\n(.*?)```", page.read_text(), re.DOTALL))
]


def run_shell(script, folder):
    """Run shell lines in `folder`, which sees documents and test data, with the command on the path."""
    for name in ("docs", "tests"):
        (folder / name).symlink_to(ROOT / name)
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    source = {} if os.environ.get("SQEMU_TEST_INSTALLED") else {"PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **source, "PATH": places}
    command = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("script", EXECUTED)
def test_blocks_of_the_documents_run(script, tmp_path):
    """A block that is marked as executed runs as shown."""
    found = run_shell(script, tmp_path)
    assert found.returncode == 0, found.stderr


class TestReadme:
    def test_set_up_commands_are_one_line_each(self):
        """Demo and test commands make their own environment in one line."""
        for name in ("demo command", "test command"):
            lines = block(name)
            assert len(lines) == 1
            assert lines[0].startswith("python3 -m venv .venv && .venv/bin/pip install")

    def test_tour(self, tmp_path):
        """Every line of the tour runs as shown, in order."""
        lines = [line.removeprefix(". .venv/bin/activate && ") for line in block("tour")]
        assert len(lines) == 12
        found = run_shell("\n".join(lines), tmp_path)
        assert found.returncode == 0, found.stderr
        assert "the patch came too late" in found.stdout
        assert not (tmp_path / "out/never.npz").exists()
        assert (tmp_path / "out/y.1.npz").exists()

    def test_links_lead_somewhere(self):
        """Every link of README and docs to a file of the project exists."""
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
                if not target.startswith("http"):
                    assert (page.parent / target).exists(), f"{page.name}: {target}"


class TestInstallation:
    @pytest.mark.skipif(not os.environ.get("SQEMU_TEST_INSTALLED"), reason="only the wheel test asks for it")
    def test_packages_come_from_the_wheel(self):
        """In the wheel test all four packages are imported from the installed wheel, not from a checkout."""
        import emu_core
        import emu_plugins
        import formats
        import tools

        for package in (formats, emu_core, emu_plugins, tools):
            assert "site-packages" in package.__file__
            assert (Path(package.__file__).parent / "py.typed").exists()
