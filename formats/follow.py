"""From an entry to what it points at: contexts, tables, descriptors, programs (`reference/sqe_formats.md` 4, 5, 9).

:func:`follow` is pure: the caller passes a reader of device memory, which gives bytes or `None`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from formats.builtin import BUILTIN
from formats.cond_isa.sqe_program import call_of
from formats.cstruct import CStruct
from formats.decoded import Decoded
from formats.errors import FormatError
from formats.fields import Field
from formats.raw import CONTEXT_SIZE, RAW_UNIT, SQE_SIZE, raw_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from formats.registry import Registry

    Reader: TypeAlias = Callable[[int, int], bytes | None]
    _Follower: TypeAlias = Callable[["_Walk", Decoded], Iterator["Followed"]]

LIMIT = 1024
"""Records followed from one pointer, unless the caller says otherwise."""

_ALL_ONES = (1 << 64) - 1
_CELL = CStruct(
    "raw", "Cell64", (Field("value", 0, 64, meaning="64-bit value"),), note="a value that an entry points at"
)


@dataclass(frozen=True)
class Followed:
    """One record that an entry points at.

    Attributes:
        role: what it is, for example `context 0`, `tiling table row 3`, `block dim`.
        address: where it is, as the entry says it.
        record: the record, or `None` when the reader does not have it.
        note: why there is no record, or what was left out; empty when there is nothing to say.
    """

    role: str
    address: int
    record: Decoded | None
    note: str = ""


@dataclass(frozen=True)
class _Walk:
    """The reader and the limit of one call."""

    registry: Registry
    reader: Reader
    limit: int

    def read(self, role: str, address: int, size: int, decode: Callable[[bytes], Decoded]) -> Followed:
        """One record of `size` bytes."""
        data = self.reader(address, size)
        if data is None or len(data) < size:
            have = "nothing" if not data else f"{len(data)} bytes"
            return Followed(role, address, None, f"{size} bytes are needed, {have} can be read there")
        return Followed(role, address, decode(bytes(data[:size])))

    def plain(self, role: str, address: int, struct: CStruct) -> Followed:
        """One record of a known layout."""
        return self.read(role, address, struct.size, lambda data: Decoded(struct, struct.parse(data), address))

    def several(
        self, role: str, address: int, size: int, count: int, one: Callable[[str, int], Followed]
    ) -> Iterator[Followed]:
        """`count` records one after another, at most `limit` of them."""
        for k in range(min(count, self.limit)):
            yield one(f"{role} {k}", address + k * size)
        if count > self.limit:
            left = count - self.limit
            yield Followed(role, address + self.limit * size, None, f"{left} more are not shown (limit {self.limit})")

    def context(self, role: str, address: int) -> Followed:
        """One FFTS+ context."""
        return self.read(role, address, CONTEXT_SIZE, lambda data: self.registry.decode_context(data, offset=address))


def follow(
    decoded: Decoded, reader: Reader, *, registry: Registry = BUILTIN, limit: int = LIMIT
) -> tuple[Followed, ...]:
    """What an SQE points at, in the order of its fields; empty for a kind that points at nothing known.

    Args:
        decoded: an SQE.
        reader: `(address, size) -> bytes`, or `None` where nothing can be read; fewer bytes count as none.
            Addresses are passed on as the entry has them (device offsets in a v100 task update).
        registry: where layouts come from.
        limit: records followed from one pointer.

    Raises:
        FormatError: a negative limit (id `format.range`).
    """
    if limit < 0:
        raise FormatError(f"limit {limit} is negative", id="format.range", where="follow")
    follower = _FOLLOWERS.get(decoded.struct.struct_name)
    return tuple(follower(_Walk(registry, reader, limit), decoded)) if follower else ()


def _joined(decoded: Decoded, name: str) -> int:
    pair = decoded.struct.joined[name]
    return int(decoded.values[pair.low.name]) | int(decoded.values[pair.high.name]) << pair.low.width


def _contexts(walk: _Walk, decoded: Decoded) -> Iterator[Followed]:
    base = _joined(decoded, "context_address_base")
    return walk.several("context", base, CONTEXT_SIZE, decoded.values["total_context_num"], walk.context)


def _task_update(walk: _Walk, decoded: Decoded) -> Iterator[Followed]:
    v = decoded.values
    if v.get("desc_buf_offset", _ALL_ONES) != _ALL_ONES:
        yield walk.context("context of the target", v["desc_buf_offset"])
    yield walk.plain("tiling key", v["tiling_key_offset"], _CELL)
    yield walk.plain("block dim", v["block_dim_offset"], _CELL)
    on_v100 = "desc_buf_offset" in v
    row = walk.registry.get("v100", "TilingTabl") if on_v100 else walk.registry.get("v200", "TilingTablForDavid")
    yield from walk.several(
        "tiling table row",
        v["tiling_tab_offset"],
        row.size,
        v["tiling_tab_len"],
        lambda role, address: walk.plain(role, address, row),
    )


def _write_descriptor(walk: _Walk, decoded: Decoded) -> Iterator[Followed]:
    if "write_addr" in decoded.struct.joined:
        layout = walk.registry.get("v100", "WriteValuePtrDst")
        yield walk.plain("descriptor", _joined(decoded, "write_addr"), layout)
    else:
        yield walk.plain("descriptor", _joined(decoded, "write_value_new_sqe_addr"), RAW_UNIT)


def _copy_descriptor(walk: _Walk, decoded: Decoded) -> Iterator[Followed]:
    address = _joined(decoded, "sdma_sqe_base_addr")
    if decoded.struct.family == "v100":
        yield walk.plain("descriptor head", address, walk.registry.get("v100", "SdmaDescHead"))
        yield walk.plain("descriptor", address, walk.registry.get("v100", "MemcpyAddrInfo"))
        return
    family = decoded.struct.family
    yield walk.read("descriptor", address, SQE_SIZE, lambda data: walk.registry.decode(family, data, offset=address))


def _program(walk: _Walk, decoded: Decoded) -> Iterator[Followed]:
    call = call_of(decoded)
    if call is None or not call.words:
        return
    words = min(call.words, walk.limit)
    if words:
        layout = raw_bytes(4 * words)
        yield walk.plain("program", call.address, layout)
    if words < call.words:
        at = call.address + 4 * words
        yield Followed("program", at, None, f"{call.words - words} more words are not shown (limit {walk.limit})")


_FOLLOWERS: Mapping[str, _Follower] = MappingProxyType({
    "FftsPlusSqe": _contexts,
    "PhModelTaskUpdateSqe": _task_update,
    "WriteValuePtrSqe": _write_descriptor,
    "MemcpyAsyncPtrSqe": _copy_descriptor,
    "MemcpyPtrSqe": _copy_descriptor,
    "FunctionCallSqe": _program,
})  # fmt: skip
