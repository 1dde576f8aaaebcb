"""From the objects of a device to a table of nodes (`emu_core.snapshot.nodes`).

In memory, objects that never change are held as they are; for a file (`plain`) everything becomes data. Objects are
taken breadth first, so the way to an object that cannot be kept is as short as it can be.
"""

from __future__ import annotations

import itertools
import struct
from collections import deque
from dataclasses import is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from inspect import getattr_static
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from emu_core.chips import Chip
from emu_core.engines import Handler, nothing
from emu_core.errors import PluginError
from emu_core.kernels import AicpuKernelSpec, KernelSpec
from emu_core.lane import Lane
from emu_core.memory import _Block
from emu_core.operators import OperatorSpec
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySpec
from emu_core.snapshot.nodes import GROUP, LEAST, MOST, PRIMITIVES, Node
from emu_core.snapshot.rules import CACHES, FRESH, LOGS, RECORDS, outside_of
from emu_core.streams import Running
from formats import CStruct, Registry
from formats.access import FieldAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.snapshot.names import Names

    Value: TypeAlias = "object"
    Attributes: TypeAlias = tuple[tuple[tuple[str, MemberDescriptorType], ...], bool]

OF_THE_HOST = (PluginHost, Registry, Chip, KernelSpec, OperatorSpec, AicpuKernelSpec, PolicySpec, CStruct)
UNCHANGING = (np.generic, np.dtype, Fraction, range, struct.Struct, ModuleType, BuiltinFunctionType, np.ufunc)
CONTAINERS: Mapping[Any, str] = {list: "list", set: "set", frozenset: "frozenset", deque: "deque", tuple: "tuple"}
METHODS = MappingProxyType(
    {
        list: frozenset({"append", "extend", "pop"}),
        deque: frozenset({"append", "popleft"}),
        dict: frozenset({"get", "pop", "__getitem__", "__contains__"}),
        set: frozenset({"add", "discard", "__contains__"}),
        struct.Struct: frozenset({"unpack_from", "pack_into", "unpack", "pack"}),
    }
)
"""Built-in methods that may be kept, by the class of their object."""
LONGEST_WAY = 160


class Graph:
    """The nodes of everything that is reached from what `add` is given.

    Attributes:
        nodes: the table. objects: the object of each node. blocks: nodes of allocations, by node number.
    """

    def __init__(self, names: Names, roots: Mapping[int, _Block], *, plain: bool, logs: Mapping[str, Any]) -> None:
        self.nodes: list[Node | None] = []
        self.objects: list[Any] = []
        self.blocks: dict[int, _Block] = {}
        self.logs: dict[str, tuple[tuple[object, ...], ...]] = {}
        self._names, self._roots, self._plain, self._earlier = names, roots, plain, logs
        self._known: dict[int, tuple[int]] = {}
        self._came: list[tuple[int, str]] = []
        self._open: deque[int] = deque()
        self._shapes: dict[type, Attributes] = {}
        self._at = -1

    def add(self, root: object) -> object:
        """The value of `root`, with the nodes of all that it leads to."""
        value = self._value(root, "")
        while self._open:
            self._at = at = self._open.popleft()
            self.nodes[at] = self._node(self.objects[at])
        return value

    # ---- values ----------------------------------------------------------------------------------------------

    def _value(self, thing: Any, label: str) -> object:  # noqa: ANN401 - any object
        kind = type(thing)
        if (kind in PRIMITIVES and not (self._plain and kind is bytes)) or (kind is int and LEAST <= thing <= MOST):
            return thing
        if kind is Lane:
            return self._value(nothing if thing.then is None else thing.then, label)
        found = self._known.get(id(thing))
        if found is None:
            found = self._known[id(thing)] = (len(self.nodes),)
            self.nodes.append(None)
            self.objects.append(thing)
            self._came.append((self._at, label))
            self._open.append(found[0])
        return found

    def _values(self, things: Iterable[object], label: str) -> Iterator[object]:
        return (self._value(thing, f"{label}[{index}]") for index, thing in enumerate(things))

    # ---- nodes -----------------------------------------------------------------------------------------------

    def _node(self, thing: Any) -> Node:  # noqa: ANN401, C901, PLR0911, PLR0912 - one row per kind of object
        kind = type(thing)
        if kind in CONTAINERS:
            return (CONTAINERS[kind], *self._values(thing, ""))
        if kind is dict:
            return ("dict", *self._pairs(thing))
        if kind is int:
            return ("int", str(thing))
        if kind is bytes:
            return ("bytes", thing)
        if not self._plain and self._unchanging(thing, kind):
            return ("kept", thing)
        if isinstance(thing, OF_THE_HOST):
            key = self._names.key_of(thing)
            if key is not None:
                return ("host", *key)
        if kind is FieldAccess:
            return ("field", self._value(thing.struct, ".struct"), thing.name)
        if isinstance(thing, type):
            return self._named("class", thing)
        if isinstance(thing, Enum):
            return ("enum", self._value(kind, ""), thing.name)
        if kind is FunctionType:
            return self._function(thing)
        if kind is MethodType:
            return self._method(thing)
        if kind is BuiltinFunctionType:
            return self._builtin(thing)
        if kind is partial:
            words = self._value(thing.keywords, "")
            return ("partial", self._value(thing.func, ""), self._value(thing.args, " argument "), words)
        if kind is CellType:
            return ("cell", *self._cell(thing))
        if kind is np.ndarray:
            return self._array(thing)
        if isinstance(thing, np.generic):
            return ("scalar", thing.dtype.str, thing.tobytes())
        if kind is MappingProxyType:
            return ("proxy", self._value(dict(thing), ""))
        if kind in _SIMPLE:
            return _SIMPLE[kind](thing)
        if isinstance(thing, np.dtype) and not thing.hasobject and thing.names is None:
            return ("dtype", thing.str)
        return self._instance(thing, kind)

    def _unchanging(self, thing: Any, kind: type) -> bool:  # noqa: ANN401 - any object
        if kind is FunctionType:
            return thing.__closure__ is None and not thing.__defaults__ and not thing.__kwdefaults__
        if kind is BuiltinFunctionType:
            return thing.__self__ is None or isinstance(thing.__self__, ModuleType)
        if kind in RECORDS or kind is FieldAccess or isinstance(thing, (Enum, type, *UNCHANGING)):
            return True
        return isinstance(thing, OF_THE_HOST) and self._names.key_of(thing) is not None

    def _pairs(self, found: Mapping[Any, Any]) -> Iterator[object]:
        for key, value in found.items():
            yield self._value(key, " key")
            yield self._value(value, f"[{str(key)[:40]}]")

    def _named(self, what: str, thing: Any) -> Node:  # noqa: ANN401 - a class or function
        name = self._names.name_of(thing)
        if name is None:
            raise self._refused(thing, f"{what} {_shown(thing)} is of no module of the product or its plugins")
        return (what, *name)

    def _cell(self, cell: CellType) -> tuple[object, ...]:
        try:
            return (self._value(cell.cell_contents, ""),)
        except ValueError:
            return ()

    def _function(self, function: FunctionType) -> Node:
        if self._plain and function.__closure__ is None and self._names.name_of(function) is not None:
            return self._named("global", function)
        code: tuple[object, ...] = (function, None, None)
        if self._plain:
            name = self._names.code_name(function)
            if name is None:
                raise self._refused(function, f"the code of {_shown(function)} is in no module that can be named")
            code = name
        names = function.__code__.co_freevars
        cells = tuple(
            self._value(cell, f" variable {name}") for name, cell in zip(names, function.__closure__ or (), strict=True)
        )
        own = {key: value for key, value in vars(function).items() if key != "__wrapped__"}
        defaults = self._value(function.__defaults__, " defaults")
        keyword = self._value(function.__kwdefaults__, " defaults")
        return ("function", *code, function.__name__, cells, defaults, keyword, self._value(own, ""))

    def _method(self, method: MethodType) -> Node:
        owner = method.__self__
        kind = owner if isinstance(owner, type) else type(owner)
        static = getattr_static(kind, method.__name__, None)
        if getattr(static, "__func__", static) is method.__func__:
            return ("method", self._value(owner, ""), method.__name__)
        return ("bound", self._value(method.__func__, ""), self._value(owner, ""))

    def _builtin(self, method: Any) -> Node:  # noqa: ANN401 - the type has no name
        owner = method.__self__
        if method.__name__ in METHODS.get(type(owner), ()):
            return ("method", self._value(owner, ""), method.__name__)
        raise self._refused(method, f"the built-in {_shown(method)} cannot be kept")

    def _array(self, array: np.ndarray[Any, Any]) -> Node:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        block = self._roots.get(id(root))
        if array.dtype.hasobject or array.dtype.names is not None:
            raise self._refused(array, f"an array of {array.dtype} cannot be kept")
        if block is not None:
            offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
            place = (array.dtype.str, array.shape, array.strides, array.flags.writeable)
            return ("view", self._value(block, ""), offset, *place)
        return ("array", array.dtype.str, array.shape, array.tobytes())

    def _instance(self, thing: Any, kind: type) -> Node:  # noqa: ANN401 - any object
        if isinstance(thing, msgspec.Struct):
            pairs = ((name, getattr(thing, name)) for name in thing.__struct_fields__)
            return ("event", self._value(kind, ""), *(p for n, v in pairs for p in (n, self._value(v, f".{n}"))))
        if isinstance(thing, tuple) and hasattr(kind, "_fields"):
            return ("named", self._value(kind, ""), *self._values(thing, ""))
        if isinstance(thing, BaseException):
            arguments = self._value(thing.args, "")
            return ("error", self._value(kind, ""), arguments, self._value(vars(thing), ""))
        if kind.__flags__ & 1 << 9 == 0 or kind.__basicsize__ < 0 or _native(kind):
            raise self._refused(thing, f"an object of class {kind.__module__}.{kind.__qualname__} cannot be kept")
        frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        what = "frozen" if frozen else "obj"
        if kind is _Block:
            self.blocks[self._at] = thing
            what = "block"
        return (what, self._value(kind, ""), *self._attributes(thing, kind))

    def _attributes(self, thing: Any, kind: type) -> Iterator[object]:  # noqa: ANN401 - any object
        fresh, caches = FRESH.get(kind, {}), CACHES.get(kind, ())
        outside, logs = outside_of(kind), LOGS.get(kind, ())
        for name, value in state_of(thing, self._shape(kind)):
            if name in outside or (kind is _Block and name == "_data"):
                continue
            yield name
            if name in fresh:
                yield fresh[name]
            elif name in caches:
                yield self._value({}, "")
            elif name in logs and not self._plain:
                yield self._log(f"{kind.__name__}.{name}", value)
            else:
                yield self._value(value, f".{name}")

    def _shape(self, kind: type) -> Attributes:
        found = self._shapes.get(kind)
        if found is None:
            found = self._shapes[kind] = shape_of(kind)
        return found

    def _log(self, name: str, records: list[object]) -> tuple[int]:
        """A list that only grows: whole groups that an earlier snapshot has are its groups."""
        earlier = self._earlier.get(name, ())
        groups = []
        for index, at in enumerate(range(0, len(records), GROUP)):
            group = tuple(records[at : at + GROUP])
            old = earlier[index] if index < len(earlier) else None
            groups.append(old if old is not None and old == group else group)
        self.logs[name] = tuple(groups)
        ref = (len(self.nodes),)
        self._known[id(records)] = ref
        self.nodes.append(("log", self.logs[name]))
        self.objects.append(records)
        self._came.append((self._at, f".{name}"))
        return ref

    # ---- what cannot be kept ---------------------------------------------------------------------------------

    def _refused(self, thing: object, what: str) -> PluginError:
        """`snapshot.unkeepable`: names the way to the object, and the engine, kind and plugin it comes from."""
        steps, at, owner, plugin = [], self._at, "", _plugin_of(thing, self._names.host)
        while at >= 0:
            owner = owner or self._owner(self.objects[at])
            plugin = plugin or _plugin_of(self.objects[at], self._names.host)
            at, label = self._came[at]
            steps.append(label)
        way = "".join(reversed(steps))
        cut = " … " if len(way) > LONGEST_WAY else ""
        return PluginError(
            f"{what}; it is reached by device{cut}{way[-LONGEST_WAY:]}",
            id="snapshot.unkeepable",
            where=", ".join(part for part in (plugin, owner) if part),
            remedy="keep values, frozen dataclasses or functools.partial of functions of a module there "
            "(docs/plugins.md, snapshot contract)",
        )

    @staticmethod
    def _owner(thing: object) -> str:
        """Engine and kind of an entry that is in work, or of what its planned end knows of it."""
        known = [cell.cell_contents for cell in thing.__closure__ or ()] if isinstance(thing, FunctionType) else [thing]
        for each in known:
            handler = each.handler if isinstance(each, Running) else each
            if isinstance(handler, Handler):
                return f"engine {handler.engine}, kind {handler.kind}"
        return ""


def shape_of(kind: type) -> Attributes:
    """The slots of a class, and whether its objects have a dictionary besides."""
    slots = {
        name: found
        for base in reversed(kind.__mro__)
        for name, found in vars(base).items()
        if isinstance(found, MemberDescriptorType)
    }
    return tuple(slots.items()), any("__dict__" in vars(base) and _has_dict(base) for base in kind.__mro__)


def _has_dict(base: type) -> bool:
    return isinstance(vars(base)["__dict__"], GetSetDescriptorType)


def state_of(thing: Any, shape: Attributes) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any object
    """Names and values of the attributes of an object itself; what was never set is left out."""
    slots, has_dict = shape
    for name, slot in slots:
        try:
            yield name, slot.__get__(thing, type(thing))
        except AttributeError:
            continue
    if has_dict:
        yield from vars(thing).items()


def _native(kind: type) -> bool:
    """Whether a class is, or derives from, one that is not written in Python (but `object` and abstract ones)."""
    return any(base.__flags__ & 1 << 9 == 0 and base is not object for base in kind.__mro__)


_SIMPLE: Mapping[type, Callable[[Any], Node]] = {
    itertools.count: lambda thing: ("count", int(repr(thing)[6:-1])),
    Fraction: lambda thing: ("fraction", str(thing.numerator), str(thing.denominator)),
    range: lambda thing: ("range", thing.start, thing.stop, thing.step),
    struct.Struct: lambda thing: ("struct", thing.format),
    bytearray: lambda thing: ("bytearray", bytes(thing)),
}


def _shown(thing: Any) -> str:  # noqa: ANN401 - any object
    name = getattr(thing, "__qualname__", getattr(thing, "__name__", ""))
    return f"{getattr(thing, '__module__', '')}.{name}" if name else type(thing).__name__


def _plugin_of(thing: Any, host: PluginHost) -> str:  # noqa: ANN401 - any object
    module = getattr(thing, "__module__", None) or type(thing).__module__
    for info in host.plugins:
        plugin = None if info.broken else host.manager.get_plugin(info.name)
        name = getattr(plugin, "__name__", type(plugin).__module__) if plugin is not None else ""
        if name and isinstance(module, str) and (module == name or module.startswith(name + ".")):
            return info.label
    return ""
