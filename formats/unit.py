"""Any SQE of a family as one construct object of fixed size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import construct

from formats.decoded import Decoded
from formats.errors import FormatError
from formats.raw import SQE_SIZE

if TYPE_CHECKING:
    from typing import IO

    from formats.registry import Registry

    _UnitBase: TypeAlias = construct.Construct["Decoded", "Decoded | Mapping[str, Any]"]
else:
    _UnitBase = construct.Construct


class SqeUnit(_UnitBase):
    """A construct object of fixed size (64 bytes) for any SQE of one family.

    `parse` gives a :class:`Decoded`; `build` takes one, or a mapping whose `_struct` names the layout.
    The layout is chosen by bits of the 64 bytes themselves, so building and sizing work too (a stock
    `Switch` on a peeked header can do neither).
    """

    def __init__(self, registry: Registry, family: str) -> None:
        super().__init__()
        registry.decode(family, bytes(SQE_SIZE))
        self.registry = registry
        self.family = family

    def _parse(self, stream: IO[bytes], context: object, path: str) -> Decoded:  # noqa: ARG002 - construct's signature
        start = construct.stream_tell(stream, path)
        return self.registry.decode(self.family, construct.stream_read(stream, SQE_SIZE, path), offset=start)

    def _build(self, obj: Decoded | Mapping[str, Any], stream: IO[bytes], context: object, path: str) -> Any:  # noqa: ANN401, ARG002 - construct's signature
        construct.stream_write(stream, self._bytes(obj), SQE_SIZE, path)
        return obj

    def _bytes(self, obj: Decoded | Mapping[str, Any]) -> bytes:
        if isinstance(obj, Decoded):
            struct, values = obj.struct, obj.values
        elif isinstance(obj, Mapping) and isinstance(obj.get("_struct"), str):
            struct = self.registry.get(self.family, obj["_struct"])
            values = {name: value for name, value in obj.items() if name != "_struct"}
        else:
            raise FormatError(
                "an SQE is built from a Decoded or a mapping with `_struct`", id="format.type", where=self.family
            )
        if struct.size != SQE_SIZE:
            raise FormatError(f"{struct.struct_name} has {struct.size} bytes, not {SQE_SIZE}", id="format.size")
        return struct.build(values)

    def _sizeof(self, context: object, path: str) -> int:  # noqa: ARG002 - construct's signature
        return SQE_SIZE
