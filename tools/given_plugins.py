"""Plugins named on the command line, and the plugin host they go into."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emu_core.errors import PluginError
from emu_core.plugins import PluginHost

if TYPE_CHECKING:
    from types import ModuleType

META = "sqemu.plugins"


def remember(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keep the values of `--plugin` for `make_host`."""
    ctx.meta[META] = value


def make_host(without: tuple[str, ...] = ()) -> PluginHost:
    """The plugin host of this command: installed plugins less `without`, and those given with `--plugin`.

    Raises:
        PluginError: a plugin that was given cannot be imported or is no plugin.
    """
    ctx = click.get_current_context(silent=True)
    given: tuple[str, ...] = ctx.meta.get(META, ()) if ctx else ()
    return PluginHost([load(name) for name in given], without=without)


def load(name: str) -> ModuleType:
    """The module called `name`, or the one in the file `name`; `PluginError` says why it cannot be imported."""
    is_file = name.endswith(".py") or "/" in name
    try:
        return _from_file(Path(name)) if is_file else importlib.import_module(name)
    except Exception as error:
        raise PluginError(
            f"cannot be imported: {type(error).__name__}: {error}",
            id="plugin.import",
            where=name,
            remedy="give a module name, or the path of a Python file",
        ) from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"sqemu_given_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError("this is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.__name__ = path.stem  # how the plugin is called in messages
    return module
