"""Messages as objects of `protobuf`, the one extra that is needed here.

The classes are made from :mod:`emu_plugins.om.schema`, in a descriptor pool of their own: nothing is registered
where other users of protobuf in the process would see it, and no generated file is needed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from emu_core.errors import PluginError
from emu_plugins.om.cursor import om_error
from emu_plugins.om.schema import ONE_OF_THEM, ONEOF, messages
from emu_plugins.om.wire import look_through

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.container import Partition

_PACKAGE = "sqemu.om"
_LETTERS = {"u": "TYPE_UINT64", "i": "TYPE_INT64", "x": "TYPE_BOOL", "f": "TYPE_FLOAT", "b": "TYPE_BYTES"}


@cache
def classes() -> Mapping[str, Any]:
    """The class of every message, by its name.

    Raises:
        PluginError: `extra.missing`: protobuf is not installed.
    """
    try:
        descriptors: Any = import_module("google.protobuf.descriptor_pb2")
        pools: Any = import_module("google.protobuf.descriptor_pool")
        factory: Any = import_module("google.protobuf.message_factory")
    except ImportError:
        raise PluginError(
            "reading an offline model (.om) needs the extra `om`, which is protobuf",
            id="extra.missing",
            remedy="install it: pip install 'sqemu[om]'",
        ) from None
    file = descriptors.FileDescriptorProto(name="sqemu_om.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in messages().items():
        described = file.message_type.add(name=name)
        if name in ONE_OF_THEM:
            described.oneof_decl.add(name=ONEOF)
        for field in fields:
            label = "LABEL_REPEATED" if field.repeated else "LABEL_OPTIONAL"
            kinds = descriptors.FieldDescriptorProto
            made = described.field.add(name=field.name, number=field.number, label=getattr(kinds, label))
            made.type = getattr(kinds, "TYPE_MESSAGE" if field.is_message else _LETTERS[field.type])
            if field.is_message:
                made.type_name = f".{_PACKAGE}.{field.type}"
            if name in ONE_OF_THEM:
                made.oneof_index = 0
    pool = pools.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in messages()}


def parse(message: str, data: memoryview[int] | bytes, where: str, base: int = 0) -> Any:  # noqa: ANN401 - a message of the extra
    """`data` as a `message`, counted first (`wire.look_through`).

    Raises:
        FormatError: `om.message` or `om.too-many`. PluginError: `extra.missing`.
    """
    made = classes()[message]()
    look_through(memoryview(data), message, where, base)
    try:
        made.ParseFromString(bytes(data))
    except Exception as error:  # noqa: BLE001 - protobuf has its own exceptions by implementation
        raise om_error("om.message", f"is no {message}: {type(error).__name__}", where, base) from None
    return made


def parse_partition(message: str, partition: Partition) -> Any:  # noqa: ANN401 - a message of the extra
    """The `message` that `partition` holds; raises as `parse`."""
    return parse(message, partition.data, f"partition {partition.name}", partition.offset)


def build(message: str, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - a message of the extra
    """A `message` with `values` by field name; mappings become messages, lists fill lists.

    Raises:
        KeyError: no such field. TypeError, ValueError: a value that does not fit. PluginError: `extra.missing`.
    """
    made = classes()[message]()
    fields = {field.name: field for field in messages()[message]}
    for name, value in values.items():
        field = fields[name]
        if field.is_message:
            for each in value if field.repeated else [value]:  # type: ignore[attr-defined]  # a list by the schema
                target = getattr(made, name)
                (target.add() if field.repeated else target).MergeFrom(build(field.type, each))
            if not field.repeated:
                getattr(made, name).SetInParent()
        elif field.repeated:
            getattr(made, name).extend(value)
        else:
            setattr(made, name, value)
    return made


def plain(message: Any) -> dict[str, object]:  # noqa: ANN401 - a message of the extra
    """The fields of `message` that are set, as plain values: bytes stay bytes."""
    return {field.name: _plain(value) for field, value in message.ListFields()}


def _plain(value: Any) -> object:  # noqa: ANN401 - a value of a message
    if hasattr(value, "ListFields"):
        return plain(value)
    if isinstance(value, (int, float, bytes, str)):
        return value
    return [_plain(each) for each in value]
