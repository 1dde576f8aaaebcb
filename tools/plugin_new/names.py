"""The names of a new plugin package: what was given, what follows from it, and what cannot be."""

from __future__ import annotations

import keyword
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from emu_core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = re.compile(r"[a-z][a-z0-9_]*")
_CHIP = re.compile(r"[a-z][a-z0-9_.-]*")
_DISTRIBUTION = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_FAMILIES = frozenset({"v100", "v200", "v201", "arch9201", "arch5162", "other", "runtime"})
_PACKAGES = frozenset({"formats", "tools", "tests", "emu_core", "emu_plugins", "sqemu"})


@dataclass(frozen=True)
class Names:
    """Names in the files.

    Attributes:
        plugin: of the entry point. package: of the Python package. distribution: for pip. chip: as `--chip` takes it.
        soc: the same as people write it. family: of the layouts. prefix: of the names of layouts.
    """

    plugin: str
    package: str
    distribution: str
    chip: str
    soc: str
    family: str
    prefix: str

    def mapping(self) -> Mapping[str, str]:
        """For templates; `entry_line` is the import of the layouts, in one line or several."""
        return asdict(self)


def names(plugin: str, *, package: str = "", distribution: str = "", chip: str = "", family: str = "") -> Names:
    """All names, of which only `plugin` must be given.

    Raises:
        OptionError: one that cannot be (`plugins.name`).
    """
    _require(_WORD, plugin, "--name", "a word of a-z, 0-9 and _", plugin in _PACKAGES)
    package = package or f"sqemu_{plugin}"
    _require(_WORD, package, "--package", "a name of a Python package, in lower case", package in _PACKAGES)
    distribution = distribution or package.replace("_", "-")
    _require(_DISTRIBUTION, distribution, "--distribution", "a name that pip takes, in lower case", False)
    chip = chip or f"{plugin}-one"
    _require(_CHIP, chip, "--chip", "a word of a-z, 0-9, _, . and -", False)
    family = family or plugin
    _require(_WORD, family, "--family", "a word of a-z, 0-9 and _, and no built-in family", family in _FAMILIES)
    prefix = "".join(word.capitalize() for word in family.split("_"))
    return Names(plugin, package, distribution, chip, chip.title(), family, prefix)


def _require(pattern: re.Pattern[str], value: str, option: str, form: str, taken: bool) -> None:
    if taken or not pattern.fullmatch(value) or keyword.iskeyword(value):
        raise OptionError(f"{value!r} cannot be the name here", id="plugins.name", where=option, remedy=f"give {form}")
