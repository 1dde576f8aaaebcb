"""Plugins named on the command line, and the plugin host they go into."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emu_core.errors import PluginError
from formats import BUILTIN
from tools.installed import others_installed

if TYPE_CHECKING:
    from types import ModuleType

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from formats import Registry

META = "sqemu.plugins"


def remember(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keep the values of `--plugin` for `make_host`."""
    ctx.meta[META] = tuple(dict.fromkeys(value))


def make_host(without: tuple[str, ...] = ()) -> PluginHost:
    """The plugin host of this command: installed plugins less `without`, and those given with `--plugin`.

    Raises:
        PluginError: a plugin that was given cannot be imported or is no plugin.
    """
    from emu_core.plugins import PluginHost  # noqa: PLC0415 - not every command needs plugins

    return PluginHost([load(name) for name in _given()], without=without)


def _given() -> tuple[str, ...]:
    ctx = click.get_current_context(silent=True)
    return ctx.meta.get(META, ()) if ctx else ()


class Layouts:
    """Layouts and chips for a command that mostly needs the built-in layouts: plugins are loaded only if they matter.

    Attributes:
        host: the plugin host, loaded when it is first asked for.
    """

    def __init__(self, without: tuple[str, ...] = ()) -> None:
        self._without = without

    @cached_property
    def host(self) -> PluginHost:
        """See the class."""
        return make_host(self._without)

    @cached_property
    def registry(self) -> Registry:
        """The built-in layouts, with those of plugins if there is any plugin beside the built-in ones."""
        return self.host.registry if self._without or _given() or others_installed() else BUILTIN

    def chip(self, name: str) -> Chip:
        """The chip called `name`; `InputError` lists the known ones."""
        return self.host.chip(name)


def load(name: str) -> ModuleType:
    """The module called `name`, or the one in the file or package folder `name`.

    Raises:
        PluginError: why it cannot be imported.
    """
    is_path = name.endswith(".py") or "/" in name
    try:
        return _from_path(Path(name)) if is_path else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"cannot be imported: {type(error).__name__}: {error}",
            id="plugin.import",
            where=name,
            remedy="give a module name, the path of a Python file, or that of a package folder",
        ) from error


def _from_path(path: Path) -> ModuleType:
    """The module in a file, or the package in a folder."""
    if path.is_dir():
        return _package(path)
    module = _imported(f"sqemu_given_{path.stem}", path)
    module.__name__ = path.stem  # how the plugin is called in messages
    return module


def _package(folder: Path) -> ModuleType:
    """The package in a folder, imported under its own name, so that its modules find each other."""
    name, file = folder.resolve().name, folder.resolve() / "__init__.py"
    known = sys.modules.get(name)
    if known is None:
        return _imported(name, file, [str(file.parent)])
    if known.__file__ is None or Path(known.__file__).resolve() != file:
        raise ImportError(f"another module {name} is imported already: {known.__file__}")
    return known


def _imported(name: str, file: Path, inside: list[str] | None = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise ImportError("this is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
