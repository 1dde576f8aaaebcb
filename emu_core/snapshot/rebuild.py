"""From a table of nodes back to objects. Nothing of a table is called: classes are filled without their constructors.

| phase | what | can fail |
|---|---|---|
| shells | an empty object per node that can change; complete ones where nothing may be seen incomplete | yes |
| contents | what each shell will hold | yes |
| commit | shells get their contents, memory its bytes | no |

So restoring a device in place either happens completely, or changes nothing.
"""

from __future__ import annotations

import itertools
import struct
from collections import deque
from enum import Enum
from fractions import Fraction
from functools import partial
from types import CellType, FunctionType, MappingProxyType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emu_core.errors import SqemuError
from emu_core.memory import Allocation, _Block
from emu_core.snapshot.graph import METHODS, shape_of
from emu_core.snapshot.names import Names, damaged
from emu_core.snapshot.pages import put_back
from emu_core.snapshot.rules import outside_of
from formats import CStruct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emu_core.snapshot.nodes import Node
    from emu_core.snapshot.pages import Pieces

LISTED = {"list": list, "set": set, "deque": deque}
FILLED = frozenset({"obj", "block", "list", "set", "deque", "dict", "cell"})
LARGEST_BLOCK = 1 << 48


class Rebuilder:
    """One reading of a table.

    Args:
        names: of the plugin host that reads it.
        nodes: the table. pieces: of allocations, by node.
        live: objects to fill instead of new ones, by node: restoring in place.

    Raises:
        InputError: the table does not hold what it should (`snapshot.damaged`), or what only others have.
    """

    def __init__(
        self, names: Names, nodes: Sequence[Node], pieces: Mapping[int, Pieces], live: Mapping[int, Any]
    ) -> None:
        self._names, self._nodes, self._pieces, self._live = names, nodes, pieces, live
        self._made: dict[int, Any] = {}
        self._making: set[int] = set()
        self._shapes: dict[type, tuple[dict[str, MemberDescriptorType], bool]] = {}
        self._commits: list[Callable[[], object]] = []

    def build(self, root: object) -> Any:  # noqa: ANN401 - what the root was
        """The object of value `root`."""
        try:
            return self._build(root)
        except SqemuError:
            raise
        except (MemoryError, Exception) as error:
            raise damaged(f"does not hold what it should ({type(error).__name__})") from error

    @property
    def objects(self) -> Mapping[int, Any]:
        """What was made, by node."""
        return self._made

    def _build(self, root: object) -> Any:  # noqa: ANN401 - what the root was
        found = self._value(root)
        contents = [(at, self._contents(at, node)) for at, node in enumerate(self._nodes) if node[0] in FILLED]
        blocks = [(self._get(at), pieces) for at, pieces in self._pieces.items()]
        if any(type(block) is not _Block for block, _ in blocks):
            raise damaged("has bytes of something that is no memory")
        fills = [self._fill(at, content) for at, content in contents]
        for block, pieces in blocks:
            put_back(block, pieces)
        for fill in (*fills, *self._commits):
            fill()
        return found

    # ---- values and shells -----------------------------------------------------------------------------------

    def _value(self, value: object) -> Any:  # noqa: ANN401 - any object
        if isinstance(value, list | tuple):
            (at,) = value
            return self._get(at)
        return value

    def _get(self, at: Any) -> Any:  # noqa: ANN401 - any object
        if at in self._made:
            return self._made[at]
        if type(at) is not int or not 0 <= at < len(self._nodes) or at in self._making:
            raise damaged(f"node {at} does not exist, or holds itself")
        self._making.add(at)
        node = self._nodes[at]
        self._made[at] = found = getattr(self, f"_make_{node[0]}", self._unknown)(at, *node[1:])
        self._making.discard(at)
        return found

    @staticmethod
    def _unknown(at: int, *_: object) -> Any:  # noqa: ANN401 - never returns
        raise damaged(f"node {at} is of no kind that there is")

    def _items(self, values: Sequence[object]) -> list[Any]:
        return [self._value(value) for value in values]

    def _make_list(self, _at: int, *_: object) -> list[Any]:
        return []

    def _make_set(self, _at: int, *_: object) -> set[Any]:
        return set()

    def _make_deque(self, _at: int, *_: object) -> deque[Any]:
        return deque()

    def _make_dict(self, _at: int, *_: object) -> dict[Any, Any]:
        return {}

    def _make_cell(self, _at: int, *_: object) -> CellType:
        return CellType()

    def _make_obj(self, at: int, kind: object, *_: object) -> Any:  # noqa: ANN401 - any object
        return self._live[at] if at in self._live else object.__new__(self._class(kind))

    def _make_block(self, at: int, kind: object, *attributes: object) -> Any:  # noqa: ANN401 - a block
        if at in self._live:
            return self._live[at]
        info = self._value(attributes[attributes.index("info") + 1])
        if self._class(kind) is not _Block or type(info) is not Allocation or not 0 <= info.size < LARGEST_BLOCK:
            raise damaged("has an allocation that is none")
        return _Block(info)

    def _class(self, value: object) -> type:
        found = self._value(value)
        if not isinstance(found, type):
            raise damaged("names a class that is none")
        return found

    # ---- complete at once ------------------------------------------------------------------------------------

    def _make_kept(self, _at: int, thing: object) -> object:
        return thing

    def _make_log(self, _at: int, groups: Sequence[Sequence[object]]) -> list[object]:
        return list(itertools.chain.from_iterable(groups))

    def _make_tuple(self, _at: int, *values: object) -> tuple[Any, ...]:
        return tuple(self._items(values))

    def _make_frozenset(self, _at: int, *values: object) -> frozenset[Any]:
        return frozenset(self._items(values))

    def _make_proxy(self, _at: int, value: object) -> MappingProxyType[Any, Any]:
        return MappingProxyType(self._value(value))

    def _make_frozen(self, at: int, kind: object, *attributes: object) -> Any:  # noqa: ANN401 - any object
        found: Any = object.__new__(self._class(kind))
        self._made[at] = found
        self._set(found, self._named(attributes))
        return found

    def _make_error(self, _at: int, kind: object, arguments: object, own: object) -> BaseException:
        error = self._class(kind)
        if not issubclass(error, BaseException):
            raise damaged("has an exception that is none")
        found = error.__new__(error, *self._value(arguments))
        self._commits.append(partial(vars(found).update, self._value(own)))
        return found

    def _make_enum(self, _at: int, kind: object, name: object) -> Enum:
        found = self._class(kind)
        if not issubclass(found, Enum) or not isinstance(name, str):
            raise damaged("has a member of no enumeration")
        return found.__members__[name]

    def _make_named(self, _at: int, kind: object, *values: object) -> Any:  # noqa: ANN401 - a named tuple
        found = self._class(kind)
        if not issubclass(found, tuple) or len(values) != len(getattr(found, "_fields", ())):
            raise damaged("has a named tuple that is none")
        return tuple.__new__(found, self._items(values))

    def _make_event(self, _at: int, kind: object, *attributes: object) -> Any:  # noqa: ANN401 - a record
        found = self._class(kind)
        if not issubclass(found, msgspec.Struct):
            raise damaged("has an event that is none")
        return found(**self._named(attributes))

    def _make_method(self, _at: int, owner: object, name: object) -> Any:  # noqa: ANN401 - a method
        found = self._value(owner)
        allowed = METHODS.get(type(found))
        if not isinstance(name, str) or (allowed is not None and name not in allowed):
            raise damaged(f"names the method {name}")
        if allowed is not None:
            return getattr(found, name)
        kind = found if isinstance(found, type) else type(found)
        function = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType):
            raise damaged(f"names the method {name}")
        return MethodType(function, found)

    def _make_bound(self, _at: int, function: object, owner: object) -> MethodType:
        found = self._value(function)
        if not isinstance(found, FunctionType):
            raise damaged("binds something that is no function")
        return MethodType(found, self._value(owner))

    def _make_partial(self, _at: int, function: object, arguments: object, words: object) -> partial[Any]:
        found, given = self._value(function), self._value(arguments)
        if not callable(found) or type(given) is not tuple:
            raise damaged("calls something that cannot be called")
        made = partial(found, *given)
        # `partial` copies its keywords: they are looked up once they are complete.
        keywords = self._value(words)
        self._commits.append(partial(_with_keywords, made, keywords))
        return made

    def _make_function(self, at: int, *parts: Any) -> FunctionType:  # noqa: ANN401 - see `nodes`
        first, name, check, shown, cells, defaults, keyword, own = parts
        if isinstance(first, FunctionType):
            code, space = first.__code__, first.__globals__
        else:
            code, space = self._names.code(first, name, check), vars(self._names.module(first))
        found_cells = tuple(self._items(cells))
        if any(type(cell) is not CellType for cell in found_cells):
            raise damaged("has a function without its variables")
        function = FunctionType(code, space, str(shown), None, found_cells)
        self._made[at] = function
        function.__defaults__ = self._value(defaults)
        function.__kwdefaults__ = self._value(keyword)
        self._commits.append(partial(vars(function).update, self._value(own)))
        return function

    def _make_view(self, _at: int, block: object, *place: Any) -> Any:  # noqa: ANN401 - an array
        offset, dtype, shape, strides, writeable = place
        data = self._value(block).data
        found: Any = np.ndarray(tuple(shape), np.dtype(dtype), data, offset, tuple(strides))
        found.flags.writeable = bool(writeable)
        return found

    def _make_array(self, _at: int, dtype: str, shape: Sequence[int], raw: bytes) -> Any:  # noqa: ANN401 - an array
        return np.frombuffer(raw, _dtype(dtype)).reshape(tuple(shape)).copy()

    def _make_scalar(self, _at: int, dtype: str, raw: bytes) -> Any:  # noqa: ANN401 - a numpy number
        return np.frombuffer(raw, _dtype(dtype))[0]

    def _make_dtype(self, _at: int, dtype: str) -> np.dtype[Any]:
        return _dtype(dtype)

    def _make_count(self, _at: int, first: int) -> itertools.count[int]:
        return itertools.count(int(first))

    def _make_bytes(self, _at: int, raw: bytes) -> bytes:
        if type(raw) is not bytes:
            raise damaged("has bytes that are none")
        return raw

    def _make_int(self, _at: int, text: str) -> int:
        return int(text)

    def _make_fraction(self, _at: int, above: str, below: str) -> Fraction:
        return Fraction(int(above), int(below))

    def _make_range(self, _at: int, *parts: int) -> range:
        return range(*parts)

    def _make_struct(self, _at: int, form: str) -> struct.Struct:
        return struct.Struct(form)

    def _make_bytearray(self, _at: int, raw: bytes) -> bytearray:
        return bytearray(raw)

    def _make_host(self, _at: int, kind: object, *key: object) -> Any:  # noqa: ANN401 - a record of the host
        return self._names.by_key(kind, *key)

    def _make_field(self, _at: int, layout: object, name: str) -> Any:  # noqa: ANN401 - a field
        found = self._value(layout)
        if not isinstance(found, CStruct):
            raise damaged("has a field of no layout")
        return found.field(name)

    def _make_class(self, _at: int, module: object, name: object) -> type:
        return self._names.class_of(module, name)

    def _make_global(self, _at: int, module: object, name: object) -> Any:  # noqa: ANN401 - a function
        found = self._names.attribute(module, name)
        if not isinstance(found, FunctionType):
            raise damaged(f"{module}.{name} is no function")
        return found

    # ---- contents --------------------------------------------------------------------------------------------

    def _named(self, attributes: Sequence[object]) -> dict[str, Any]:
        names = attributes[::2]
        if len(attributes) % 2 or not all(isinstance(name, str) for name in names):
            raise damaged("has attributes without names")
        return {str(n): self._value(v) for n, v in zip(names, attributes[1::2], strict=True)}

    def _contents(self, at: int, node: Node) -> Any:  # noqa: ANN401 - by kind
        self._get(at)
        kind = node[0]
        if kind in ("obj", "block"):
            return self._named(node[2:])
        found = self._items(node[1:])
        if kind == "dict":
            return list(zip(found[::2], found[1::2], strict=True))
        return found

    def _fill(self, at: int, content: Any) -> Callable[[], object]:  # noqa: ANN401 - by kind
        shell = self._made[at]
        if isinstance(shell, dict):
            return partial(shell.update, content)
        if isinstance(shell, list | deque):
            return partial(shell.extend, content)
        if isinstance(shell, set):
            return partial(shell.update, content)
        if isinstance(shell, CellType):
            return partial(_put, shell, content)
        slots, has_dict = self._shape(type(shell))
        if any(name not in slots and not has_dict for name in content):
            raise damaged(f"has an object of class {type(shell).__name__} with other attributes")
        outside = outside_of(type(shell))
        content |= {name: getattr(shell, name) if at in self._live else make() for name, make in outside.items()}
        return partial(self._replace, shell, content)

    def _shape(self, kind: type) -> tuple[dict[str, MemberDescriptorType], bool]:
        found = self._shapes.get(kind)
        if found is None:
            slots, has_dict = shape_of(kind)
            found = self._shapes[kind] = (dict(slots), has_dict)
        return found

    def _replace(self, shell: Any, content: Mapping[str, Any]) -> None:  # noqa: ANN401 - any object
        """Make the attributes of an object those of `content`, and no others (but the bytes of memory)."""
        slots, has_dict = self._shape(type(shell))
        for name, slot in slots.items():
            if name not in content and name != "_data":
                try:
                    slot.__delete__(shell)
                except AttributeError:
                    continue
        if has_dict:
            vars(shell).clear()
        self._set(shell, content)
        if type(shell) is _Block and shell.freed:
            shell.release()

    def _set(self, shell: Any, content: Mapping[str, Any]) -> None:  # noqa: ANN401 - any object
        slots, has_dict = self._shape(type(shell))
        for name, value in content.items():
            if name in slots:
                slots[name].__set__(shell, value)
            elif has_dict:
                vars(shell)[name] = value
            else:
                raise damaged(f"has an object of class {type(shell).__name__} with other attributes")


def _put(cell: CellType, content: Sequence[object]) -> None:
    if content:
        cell.cell_contents = content[0]


def _with_keywords(made: partial[Any], keywords: Mapping[str, Any]) -> None:
    if keywords:
        made.__setstate__((made.func, made.args, dict(keywords), None))  # type: ignore[attr-defined]


def _dtype(text: str) -> np.dtype[Any]:
    found = np.dtype(str(text))
    if found.hasobject:
        raise damaged("has an array of objects")
    return found
