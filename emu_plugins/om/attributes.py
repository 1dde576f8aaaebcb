"""Attributes of models, graphs, operators and tensors as plain values, compressed ones included (`om_format.md` 8.3).

| in the file | value here |
|---|---|
| `i`, `dt`, `f`, `b` | int, int, float, bool |
| `s`, `bt` | str, bytes (an `s` that is no UTF-8 stays bytes) |
| lists of these, lists of lists of numbers | tuples |
| `td`, `t` | `TensorDesc`, `Tensor` |
| `func`, `g` | `Named`, the name of a graph |

With `om_compress_version` 1 the name of an attribute of an operator or tensor may be an index into `attr_name_enum`,
and a text an index into `attr_value_enum`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from emu_plugins.om.cursor import om_error
from emu_plugins.om.schema import ONEOF
from emu_plugins.om.values import Named, Tensor, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Value: TypeAlias = "bool | int | float | str | bytes | Named | Tensor | TensorDesc | tuple[object, ...] | None"
Attributes: TypeAlias = "Mapping[str, Value]"

NAMES, VALUES, USE = "attr_name_enum", "attr_value_enum", "attrs_use_string_value"
VERSION = "om_compress_version"
BASE = 127
_MOST_DIGITS = 5
"""Digits of an index: 127 to the power of 5 is more than any list here has."""
_LISTS = ("s", "i", "f", "b", "bt", "td", "t", "g", "na", "dt")


def text(data: bytes) -> str:
    """A text of a message; undecodable bytes as backslash escapes."""
    return data.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Names:
    """How attributes were compressed: the lists of names and values; empty when they were not."""

    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    use_values: tuple[bool, ...] = ()
    where: str = field(default="", compare=False)

    @classmethod
    def of(cls, attrs: Attributes, where: str) -> Names:
        """The lists of a model's attributes."""
        if attrs.get(VERSION) != 1:
            return cls(where=where)
        listed = (attrs.get(name) for name in (NAMES, VALUES, USE))
        names, values, use = (each if isinstance(each, tuple) else () for each in listed)
        return cls(tuple(map(str, names)), tuple(map(str, values)), tuple(map(bool, use)), where)

    def decode(self, key: bytes, value: Value) -> tuple[str, Value]:
        """Name and value of an attribute as they were before compression.

        Raises:
            FormatError: `om.attribute`: an index that is no index, or beyond its list.
        """
        if key[:1] != b"\0" or not self.names:
            return text(key), value
        index = index_of(key)
        name = self._listed(self.names, index, "name")
        if not (index < len(self.use_values) and self.use_values[index]):
            return name, value
        if isinstance(value, tuple):
            return name, tuple(self._listed(self.values, each, "value") for each in value)
        return name, self._listed(self.values, value, "value")

    def _listed(self, listed: tuple[str, ...], index: object, what: str) -> str:
        if not isinstance(index, int) or not 0 <= index < len(listed):
            raise om_error("om.attribute", f"attribute {what} {index!r} is none of {len(listed)}", self.where)
        return listed[index]


def index_of(key: bytes) -> int:
    """The index that an encoded name stands for; -1 when it is none.

    Behind a zero byte stand digits to base 127, least significant first, each stored as digit + 1.
    """
    digits = key[1:]
    if not digits or len(digits) > _MOST_DIGITS or any(not 1 <= each <= BASE for each in digits):
        return -1
    return sum((each - 1) * BASE**place for place, each in enumerate(digits))


def encoded_index(index: int) -> bytes:
    """The name that stands for `index`, the inverse of `index_of`."""
    digits = [index % BASE + 1]
    while index := index // BASE:
        digits.append(index % BASE + 1)
    return bytes([0, *digits])


def read_attributes(entries: Iterable[Any], names: Names) -> Attributes:
    """Attributes by name; of two with one name the last counts, as in protobuf. Raises as `Names.decode`."""
    found: dict[str, Value] = {}
    for entry in entries:
        name, value = names.decode(entry.key, value_of(entry.value, names))
        found[name] = value
    return MappingProxyType(found)


def value_of(attr: Any, names: Names) -> Value:  # noqa: ANN401 - a message of the extra
    """The value of an `AttrDef`; None when nothing is set."""
    kind = attr.WhichOneof(ONEOF)
    return None if kind is None else _READERS[kind](getattr(attr, kind), names)


def _string(value: bytes, _names: Names) -> Value:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _list(value: Any, names: Names) -> Value:  # noqa: ANN401 - a message of the extra
    for name in _LISTS:
        found: Sequence[Any] = getattr(value, name)
        if found:
            return tuple(_ELEMENTS[name](each, names) for each in found)
    return ()


def _lists(value: Any, _names: Names) -> Value:  # noqa: ANN401 - a message of the extra
    return tuple(tuple(each.values) for each in value.lists)


def read_desc(desc: Any, names: Names) -> TensorDesc:  # noqa: ANN401 - a message of the extra
    """A `TensorDescriptor`."""
    return TensorDesc(
        name=text(desc.name),
        dtype=desc.dtype,
        shape=tuple(desc.shape.dim),
        layout=text(desc.layout),
        size=desc.size,
        weight_size=desc.weight_size,
        data_offset=desc.data_offset,
        attrs=read_attributes(desc.attr, names),
    )


def _tensor(value: Any, names: Names) -> Tensor:  # noqa: ANN401 - a message of the extra
    return Tensor(read_desc(value.desc, names), value.data)


def _named(value: Any, names: Names) -> Named:  # noqa: ANN401 - a message of the extra
    return Named(text(value.name), read_attributes(value.attr, names))


_ELEMENTS: dict[str, Callable[[Any, Names], Value]] = {
    "s": _string,
    "i": lambda value, _: int(value),
    "f": lambda value, _: float(value),
    "b": lambda value, _: bool(value),
    "bt": lambda value, _: bytes(value),
    "td": read_desc,
    "t": _tensor,
    "g": lambda value, _: text(value.name),
    "na": _named,
    "dt": lambda value, _: int(value),
}
"""How an element of each list is read; scalars of the same names are read the same way."""
_READERS: dict[str, Callable[[Any, Names], Value]] = {
    **_ELEMENTS,
    "func": _named,
    "list": _list,
    "list_list_int": _lists,
    "list_list_float": _lists,
    "expression": lambda value, _: bytes(value),
}
