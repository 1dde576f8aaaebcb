"""The package keeps to what docs/plugins.md allows."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

import emu_core
import emu_plugins.compiler
import formats
from formats import blob, runtime

MODULES = {
    "emu_core": emu_core.__all__,
    "formats": formats.__all__,
    "formats.blob": blob.__all__,
    "formats.blob.references": ["bad_references"],
    "formats.dtypes": ["dtype_coded", "dtype_named"],
    "formats.runtime": runtime.__all__,
    "emu_plugins.compiler": emu_plugins.compiler.__all__,
    "emu_plugins.compiler.pipeline": ["compile_graph"],
    "click": [""],
}
"""What section "Public names" of the page lists."""


def imported(source):
    """(module, name) of everything that a module imports from elsewhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_only_public_names_are_imported(edu):
    """The standard library and the names of the list, nothing else."""
    for path in Path(edu.__file__).parent.glob("*.py"):
        for module, name in imported(path.read_text(encoding="utf-8")):
            if module.partition(".")[0] not in sys.stdlib_module_names:
                assert name in MODULES.get(module, ()), f"{path.name}: {module}.{name}"


def test_importing_it_is_cheap(edu):
    """Looking for plugins must not load the work behind the hooks: the module itself imports layouts only."""
    source = Path(edu.__file__).read_text(encoding="utf-8")
    top = [n for n in ast.parse(source).body if isinstance(n, ast.ImportFrom) and n.level]
    assert [n.module for n in top] == ["layouts"]


def test_every_id_is_explained(edu):
    """Each id that the package uses has a text that says what to do, and there is no other."""
    texts = edu.sqemu_explanations()
    sources = {p.name: p.read_text(encoding="utf-8") for p in Path(edu.__file__).parent.glob("*.py")}
    used = {
        node.value
        for name, source in sources.items()
        if name != "texts.py"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("edu.")
    }
    assert used == set(texts)
    assert all("\ndo: " in text for text in texts.values())


@pytest.mark.parametrize("name", ["SqeHeader", "CqeError", "CommonSqe"])
def test_what_the_core_needs_is_there(edu, name):
    """The three structs of the family, with the fields of docs/plugins.md."""
    layouts = importlib.import_module(f"{edu.__name__}.layouts")
    struct = getattr(layouts, name)
    assert struct.family == "edu"
    assert struct.fields[0].name == {"CqeError": "phase"}.get(name, "type")
