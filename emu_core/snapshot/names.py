"""How a snapshot names what it does not copy: classes, code, and what belongs to the plugin host.

| thing | its name |
|---|---|
| chip, layouts, kernels, operators, AI CPU functions of the host | kind and key, looked up in the host that reads it |
| class, function, constant of a module | module and dotted name |
| code of a lambda or nested function | module, dotted name of the code, checksum of the code |

Only modules of this product and of the plugins in the host are looked into: a file can name nothing else.
"""

from __future__ import annotations

import importlib
import sys
import zlib
from functools import cached_property
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from emu_core.errors import InputError
from formats import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.plugins import PluginHost

OURS = ("emu_core", "emu_plugins", "formats")
CLOSED = ("emu_core.plugins", "emu_core.api", "emu_plugins.importers", "emu_plugins.compiler", "formats.codec")
"""Modules of ours that read files, make code or find plugins: nothing of a device lies in them."""
PLAIN = {t.__name__: t for t in (bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, object)}
NUMPY = "numpy"


def damaged(what: str) -> InputError:
    """A snapshot that does not hold what it should."""
    return InputError(what, id="snapshot.damaged", where="snapshot", remedy="save the snapshot again")


class Names:
    """Names of one plugin host, in both directions."""

    def __init__(self, host: PluginHost) -> None:
        self.host = host
        self._codes: dict[str, dict[tuple[str, int], CodeType]] = {}

    # ---- modules ---------------------------------------------------------------------------------------------

    @cached_property
    def packages(self) -> frozenset[str]:
        """Top packages whose code may be named: ours, and those of the plugins that were found."""
        plugins = (self.host.manager.get_plugin(p.name) for p in self.host.plugins if not p.broken)
        return frozenset((*OURS, *(_module_name(plugin).partition(".")[0] for plugin in plugins if plugin is not None)))

    def trusted(self, module: str) -> bool:
        """Whether code of `module` may be named."""
        closed = any(module == name or module.startswith(name + ".") for name in CLOSED)
        return module.partition(".")[0] in self.packages and not closed

    def module(self, name: object) -> ModuleType:
        """The module called `name`, if it may be named; `InputError` (`snapshot.foreign`) otherwise."""
        if not isinstance(name, str) or not self.trusted(name):
            raise InputError(
                f"names something of module {name!r}, which belongs to no plugin of this device",
                id="snapshot.foreign",
                where="snapshot",
                remedy="load the plugins it was saved with (--plugin), or save it again",
            )
        if name not in sys.modules and name.partition(".")[0] in OURS:
            try:
                importlib.import_module(name)
            except ImportError:
                raise damaged(f"names the module {name}, which does not exist") from None
        if name not in sys.modules:
            raise damaged(f"names the module {name}, which is not loaded")
        return sys.modules[name]

    def attribute(self, module: object, name: object) -> Any:  # noqa: ANN401 - whatever the module has
        """The thing called `name` (dotted) that is defined in a module."""
        if not isinstance(name, str):
            raise damaged("names something by no text")
        found: Any = self.module(module)
        for part in name.split("."):
            inner = vars(found) if isinstance(found, type | ModuleType) else {}
            if part not in inner:
                raise damaged(f"names {module}.{name}, which does not exist")
            found = inner[part]
        if isinstance(found, ModuleType):
            raise damaged(f"names the module {module}.{name}")
        return found

    def class_of(self, module: object, name: object) -> type:
        """The class called `name` of a module, or a plain type of the language."""
        if module == "builtins" and name in PLAIN:
            return PLAIN[str(name)]
        found = self.attribute(module, name)
        if not isinstance(found, type) or found.__module__ != module:
            raise damaged(f"{module}.{name} is no class of that module")
        return found

    def name_of(self, thing: Any) -> tuple[str, str] | None:  # noqa: ANN401 - a class or function
        """Module and dotted name by which exactly `thing` is found again, or None."""
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if not isinstance(module, str) or not isinstance(name, str):
            return None
        if isinstance(thing, type) and PLAIN.get(name) is thing:
            return "builtins", name
        if not self.trusted(module):
            return None
        try:
            return (module, name) if self.attribute(module, name) is thing else None
        except InputError:
            return None

    # ---- code ------------------------------------------------------------------------------------------------

    def code_name(self, function: FunctionType) -> tuple[str, str, int] | None:
        """Module, name and checksum of the code of a function, or None when it cannot be found again."""
        code, module = function.__code__, function.__globals__.get("__name__")
        if not isinstance(module, str) or not self.trusted(module) or module not in sys.modules:
            return None
        key = code.co_qualname, checksum(code)
        return (module, *key) if key in self._of_module(module) else None

    def code(self, module: object, name: object, check: object) -> CodeType:
        """The code of that name; `InputError` (`snapshot.code`) when it was changed since."""
        self.module(module)
        codes = self._of_module(str(module))
        found = codes.get((name, check))  # type: ignore[arg-type]
        if found is None:
            raise InputError(
                f"the function {name} of {module} is not what it was when the snapshot was made",
                id="snapshot.code",
                where="snapshot",
                remedy="use the version of the product and the plugins that made it, or save it again",
            )
        return found

    def _of_module(self, name: str) -> dict[tuple[str, int], CodeType]:
        if name not in self._codes:
            module = sys.modules[name]
            loader: Any = getattr(module, "__loader__", None)
            whole = None
            if hasattr(loader, "get_code"):
                try:
                    whole = loader.get_code(name)
                except (ImportError, OSError):
                    whole = None
            roots = [*_functions(module), *([whole] if isinstance(whole, CodeType) else [])]
            found = [code for root in roots for code in _inside(root)]
            self._codes[name] = {(c.co_qualname, checksum(c)): c for c in found if c is not whole}
        return self._codes[name]

    # ---- what the host has -----------------------------------------------------------------------------------

    @cached_property
    def _keys(self) -> dict[int, tuple[str, ...]]:
        host = self.host
        found: dict[int, tuple[str, ...]] = {}
        found[id(host)] = ("host",)
        found[id(host.registry)] = ("registry",)
        for kind, things in (("chip", host.chips), ("kernel", host.kernels), ("operator", host.operators)):
            found.update({id(thing): (kind, name) for name, thing in things.items()})
        for index, spec in enumerate(host.aicpu_kernels):
            found[id(spec)] = ("aicpu", str(index), spec.library, spec.function)
        for index, policy in enumerate(host.policy_specs):
            found[id(policy)] = ("policy", str(index), policy.name)
        return found

    def key_of(self, thing: object) -> tuple[str, ...] | None:
        """Kind and key of something that the host has, or None."""
        found = self._keys.get(id(thing))
        if found is not None:
            return found
        family, name = getattr(thing, "family", None), getattr(thing, "struct_name", None)
        if isinstance(family, str) and isinstance(name, str) and name in self.host.registry.names(family):
            return ("struct", family, name) if self.host.registry.get(family, name) is thing else None
        return None

    def by_key(self, kind: object, *key: object) -> Any:  # noqa: ANN401 - a record of the host
        """What the host has under that key."""
        texts = [str(part) for part in key]
        try:
            return _HOST_PARTS[str(kind)](self.host, *texts)
        except (KeyError, IndexError, ValueError, TypeError, StopIteration, FormatError):
            raise InputError(
                f"needs the {kind} {' '.join(texts)}, which no loaded plugin supplies",
                id="snapshot.plugins",
                where="snapshot",
                remedy="load the plugins it was saved with (--plugin)",
            ) from None


def _listed(things: Iterable[Any], index: str, **named: str) -> Any:  # noqa: ANN401 - a record of the host
    """The record at `index` of a list, if it is called as it was."""
    found = tuple(things)[int(index)]
    if any(getattr(found, name) != value for name, value in named.items()):
        raise KeyError(index)
    return found


_HOST_PARTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "host": lambda host: host,
        "registry": lambda host: host.registry,
        "struct": lambda host, family, name: host.registry.get(family, name),
        "chip": lambda host, name: host.chips[name],
        "kernel": lambda host, name: host.kernels[name],
        "operator": lambda host, name: host.operators[name],
        "aicpu": lambda host, at, lib, name: _listed(host.aicpu_kernels, at, library=lib, function=name),
        "policy": lambda host, at, name: _listed(host.policy_specs, at, name=name),
    }
)
"""How each kind of record of a host is found by its key."""


def checksum(code: CodeType) -> int:
    """CRC-32 over what a code object does: instructions, names and plain constants."""
    plain = [c for c in code.co_consts if isinstance(c, int | float | str | bytes | bool | type(None))]
    return zlib.crc32(repr((code.co_code, code.co_names, code.co_freevars, code.co_varnames, plain)).encode())


def _module_name(plugin: object) -> str:
    return plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__


def _functions(module: ModuleType) -> Iterator[CodeType]:
    """Code of the functions and methods that a module defines."""
    spaces: list[Any] = [vars(module)]
    while spaces:
        for thing in list(spaces.pop().values()):
            if isinstance(thing, type) and thing.__module__ == module.__name__:
                spaces.append(vars(thing))
            function = getattr(thing, "__func__", getattr(thing, "fget", getattr(thing, "func", thing)))
            while isinstance(function, FunctionType):
                if function.__globals__ is vars(module):
                    yield function.__code__
                function = getattr(function, "__wrapped__", None)


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)
