"""Every id that the compiler can raise is explained, and nothing else is."""

from __future__ import annotations

import re
from importlib import resources

from emu_plugins.compiler import sqemu_explanations

LIMITS = {"limit.memory", "limit.persistent-tasks"}


def test_ids_and_explanations_match():
    """The ids in the sources of compiler and importers, and the core's of limits, are exactly the explained ones."""
    sources = [
        each.read_text(encoding="utf-8")
        for package in ("emu_plugins.compiler", "emu_plugins.importers")
        for each in resources.files(package).iterdir()
        if each.name.endswith(".py") and each.name != "explanations.py"
    ]
    found = {
        id_ for text in sources for id_ in re.findall(r'"((?:graph|limit|plugin|input|format|extra)\.[a-z-]+)"', text)
    }
    assert found - {"graph.schema"} | LIMITS == set(sqemu_explanations())


def test_explanations_are_sentences():
    """Each text is a sentence that does not merely repeat its id, and a line says what to do."""
    for id_, text in sqemu_explanations().items():
        meaning, _, action = text.partition("\ndo: ")
        assert meaning.endswith(".")
        assert action.endswith(".")
        assert id_ not in text
