"""The plugin host: finds plugins, survives broken ones, and collects what they supply.

Plugins come from the entry-point group `sqemu.plugins` and from the caller. The host has its own loading loop: a plugin
that cannot be imported or registered is noted in `broken` with its distribution and version, and the others
go on. Nothing is collected before somebody asks.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

import formats
from emu_core import hookspecs
from emu_core.checks import CheckSpec
from emu_core.chips import Chip
from emu_core.engines import Handler
from emu_core.errors import InputError, PluginError, SqemuError
from emu_core.kernels import AicpuKernelSpec, KernelSpec
from emu_core.operators import OperatorSpec
from emu_core.policies import CORE_POLICIES, PolicySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

GROUP = "sqemu.plugins"
GIVEN = "given by the caller"

T = TypeVar("T")

_RECORDS: Mapping[str, tuple[type, str]] = MappingProxyType(
    {
        "sqemu_chips": (Chip, "name"),
        "sqemu_structs": (formats.CStruct, "struct_name"),
        "sqemu_policies": (PolicySpec, "name"),
        "sqemu_operators": (OperatorSpec, "type"),
        "sqemu_kernels": (KernelSpec, "name"),
        "sqemu_aicpu_kernels": (AicpuKernelSpec, "function"),
        "sqemu_engines": (Handler, "kind"),
        "sqemu_checks": (CheckSpec, "name"),
    }
)
"""What each collecting hook gives a sequence of, and the attribute that names one."""


@dataclass(frozen=True)
class PluginInfo:
    """A plugin that was found: name, where from, and the reason if it is broken."""

    name: str
    origin: str
    hooks: tuple[str, ...] = ()
    broken: str = ""


class PluginHost:
    """Plugins of one process or one device; plain object, any number may exist.

    Args:
        plugins: extra plugin objects or modules, registered after the installed ones. A broken one is an error, since
            somebody asked for it.
        entry_points: whether to load the installed ones.
        without: names of installed plugins to leave out.

    Raises:
        PluginError: a plugin that was given is not valid (`plugin.invalid`), or raised in a hook (`plugin.raised`).
    """

    def __init__(
        self, plugins: Iterable[object] = (), *, entry_points: bool = True, without: Iterable[str] = ()
    ) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self._found: list[PluginInfo] = []
        self._skipped = frozenset(without)
        if entry_points:
            self._load_installed()
            self._check_skipped()
        for plugin in plugins:
            name = str(getattr(plugin, "__name__", type(plugin).__name__))
            self._register(plugin, self._free_name(name), GIVEN)
            if not self._found[-1].broken and not self._found[-1].hooks:
                raise PluginError("has no hook of sqemu", id="plugin.invalid", where=f"plugin {self._found[-1].name}")
            if self._found[-1].broken:
                raise PluginError(self._found[-1].broken, id="plugin.invalid", where=f"plugin {self._found[-1].name}")

    def _load_installed(self) -> None:
        for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: e.name):
            name = entry.name
            if name in self._skipped:
                continue
            origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
            try:
                plugin = entry.load()
            except Exception as error:  # noqa: BLE001 - a broken plugin must not end everything
                self._found.append(PluginInfo(name, origin, broken=f"import failed: {_reason(error)}"))
                continue
            self._register(plugin, name, origin)

    def _check_skipped(self) -> None:
        unknown = sorted(self._skipped - {e.name for e in importlib.metadata.entry_points(group=GROUP)})
        if unknown:
            known = ", ".join(p.name for p in self._found)
            raise PluginError(
                f"there is no plugin {unknown[0]!r} to leave out", id="plugin.unknown", remedy=f"installed: {known}"
            )

    def _free_name(self, name: str) -> str:
        """`name`, with a number behind it when it is taken: several objects of one class are several plugins."""
        numbered = (name if n == 1 else f"{name}-{n}" for n in itertools.count(1))
        return next(each for each in numbered if not self.manager.has_plugin(each))

    def _register(self, plugin: object, name: str, origin: str) -> None:
        if self.manager.has_plugin(name):
            self._found.append(PluginInfo(name, origin, broken="another plugin with this name was loaded before"))
            return
        try:
            self.manager.register(plugin, name)
            self.manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            if self.manager.has_plugin(name):
                self.manager.unregister(name=name)
            self._found.append(PluginInfo(name, origin, broken=f"not a valid plugin: {_reason(error)}"))
            return
        hooks = tuple(sorted(caller.name for caller in self.manager.get_hookcallers(plugin) or ()))
        self._found.append(PluginInfo(name, origin, hooks))

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, in loading order, broken ones included."""
        return tuple(self._found)

    def _break(self, name: str, error: Exception) -> None:
        """Mark an installed plugin as broken; one that was given by the caller ends with an error."""
        if any(p.name == name and p.origin == GIVEN for p in self._found):
            raise PluginError(
                f"raised {_reason(error)}", id="plugin.raised", where=f"plugin {name}", remedy="repair the plugin"
            ) from error
        self._found = [
            PluginInfo(p.name, p.origin, p.hooks, _reason(error)) if p.name == name and not p.broken else p
            for p in self._found
        ]

    def _impls(self, hook: str) -> Iterator[tuple[str, Callable[..., Any], tuple[str, ...]]]:
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        for impl in caller.get_hookimpls():
            yield impl.plugin_name, impl.function, tuple(inspect.signature(impl.function).parameters)

    def each(self, hook: str, **arguments: object) -> Iterator[tuple[str, Any]]:
        """(plugin name, result) of each implementation; one that raises is marked broken and left out."""
        for name, function, wanted in list(self._impls(hook)):
            try:
                result = _checked(hook, function(**{w: arguments[w] for w in wanted if w in arguments}))
            except SqemuError:
                raise
            except Exception as error:  # noqa: BLE001 - isolate the plugin, keep the rest
                self._break(name, error)
            else:
                yield name, result

    def first(self, hook: str, **arguments: object) -> Any:  # noqa: ANN401 - the hook's own result
        """First result that is not None; `PluginError` when no plugin answers. Errors of the plugin pass through."""
        for _, function, wanted in self._impls(hook):
            result = function(**{w: arguments[w] for w in wanted if w in arguments})
            if result is not None:
                return result
        broken = "; ".join(f"{p.name}: {p.broken}" for p in self._found if p.broken)
        raise PluginError(
            f"no plugin answers {hook}",
            id="plugin.missing",
            remedy=f"broken plugins: {broken}" if broken else "check `sqemu plugins list`",
        )

    def _collect(self, hook: str, key: Callable[[T], str], what: str, **arguments: object) -> Mapping[str, T]:
        found: dict[str, T] = {}
        owner: dict[str, str] = {}
        for name, items in self.each(hook, **arguments):
            for item in items:
                at = key(item)
                if at in found:
                    raise PluginError(
                        f"{what} {at!r} comes from both {owner[at]} and {name}",
                        id="plugin.clash",
                        remedy="switch one of the two plugins off",
                    )
                found[at] = item
                owner[at] = name
        return MappingProxyType(found)

    @cached_property
    def chips(self) -> Mapping[str, Chip]:
        """Chips by lower-case SoC name."""
        return self._collect("sqemu_chips", lambda chip: chip.name, "chip")

    @cached_property
    def operators(self) -> Mapping[str, OperatorSpec]:
        """Operators by type."""
        return self._collect("sqemu_operators", lambda spec: spec.type, "operator")

    @cached_property
    def kernels(self) -> Mapping[str, KernelSpec]:
        """AI Core kernels by name."""
        found: Mapping[str, KernelSpec] = self._collect("sqemu_kernels", lambda spec: spec.name, "kernel")
        keys: dict[int, str] = {}
        for name, spec in found.items():
            if keys.setdefault(spec.key, name) != name:
                raise PluginError(f"kernels {keys[spec.key]} and {name} have the same id", id="plugin.clash")
        return found

    @cached_property
    def aicpu_kernels(self) -> tuple[AicpuKernelSpec, ...]:
        """AI CPU functions in registration order."""
        return tuple(item for _, items in self.each("sqemu_aicpu_kernels", host=self) for item in items)

    @cached_property
    def policy_specs(self) -> tuple[PolicySpec, ...]:
        """Policies of the core and of all plugins."""
        found = [item for _, items in self.each("sqemu_policies") for item in items]
        return (*CORE_POLICIES, *found)

    @cached_property
    def registry(self) -> formats.Registry:
        """The format registry with what plugins add."""
        added = [item for _, items in self.each("sqemu_structs") for item in items]
        return formats.BUILTIN.extend(added) if added else formats.BUILTIN

    @cached_property
    def checks(self) -> Mapping[str, CheckSpec]:
        """Checks of a program by name."""
        return self._collect("sqemu_checks", lambda spec: spec.name, "check")

    @cached_property
    def explanations(self) -> Mapping[str, str]:
        """Texts for `sqemu explain` that plugins add."""
        found: dict[str, str] = {}
        for _, texts in self.each("sqemu_explanations"):
            found.update(texts)
        return MappingProxyType(found)

    def chip(self, name: str) -> Chip:
        """The chip called `name`; `InputError` lists the known ones."""
        try:
            return self.chips[name.lower()]
        except KeyError:
            raise InputError(
                f"there is no chip {name!r}",
                id="chip.unknown",
                remedy=f"known chips: {', '.join(sorted(self.chips)) or 'none, as no loaded plugin has any'}",
            ) from None


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _checked(hook: str, result: Any) -> Any:  # noqa: ANN401 - whatever a plugin gives
    """The result of a collecting hook as a list of its records, or as a mapping of texts; TypeError otherwise."""
    if hook == "sqemu_explanations":
        if not isinstance(result, Mapping) or any(type(x) is not str for pair in result.items() for x in pair):
            raise TypeError(f"{hook} must give a mapping of text to text, not {type(result).__name__}")
        return result
    record, named_by = _RECORDS[hook]
    items = list(result)
    for item in items:
        if not isinstance(item, record):
            raise TypeError(f"{hook} must give {record.__name__} records, not {type(item).__name__}")
        name = getattr(item, named_by)
        if not isinstance(name, str):
            raise TypeError(f"{hook}: the {named_by} of a {record.__name__} must be text, not {type(name).__name__}")
    return items
