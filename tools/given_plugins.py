"""Plugins named on the command line, and the plugin host they go into."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emu_core.errors import PluginError
from formats import BUILTIN
from tools import switches
from tools.installed import others_installed
from tools.say import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from formats import Registry


def make_host(without: tuple[str, ...] = ()) -> PluginHost:
    """The plugin host of this command: installed plugins less `without`, and those given with `--plugin`.

    Left out, too, is what `--no-plugin` before the subcommand and `SQEMU_NO_PLUGINS` name. Plugins that use something
    deprecated are named on standard error.

    Raises:
        PluginError: a plugin that was given cannot be imported or is no plugin.
    """
    return host_of([load(name) for name in _given()], without)


def host_of(
    plugins: Iterable[object], without: tuple[str, ...] = (), stopwatch: Callable[[], int] | None = None
) -> PluginHost:
    """`make_host` with plugins that are imported already; `stopwatch` as in `PluginHost`."""
    from emu_core.deprecations import PluginDeprecationWarning  # noqa: PLC0415 - not every command needs plugins
    from emu_core.plugins import PluginHost  # noqa: PLC0415

    left_out = (*without, *switches.left_out(click.get_current_context(silent=True)), *switches.switched_off())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PluginDeprecationWarning)
        host = PluginHost(plugins, without=left_out, stopwatch=stopwatch)
    for each in caught:
        if issubclass(each.category, PluginDeprecationWarning):
            say(f"note: {each.message}")
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return host


def _given() -> tuple[str, ...]:
    return switches.given(click.get_current_context(silent=True))


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

    @property
    def asked_for(self) -> bool:
        """Whether an option names a plugin, to load it or to leave it out."""
        ctx = click.get_current_context(silent=True)
        return bool(self._without or switches.given(ctx) or switches.left_out(ctx))

    @cached_property
    def registry(self) -> Registry:
        """The built-in layouts, with those of plugins if there is any plugin beside the built-in ones."""
        return self.host.registry if self.asked_for or others_installed() else BUILTIN

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
    except PluginError:  # says what to change in the plugin, for example in a chip
        raise
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
