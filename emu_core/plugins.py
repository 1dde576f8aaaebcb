"""The plugin host: finds plugins, survives broken ones, and collects what they supply.

Plugins come from the entry-point group `sqemu.plugins` and from the caller. The host has its own loading loop: a plugin
that cannot be imported or registered is noted in `broken` with its distribution and version, and the others
go on. Nothing is collected before somebody asks.

| a hook that raises, or breaks its contract | plugin was given | plugin is installed |
|---|---|---|
| a `SqemuError`, meant for the user | passes through | passes through |
| `sqemu_compile`, `sqemu_load` | `PluginError` | `PluginError` |
| any other hook | `PluginError` | the plugin is broken, and left out from then on |
| a record has a name that is taken | `PluginError` | the plugin is broken, and gives no record of the hook |

What our own plugins raise in `sqemu_compile` and `sqemu_load` is a bug of the product and stays as it is.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import warnings
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

import formats
from emu_core import deprecations, hookspecs
from emu_core.chip_figures import ChipError
from emu_core.dispatch import DispatchTable
from emu_core.engine_guard import guarded, guarded_record
from emu_core.errors import InputError, PluginError, SqemuError
from emu_core.hook_calls import GIVEN, OURS, Impl, PluginInfo, Unfit, arguments_of, check_function, checked, reason
from emu_core.policies import CORE_POLICIES, PolicySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.checks import CheckSpec
    from emu_core.chips import Chip
    from emu_core.device import Device
    from emu_core.engines import Handler
    from emu_core.extensions import CommandSpec, DumpView, ImporterSpec, ObserverSpec, PassSpec
    from emu_core.kernels import AicpuKernelSpec, KernelSpec
    from emu_core.operators import OperatorSpec

GROUP = "sqemu.plugins"
CORE_LAYOUTS = ("SqeHeader", "CqeError", "CommonSqe")
"""Layouts that every family of queue entries has."""

GUARDED = frozenset({"sqemu_passes", "sqemu_importers", "sqemu_dump_views", "sqemu_observers", "sqemu_commands"})
"""Hooks whose records have functions that the front end calls."""

T = TypeVar("T")


class _Manager(pluggy.PluginManager):
    """Looks at each hook function when its plugin is registered; `Unfit` for one that cannot be called by name.

    Attributes:
        deprecated: what the plugins that were looked at use of `emu_core.deprecations`.
    """

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.deprecated: list[deprecations.Deprecated] = []

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """The marks of attribute `name`, or None when it is no hook function."""
        marks = super().parse_hookimpl_opts(plugin, name)
        if marks is not None:
            hook = marks["specname"] or name
            if marks["wrapper"] or marks["hookwrapper"]:
                raise Unfit(f"{hook} is a hook wrapper, which is not supported")
            gone = None if hasattr(hookspecs, hook) else deprecations.row_of(hook)
            if gone is not None:
                raise Unfit(gone.refusal())
            if hasattr(hookspecs, hook):
                check_function(hook, getattr(plugin, name), arguments_of(hook))
                self.deprecated += deprecations.used(hook, getattr(plugin, name))
        return marks


class PluginHost:
    """Plugins of one process or one device; plain object, any number may exist.

    Args:
        plugins: extra plugin objects or modules, registered after the installed ones. A broken one is an error, since
            somebody asked for it.
        entry_points: whether to load the installed ones.
        without: names of installed plugins to leave out.
        stopwatch: gives nanoseconds; with it `PluginInfo.load_ns` says what each plugin took. There is no clock here.

    A plugin that uses a deprecated hook or argument is named by a `PluginDeprecationWarning`.

    Raises:
        PluginError: a plugin that was given is not valid (`plugin.invalid`).
    """

    def __init__(
        self,
        plugins: Iterable[object] = (),
        *,
        entry_points: bool = True,
        without: Iterable[str] = (),
        stopwatch: Callable[[], int] | None = None,
    ) -> None:
        self._manager = _Manager(hookspecs.PROJECT)
        self.manager: pluggy.PluginManager = self._manager
        self._stopwatch = stopwatch
        self.manager.add_hookspecs(hookspecs)
        self._found: list[PluginInfo] = []
        self._owners: dict[str, Mapping[str, str]] = {}
        self._skipped = frozenset(without)
        if entry_points:
            self._load_installed()
            self._check_skipped()
        for plugin in plugins:
            self._register(plugin, self._free_name(_name_of(plugin)), GIVEN, self._now())
            found = self._found[-1]
            if found.broken or not found.hooks:
                what = found.broken or "has no hook of sqemu"
                raise PluginError(
                    what, id="plugin.invalid", where=found.label, remedy="see the hooks in docs/plugins.md"
                )

    def _load_installed(self) -> None:
        for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: e.name):
            name = entry.name
            if name in self._skipped:
                continue
            origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
            begun = self._now()
            try:
                plugin = entry.load()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plugin must not end everything
                self._found.append(PluginInfo(name, origin, broken=f"import failed: {reason(error)}"))
                continue
            self._register(plugin, name, origin, begun)

    def _now(self) -> int | None:
        return None if self._stopwatch is None else self._stopwatch()

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

    def _register(self, plugin: object, name: str, origin: str, begun: int | None) -> None:
        if self.manager.has_plugin(name):
            self._found.append(PluginInfo(name, origin, broken="another plugin with this name was loaded before"))
            return
        self._manager.deprecated.clear()
        try:
            self.manager.register(plugin, name)
            self.manager.check_pending()
        except Exception as error:  # noqa: BLE001 - looking at an object runs its code, which may raise anything
            if self.manager.has_plugin(name):
                self.manager.unregister(name=name)
            why = str(error) if isinstance(error, Unfit) else reason(error)
            self._found.append(PluginInfo(name, origin, broken=f"not a valid plugin: {why}"))
            return
        hooks = tuple(sorted(caller.name for caller in self.manager.get_hookcallers(plugin) or ()))
        now = self._now()
        load_ns = None if begun is None or now is None else now - begun
        self._found.append(PluginInfo(name, origin, hooks, file=_file_of(plugin), load_ns=load_ns))
        for row in dict.fromkeys(self._manager.deprecated):
            text = f"{self._found[-1].label} {row.warning()}"
            warnings.warn(text, deprecations.PluginDeprecationWarning, stacklevel=4)

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, in loading order, broken ones included."""
        return tuple(self._found)

    def _break(self, impl: Impl, what: str, error: Exception | None = None) -> None:
        """Mark an installed plugin as broken; one that was given by the caller ends with an error."""
        if impl.plugin.origin == GIVEN:
            raise impl.error(what, id="plugin.raised") from error
        self._found = [
            replace(p, broken=f"{impl.hook} {what}") if p.name == impl.plugin.name and not p.broken else p
            for p in self._found
        ]

    def _impls(self, hook: str) -> list[Impl]:
        """The functions of plugins that are not broken, in the order in which they were registered."""
        working = {p.name: p for p in self._found if not p.broken}
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        functions = {impl.plugin_name: impl for impl in caller.get_hookimpls()}
        return [
            Impl(info, hook, impl.function, 0 if impl.tryfirst else 2 if impl.trylast else 1)
            for name, info in working.items()
            for impl in [functions.get(name)]
            if impl is not None
        ]

    def each(self, hook: str, **arguments: object) -> Iterator[tuple[str, Any]]:
        """(plugin name, result) of each plugin, installed ones by name, then given ones as they were given.

        An installed plugin that raises, or gives something else than the hook's contract says, is marked broken and
        left out.

        Raises:
            PluginError: the same in a plugin that was given (`plugin.raised`; `chip.field` for a chip that cannot be).
            SqemuError: raised by a plugin for the user.
        """
        for impl in self._impls(hook):
            try:
                result = checked(hook, impl.call(arguments))
            except ChipError as error:
                if impl.plugin.origin == GIVEN:
                    raise
                self._break(impl, f"makes a chip that cannot be: {error.text()}")
            except SqemuError:
                raise
            except Unfit as error:
                self._break(impl, str(error))
            except Exception as error:  # noqa: BLE001 - isolate the plugin, keep the rest
                self._break(impl, f"raised {reason(error)}", error)
            else:
                yield impl.plugin.name, _safe(impl, result)

    def first(self, hook: str, **arguments: object) -> Any:  # noqa: ANN401 - the hook's own result
        """The first answer that is not None; nobody is asked after it.

        Asked are, in this order: functions marked `tryfirst`; unmarked ones of given plugins, of installed plugins of
        others, and our own; functions marked `trylast`. Among equals given ones as they were given, installed ones by
        name.

        Raises:
            PluginError: no plugin answers (`plugin.missing`), a plugin raised something that is meant for nobody
                (`plugin.raised`), or answers with an object of another class (`plugin.answer`).
            SqemuError: raised by a plugin for the user.
        """
        for impl in sorted(self._impls(hook), key=lambda impl: impl.order):
            result = impl.answer(arguments)
            if result is not None:
                return result
        broken = "; ".join(f"{p.name}: {p.broken}" for p in self._found if p.broken)
        raise PluginError(
            f"no plugin answers {hook}",
            id="plugin.missing",
            remedy=f"broken plugins: {broken}" if broken else "check `sqemu plugins list`",
        )

    def _collect(self, hook: str, key: Callable[[T], str], what: str, **arguments: object) -> Mapping[str, T]:
        """Records of all plugins by `key`, in the order of registration.

        Our own records come before those of installed plugins, and these before those of given ones: an installed
        plugin whose record has a name that is taken is broken, and gives nothing.

        Raises:
            PluginError: a plugin that was given clashes (`plugin.clash`).
        """
        results: list[tuple[str, list[T]]] = list(self.each(hook, **arguments))
        taken: dict[str, PluginInfo] = {}
        refused = set()
        for info, items in sorted(((self._info(name), items) for name, items in results), key=_claim):
            clash = _first_clash([key(item) for item in items], taken, info)
            if clash is None:
                taken.update((key(item), info) for item in items)
                continue
            self._refuse_clash(hook, f"{what} {clash!r}", taken.get(clash, info), info)
            refused.add(info.name)
        self._owners[hook] = {at: info.name for at, info in taken.items()}
        return MappingProxyType({key(i): i for name, items in results if name not in refused for i in items})

    def _info(self, name: str) -> PluginInfo:
        return next(each for each in self._found if each.name == name)

    def _refuse_clash(self, hook: str, what: str, owner: PluginInfo, second: PluginInfo) -> None:
        """Mark `second` as broken, or raise when it was given."""
        text = f"{what} comes from both {owner.name} and {second.name}"
        if second.origin == GIVEN:
            raise PluginError(
                text,
                id="plugin.clash",
                where=" and ".join(dict.fromkeys((owner.label, second.label))),
                remedy="switch one of the two plugins off",
            )
        whose = "the product" if owner.ours else owner.label
        self._mark(second.name, f"{hook} {text}; the one of {whose} stays")

    def _mark(self, name: str, why: str) -> None:
        """Mark a plugin as broken, if it is not."""
        self._found = [replace(p, broken=why) if p.name == name and not p.broken else p for p in self._found]

    def engines(self, device: Device) -> list[Handler]:
        """Handlers for `device`; an installed plugin of somebody else whose handlers clash is left out.

        Raises:
            PluginError: the handlers of a given plugin, or of ours, clash (`plugin.handler-clash`, `plugin.handler`).
        """
        results = list(self.each("sqemu_engines", device=device))
        accepted: list[Handler] = []
        refused = set()
        for info, handlers in sorted(((self._info(name), found) for name, found in results), key=_claim):
            if info.origin != GIVEN and not info.ours:
                try:
                    DispatchTable([*accepted, *handlers], device.reader)
                except PluginError as error:
                    self._mark(info.name, f"sqemu_engines: {error.what}")
                    refused.add(info.name)
                    continue
            accepted += handlers
        return [handler for name, handlers in results if name not in refused for handler in handlers]

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
        results = [(self._info(name), items) for name, items in self.each("sqemu_policies")]
        taken = {spec.name: PluginInfo("sqemu", OURS) for spec in CORE_POLICIES}
        refused = set()
        for info, items in sorted(results, key=_claim):
            clash = _first_clash([spec.name for spec in items], taken, info)
            if clash is not None and info.origin != GIVEN and not info.ours:  # others: when a device is made
                self._refuse_clash("sqemu_policies", f"policy {clash!r}", taken.get(clash, info), info)
                refused.add(info.name)
            else:
                taken.update((spec.name, info) for spec in items)
        return (*CORE_POLICIES, *(spec for info, items in results if info.name not in refused for spec in items))

    @cached_property
    def registry(self) -> formats.Registry:
        """The format registry with what plugins add; a plugin whose layouts do not fit is broken."""
        found = formats.BUILTIN
        impls = {impl.plugin.name: impl for impl in self._impls("sqemu_structs")}
        for name, structs in self.each("sqemu_structs"):
            try:
                found = found.extend(structs) if structs else found
            except formats.FormatError as error:
                self._break(impls[name], f"gives layouts that do not fit: {error}", error)
        return found

    @cached_property
    def checks(self) -> Mapping[str, CheckSpec]:
        """Checks of a program by name."""
        return self._collect("sqemu_checks", lambda spec: spec.name, "check")

    @cached_property
    def passes(self) -> Mapping[str, PassSpec]:
        """Compiler passes by name, in the order in which they run."""
        return self._collect("sqemu_passes", lambda spec: spec.name, "compiler pass")

    @cached_property
    def importers(self) -> Mapping[str, ImporterSpec]:
        """Formats of graphs by name."""
        return self._collect("sqemu_importers", lambda spec: spec.name, "importer")

    @cached_property
    def dump_views(self) -> Mapping[str, DumpView]:
        """Ways to show entries by name."""
        return self._collect("sqemu_dump_views", lambda view: view.name, "dump view")

    @cached_property
    def observers(self) -> Mapping[str, ObserverSpec]:
        """Observers of executions by name, in the order in which they are told."""
        return self._collect("sqemu_observers", lambda spec: spec.name, "observer")

    @cached_property
    def commands(self) -> Mapping[str, CommandSpec]:
        """Subcommands by name."""
        return self._collect("sqemu_commands", lambda spec: spec.name, "subcommand")

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

    def _owner(self, hook: str, name: str) -> PluginInfo | None:
        """The plugin whose `hook` gave the record called `name`; None before records of the hook were asked for."""
        plugin = self._owners.get(hook, {}).get(name)
        return next((each for each in self._found if each.name == plugin), None)

    def owner_label(self, hook: str, name: str) -> str:
        """Who gave a record, for messages: `plugin edu (sqemu-edu 1.0)`; empty when nobody did."""
        owner = self._owner(hook, name)
        return owner.label if owner is not None else ""

    def is_broken(self, hook: str, name: str) -> bool:
        """Whether the plugin that gave a record is broken by now; its records are not to be used."""
        owner = self._owner(hook, name)
        return owner is not None and bool(owner.broken)

    def isolate(self, hook: str, name: str, error: SqemuError) -> None:
        """Mark the plugin of a record, a function of which raised, as broken; `error` again if the plugin was given."""
        owner = self._owner(hook, name)
        if owner is None or owner.origin == GIVEN:
            raise error
        self._found = [replace(p, broken=f"{hook} {name}: {error.what}") if p is owner else p for p in self._found]

    def asked(self, hook: str) -> tuple[str, ...]:
        """Names of the plugins that have `hook`, in the order in which they are asked for its one answer."""
        return tuple(impl.plugin.name for impl in sorted(self._impls(hook), key=lambda impl: impl.order))

    def supplier(self, chip: Chip) -> str:
        """Who supplies `chip`, for messages: `plugin edu (sqemu-edu 1.0)`; empty for a chip of no plugin."""
        if self.chips.get(chip.name) is None:
            return ""
        name = self._owners["sqemu_chips"][chip.name]
        return next((plugin.label for plugin in self._found if plugin.name == name), "")

    def require_layouts(self, chip: Chip) -> None:
        """Nothing when the layouts that the machine itself reads are there for the entries of `chip`.

        Raises:
            PluginError: the family is not known, or lacks some of them (`chip.no-layouts`).
        """
        registry, family = self.registry, chip.family
        known = family in registry.families
        has = registry.names(family) if known else ()
        lacks = [name for name in CORE_LAYOUTS if name not in has]
        if not lacks:
            return
        of = self.supplier(chip)
        complete = [each for each in registry.families if set(CORE_LAYOUTS) <= set(registry.names(each))]
        what = f"the family {family!r} of its entries " + (
            f"has no layout {', '.join(lacks)}" if known else "is not known"
        )
        raise PluginError(
            what,
            id="chip.no-layouts",
            where=f"chip {chip.name}" + (f", from {of}" if of else ""),
            remedy="give them in the hook sqemu_structs (docs/plugins.md, A chip with entries of its own), or use "
            f"one of the families {', '.join(complete)}",
        )


def _claim(found: tuple[PluginInfo, object]) -> int:
    """Whose records keep their names in a clash: ours, then those of installed plugins, then given ones."""
    info = found[0]
    return 0 if info.ours else 2 if info.origin == GIVEN else 1


def _first_clash(names: Iterable[str], taken: Mapping[str, PluginInfo], info: PluginInfo) -> str | None:
    """The first of `names` that is taken, or that `info` gives twice."""
    own: dict[str, PluginInfo] = {}
    for name in names:
        if name in taken or name in own:
            return name
        own[name] = info
    return None


def _name_of(plugin: object) -> str:
    """How messages call a plugin that was given: as a module, or by its class."""
    try:
        return str(getattr(plugin, "__name__", type(plugin).__name__))
    except Exception:  # noqa: BLE001 - looking at an object runs its code, which may raise anything
        return type(plugin).__name__


def _file_of(plugin: object) -> str:
    """The file of a module; empty for an object that has none."""
    try:
        return str(getattr(plugin, "__file__", None) or "")
    except Exception:  # noqa: BLE001 - looking at an object runs its code, which may raise anything
        return ""


def _safe(impl: Impl, result: Any) -> Any:  # noqa: ANN401 - the hook's own result
    """`result`; the functions of other people's engines guarded."""
    if impl.plugin.ours:
        return result
    if impl.hook in GUARDED:
        return [guarded_record(record, impl.plugin.label) for record in result]
    if impl.hook != "sqemu_engines":
        return result
    return [guarded(handler, impl.plugin.label) for handler in result]
