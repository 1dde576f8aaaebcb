"""All files of a new plugin package into a folder, or none."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from tools.files import Outputs
from tools.plugin_new import code, project

if TYPE_CHECKING:
    from tools.plugin_new.names import Names

FILES = {
    "pyproject.toml": project.PYPROJECT,
    "README.md": project.README,
    "src/$package/__init__.py": code.INIT,
    "src/$package/py.typed": "",
    "src/$package/chip.py": code.CHIP,
    "src/$package/layouts.py": code.LAYOUTS,
    "src/$package/idle.py": code.IDLE,
    "src/$package/flags.py": code.FLAGS,
    "src/$package/texts.py": code.TEXTS,
    "tests/conftest.py": project.CONFTEST,
    "tests/${plugin}_programs.py": project.PROGRAMS,
    "tests/test_${plugin}_chip.py": project.TEST_CHIP,
}
"""Paths and texts, both templates."""


def files(names: Names) -> dict[str, str]:
    """Relative paths and texts."""
    values = names.mapping()
    return {Template(path).substitute(values): Template(text).substitute(values) for path, text in FILES.items()}


def write(folder: str, names: Names) -> tuple[str, ...]:
    """Write the package; returns the relative paths.

    Raises:
        OptionError: the folder exists and is not empty, or is a file (`plugins.exists`).
        InputError: it cannot be written.
    """
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OptionError(
            f"{folder} exists and is {'not empty' if path.is_dir() else 'a file'}; nothing is overwritten",
            id="plugins.exists",
            where="sqemu plugins new",
            remedy="give a folder that does not exist or is empty",
        )
    found = files(names)
    with Outputs() as outputs:
        for name, text in found.items():
            outputs.write(str(path / name), text.encode(), within=folder)
        outputs.commit()
    return tuple(found)
