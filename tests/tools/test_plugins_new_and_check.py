"""`sqemu plugins new` writes a package that works, `check` says whether one does."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import emu_core

ROOT = Path(emu_core.__file__).parents[1]
EDU = Path(__file__).parents[1] / "thirdparty" / "edu"


@pytest.fixture
def made(sqemu, tmp_path):
    """A package with names of its own."""
    folder = tmp_path / "made"
    found = sqemu("plugins", "new", folder, "--name", "mill", "--chip", "mill-2", "--family", "grist")
    assert found.code == 0, found.err
    yield folder
    for name in [m for m in sys.modules if m.partition(".")[0] == "sqemu_mill"]:
        del sys.modules[name]


def _run(*command, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )


def test_its_own_tests_pass(made):
    """They run where the package is, without installing it; the conformance checks are among them."""
    found = _run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=made)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "10 passed" in found.stdout


def test_it_can_be_installed(made, tmp_path):
    """It is installed by pip as it is; then the host finds it by its entry point, with distribution and version."""
    pytest.importorskip(
        "setuptools", "77", reason="the package builds with setuptools 77, and this test has no network"
    )
    target = tmp_path / "site"
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    pip = _run("-m", "pip", "install", *options, "--target", str(target), str(made), cwd=tmp_path)
    assert pip.returncode == 0, pip.stderr
    script = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "from emu_core import PluginHost\nhost = PluginHost()\n"
        "print([(p.name, p.origin, p.broken) for p in host.plugins if p.name == 'mill'], host.chip('mill-2').family)"
    )
    assert _run("-c", script, cwd=tmp_path).stdout == "[('mill', 'sqemu-mill 0.1', '')] grist\n"


def test_names_are_where_they_belong(made):
    """Distribution, entry point and package of the project file; no template mark is left."""
    project = tomllib.loads((made / "pyproject.toml").read_text())
    assert project["project"]["name"] == "sqemu-mill"
    assert project["project"]["entry-points"]["sqemu.plugins"] == {"mill": "sqemu_mill"}
    texts = [path.read_text() for path in made.rglob("*") if path.is_file() and path.suffix in {".py", ".md", ".toml"}]
    assert len(texts) == 11
    assert not [text for text in texts if "$" in text]
    assert "MillFlagSqe" not in "".join(texts)
    assert "GristFlagSqe" in "".join(texts)


def test_its_code_is_as_the_style_of_the_house_wants_it(made):
    """No line is longer than 120 columns, and every module says what it is."""
    for path in made.rglob("*.py"):
        lines = path.read_text().splitlines()
        assert max(map(len, lines)) <= 120, path
        assert lines[0].startswith('"""'), path


def test_it_works_with_the_other_commands(sqemu, made):
    """Its chip, layouts and explanations are there."""
    given = ("--plugin", made / "src" / "sqemu_mill")
    assert sqemu("chips", "mill-2", "--json", *given).objects[0]["soc_name"] == "Mill-2"
    assert "action" in sqemu("formats", "GristFlagSqe", *given).out
    assert "below its max_events" in sqemu("explain", "mill.flag", *given).out


def test_nothing_is_overwritten(sqemu, made, tmp_path):
    """A folder with something in it, or a file, is refused, and stays as it is."""
    (made / "README.md").write_text("mine")
    assert sqemu("plugins", "new", made, "--name", "mill", "--json").error["error"] == "plugins.exists"
    assert (made / "README.md").read_text() == "mine"
    (tmp_path / "file").write_text("x")
    assert sqemu("plugins", "new", tmp_path / "file", "--name", "mill", "--json").error["error"] == "plugins.exists"


@pytest.mark.parametrize(
    "options",
    [
        ("--name", "Mill"), ("--name", "class"), ("--name", "tools"), ("--name", "a", "--package", "formats"),
        ("--name", "a", "--chip", "A B"), ("--name", "a", "--family", "v100"), ("--name", "a", "--distribution", "-a"),
    ],
)  # fmt: skip
def test_names_that_cannot_be(sqemu, tmp_path, options):
    """They are refused before anything is written."""
    found = sqemu("plugins", "new", tmp_path / "new", *options, "--json")
    assert (found.code, found.error["error"]) == (2, "plugins.name")
    assert not (tmp_path / "new").exists()


class TestCheck:
    def test_a_good_one(self, sqemu, made):
        """Each check is a line; a given package is found by the name of its entry point, too."""
        given = ("--plugin", made / "src" / "sqemu_mill")
        found = sqemu("plugins", "check", "mill", *given)
        assert found.code == 0
        assert [line.split()[1] for line in found.out.splitlines()] == [
            "hooks", "structs", "chips", "policies", "explanations", "entries", "determinism", "snapshot",
        ]  # fmt: skip
        assert sqemu("plugins", "check", "sqemu_mill", "--json", *given).objects[1] == {
            "check": "structs", "outcome": "passed", "looked_at": 5, "wrong": [],
        }  # fmt: skip

    def test_a_bad_one(self, sqemu, made):
        """What is wrong is listed, exit 1."""
        chip = made / "src" / "sqemu_mill" / "chip.py"
        chip.write_text(chip.read_text().replace("in _NO_FIGURES", 'in {*_NO_FIGURES, "cube_mhz"}'))
        found = sqemu("plugins", "check", "mill", "--plugin", made / "src" / "sqemu_mill")
        assert found.code == 1
        assert "no source for cube_mhz" in " ".join(found.out.split())

    def test_a_program(self, sqemu, tmp_path):
        """A graph with its inputs is one more program."""
        import numpy as np

        np.savez(tmp_path / "in.npz", x=np.zeros(10, "f4"), n=np.array([3], "i4"))
        given = ("--plugin", EDU / "src" / "sqemu_edu", "--json")
        program = ("--program", EDU / "stripe.json", "--chip", "edu-one", "--inputs", tmp_path / "in.npz")
        plain = {v["check"]: v for v in sqemu("plugins", "check", "edu", *given).objects}
        found = {v["check"]: v for v in sqemu("plugins", "check", "edu", *program, *given).objects}
        assert not [v for v in found.values() if v["wrong"]]
        assert found["snapshot"]["looked_at"] == plain["snapshot"]["looked_at"] + 1

    def test_names_and_options(self, sqemu):
        """A plugin that is not there, and inputs of no program."""
        assert sqemu("plugins", "check", "nobody", "--json").error["error"] == "plugin.absent"
        found = sqemu("plugins", "check", "chips", "--inputs", "x.npz", "--json")
        assert found.error["error"] == "plugins.inputs"

    @pytest.mark.parametrize("name", ["chips", "engines", "compiler", "kernels", "tiling"])
    def test_our_own(self, sqemu, name):
        """The plugins of the product keep the contracts."""
        found = sqemu("plugins", "check", name)
        assert found.code == 0, found.out
