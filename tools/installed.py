"""Whether plugins beside our own are installed, at the price of a look at some files.

`importlib.metadata` says the same, but takes a tenth of the time of a small dump to be imported. It is asked when the
path holds anything but folders, or when somebody else's finder may know distributions.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from os import scandir
from pathlib import Path

GROUP = "sqemu.plugins"
OURS = "sqemu"
_SUFFIXES = (".dist-info", ".egg-info")


def others_installed() -> bool:
    """Whether a distribution other than our own has entry points of the group."""
    folders = [Path(part) for part in dict.fromkeys(sys.path) if Path(part).exists()]
    strange = any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path)
    if strange or not all(folder.is_dir() for folder in folders):
        return _by_metadata()
    return any(_has_plugins(folder) for folder in folders)


def _has_plugins(folder: Path) -> bool:
    """Whether a distribution of `folder` that is not ours names the group."""
    try:
        with scandir(folder or ".") as entries:
            found = [entry.path for entry in entries if entry.name.endswith(_SUFFIXES)]
    except OSError:
        return False
    return any(_names_group(Path(path, "entry_points.txt")) for path in found if not _is_ours(Path(path).name))


def _is_ours(name: str) -> bool:
    return name.partition("-")[0].partition(".")[0].lower() == OURS


def _names_group(path: Path) -> bool:
    try:
        return GROUP.encode() in path.read_bytes()
    except OSError:  # most distributions have none
        return False


def _by_metadata() -> bool:
    import importlib.metadata  # noqa: PLC0415 - slow to import

    found = importlib.metadata.entry_points(group=GROUP)
    return any(entry.dist is None or entry.dist.name != OURS for entry in found)
