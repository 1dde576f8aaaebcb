"""A snapshot as a file.

| bytes | content |
|---|---|
| 8 | `SQEMUSNP` |
| 4 | version of the format, little-endian |
| 4 | length of the header, little-endian |
| 32 | SHA-256 of everything behind it |
| header | JSON: sqemu version, chip, family, plugins (name, origin), root, size of table, pieces (node, offset, size) |
| table | the nodes (`emu_core.snapshot.nodes`), MessagePack |
| pieces | the bytes of memory, one piece behind the other |

Reading one runs no code of it: the table is plain data, and names only what `emu_core.snapshot.names` allows.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import struct
from typing import TYPE_CHECKING, Any

import msgspec

from emu_core.errors import InputError, PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.plugins import PluginHost
    from emu_core.snapshot.nodes import Node
    from emu_core.snapshot.pages import Pieces

MAGIC = b"SQEMUSNP"
VERSION = 1
_FRONT = struct.Struct("<8sII32s")
AGAIN = "save the snapshot again"


class Header(msgspec.Struct, frozen=True):
    """What a file says about itself; `pieces`: node, offset and size of each piece, in the order of the file."""

    sqemu: str
    chip: str
    family: str
    plugins: list[tuple[str, str]]
    root: Any
    table: int
    pieces: list[tuple[int, int, int]]


class Content(msgspec.Struct, frozen=True):
    """A file that was read: its header, the nodes, and the pieces of memory by node."""

    header: Header
    nodes: list[Any]
    pieces: dict[int, dict[int, bytes]]


def product_version() -> str:
    """The version of this product."""
    return importlib.metadata.version("sqemu")


def plugins_of(host: PluginHost) -> list[tuple[str, str]]:
    """Name and origin of each plugin that works."""
    return [(info.name, info.origin) for info in host.plugins if not info.broken]


def encode(header: Header, nodes: list[Node], pieces: Mapping[int, Pieces]) -> bytes:
    """The bytes of a file; `header.table` and `header.pieces` are filled in here."""
    table = msgspec.msgpack.encode(nodes)
    listed = [(node, at, len(piece)) for node, found in pieces.items() for at, piece in found.items()]
    raw = [bytes(piece) for found in pieces.values() for piece in found.values()]
    head = msgspec.json.encode(msgspec.structs.replace(header, table=len(table), pieces=listed))
    rest = b"".join([head, table, *raw])
    return _FRONT.pack(MAGIC, VERSION, len(head), hashlib.sha256(rest).digest()) + rest


def decode(data: bytes, source: str) -> Content:
    """A file, looked at from outside to inside.

    Raises:
        InputError: no snapshot (`snapshot.file`), another version (`snapshot.version`), or damaged
            (`snapshot.damaged`).
    """
    if data[: len(MAGIC)] != MAGIC:
        what = "is no snapshot of a device"
        raise InputError(what, id="snapshot.file", where=source, remedy="give one that was saved")
    if len(data) < _FRONT.size:
        raise _damaged(source, "ends within its first bytes")
    _, version, length, digest = _FRONT.unpack_from(data)
    if version != VERSION:
        raise _version(source, f"has format version {version}, this reads {VERSION}")
    rest = memoryview(data)[_FRONT.size :]
    if hashlib.sha256(rest).digest() != digest:
        raise _damaged(source, "was cut or changed: its checksum differs")
    try:
        header = msgspec.json.decode(rest[:length], type=Header)
        nodes = msgspec.msgpack.decode(rest[length : length + header.table], type=list[list[Any]])
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise _damaged(source, f"cannot be decoded: {str(error)[:80]}") from None
    if any(not node or not isinstance(node[0], str) or node[0] in MEMORY_ONLY for node in nodes):
        raise _damaged(source, "has a node of no kind that files have")
    if header.sqemu != product_version():
        raise _version(source, f"was saved by sqemu {header.sqemu[:40]}, this is {product_version()}")
    return Content(header, nodes, _pieces(header, rest[length + header.table :], source))


def sealed(raw: bytes) -> bytes:
    """`raw` behind its SHA-256."""
    return hashlib.sha256(raw).digest() + raw


def unsealed(data: bytes, source: str) -> bytes:
    """What `sealed` was given; `InputError` (`snapshot.damaged`) when it was cut or changed."""
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise _damaged(source, "was cut or changed: its checksum differs")
    return data[32:]


MEMORY_ONLY = frozenset({"kept", "log"})


def _pieces(header: Header, rest: memoryview, source: str) -> dict[int, dict[int, bytes]]:
    found: dict[int, dict[int, bytes]] = {}
    at = 0
    for node, offset, size in header.pieces:
        if size < 0 or offset < 0 or at + size > len(rest):
            raise _damaged(source, "has less memory than it says")
        found.setdefault(node, {})[offset] = bytes(rest[at : at + size])
        at += size
    if at != len(rest):
        raise _damaged(source, f"has {len(rest) - at} bytes behind its end")
    return found


def require_plugins(header: Header, host: PluginHost, source: str) -> None:
    """`PluginError` (`snapshot.plugins`) when a plugin that it was saved with is missing, or has another version."""
    there = dict(plugins_of(host))
    for name, origin in header.plugins:
        if there.get(name) != origin:
            now = f"here it is from {there[name]}" if name in there else "it is not loaded"
            raise PluginError(
                f"was saved with plugin {name[:60]} ({origin[:60]}), and {now}",
                id="snapshot.plugins",
                where=source,
                remedy="load the same plugins (--plugin), or save it again",
            )


def _damaged(source: str, what: str) -> InputError:
    return InputError(what, id="snapshot.damaged", where=source, remedy=AGAIN)


def _version(source: str, what: str) -> InputError:
    remedy = f"use the version that saved it, or {AGAIN}"
    return InputError(what, id="snapshot.version", where=source, remedy=remedy)
