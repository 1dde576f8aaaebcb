"""Whether other distributions bring plugins is seen without importlib.metadata, and as it would say."""

import sys
import zipfile

import pytest

from tools.installed import others_installed

ENTRY_POINTS = "[sqemu.plugins]\nextra = extra\n"


def distribution(folder, name, entry_points):
    """A distribution as installers leave it in `folder`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if entry_points:
        (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is the whole path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    return tmp_path


def test_nothing_is_installed(folder):
    """Distributions without entry points, or with those of others, do not count."""
    distribution(folder, "plain", "")
    distribution(folder, "command", "[console_scripts]\nrun = run:main\n")
    assert not others_installed()


def test_ours_does_not_count(folder):
    """The plugins of the product itself add no layouts."""
    distribution(folder, "sqemu", ENTRY_POINTS)
    assert not others_installed()


@pytest.mark.parametrize("name", ["extra", "sqemu_edu"])
def test_another_one_counts(folder, name):
    """A distribution that names the group counts, also one whose name begins like ours."""
    distribution(folder, name, ENTRY_POINTS)
    assert others_installed()


def test_a_zip_on_the_path_is_looked_into(folder, monkeypatch):
    """What cannot be listed as a folder is left to importlib.metadata."""
    archive = folder / "all.zip"
    with zipfile.ZipFile(archive, "w") as found:
        found.writestr("extra-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
        found.writestr("extra-1.0.dist-info/entry_points.txt", ENTRY_POINTS)
    monkeypatch.setattr(sys, "path", [str(archive)])
    assert others_installed()
