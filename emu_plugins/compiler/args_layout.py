"""What the entries of an args format expand to for a given operator, and how many bytes they take.

Mirrors the vendor's full parsing mode of `ArgsFormatDesc::Parse` (the operator is known, as in the loader) and
`ArgsFormatDesc::GetArgsSize` (`reference/tiling_sink_compiler.md` 14.2, 14.4). An IR input is what the operator's
definition lists; an *instance* is a tensor that is really connected: an absent optional input has none, a dynamic
input any number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import ALL, SLOT_BYTES, STARRED, ArgEntry, ArgKind, args_error, placed_entries
from emu_plugins.compiler.graph import MAX_RANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ADDR_TYPE: Mapping[ArgKind, int] = MappingProxyType({
    ArgKind.INPUT: 0, ArgKind.OUTPUT: 1, ArgKind.WORKSPACE: 2, ArgKind.TILING: 3, ArgKind.INPUT_DESC: 4,
    ArgKind.OUTPUT_DESC: 5, ArgKind.FFTS_ADDR: 6, ArgKind.OVERFLOW_ADDR: 7, ArgKind.TILING_FFTS: 8,
    ArgKind.HIDDEN_INPUT: 9, ArgKind.TILING_CONTEXT: 10, ArgKind.TILING_DATA: 10, ArgKind.TILING_KEY: 10,
    ArgKind.BLOCK_DIM: 10, ArgKind.OP_TYPE: 11, ArgKind.PLACEHOLDER: 12, ArgKind.CUSTOM_VALUE: 13,
    ArgKind.INPUT_INSTANCE: 14, ArgKind.OUTPUT_INSTANCE: 15, ArgKind.EVENT_ADDR: 17,
})  # fmt: skip
"""The vendor's `AddrType` number of each kind (14.1); an entry of a sub-operator is `SUPER_KERNEL_SUB_NODE`."""
SUPER_KERNEL_SUB_NODE = 16
MAX_WORKSPACES = 16
"""Slots that `{ws*}` reserves."""


@dataclass(frozen=True)
class IrTensor:
    """An IR input or output: the shapes of its instances, and whether it may have any number of them."""

    shapes: tuple[tuple[int, ...], ...] = ()
    dynamic: bool = False


@dataclass(frozen=True)
class IrShape:
    """The tensors of an operator by IR index."""

    inputs: tuple[IrTensor, ...] = ()
    outputs: tuple[IrTensor, ...] = ()

    def of(self, kind: ArgKind) -> tuple[IrTensor, ...]:
        """The side that `kind` speaks of; empty for a kind that speaks of none."""
        return {"i": self.inputs, "o": self.outputs}.get(kind.value[:1], ()) if kind in _SIDED else ()

    def instances(self, kind: ArgKind) -> int:
        """Connected tensors of that side."""
        return sum(len(tensor.shapes) for tensor in self.of(kind))


_INSTANCES = frozenset({ArgKind.INPUT_INSTANCE, ArgKind.OUTPUT_INSTANCE})
_DESCRIPTORS = frozenset({ArgKind.INPUT_DESC, ArgKind.OUTPUT_DESC})
_SIDED = frozenset({ArgKind.INPUT, ArgKind.OUTPUT}) | _INSTANCES | _DESCRIPTORS


def ir_index(counts: Iterable[int], instance: int) -> int | None:
    """IR index of connected tensor number `instance`, from the number of instances of each IR tensor in order.

    An absent optional tensor counts 0, a dynamic one any number. None when there are fewer instances: the vendor
    then answers "not dependent" (`tiling_sink_compiler.md` 3).
    """
    first = 0
    for index, count in enumerate(counts):
        if first <= instance < first + count:
            return index
        first += count
    return None


def expand_args_format(text: str, ir: IrShape) -> tuple[ArgEntry, ...]:
    """The entries of `text` for one operator: wild cards expanded, indices checked, folding decided.

    `{ws*}` stays one entry. An input is folded when its token has no star and it is dynamic; instances and
    workspaces never are.

    Raises:
        FormatError: `format.args-format`, with the offset of the token: it is not understood, names a tensor that the
            operator has not, or stands for several entries of a sub-operator.
    """
    found: list[ArgEntry] = []
    for entry, position in placed_entries(text):
        expanded = tuple(_expanded(entry, ir, position))
        if entry.sub is not None and len(expanded) != 1:
            raise args_error(f"{entry.token()} stands for {len(expanded)} entries of a sub-operator, not one", position)
        found.extend(expanded)
    return tuple(found)


def _expanded(entry: ArgEntry, ir: IrShape, position: int) -> Iterator[ArgEntry]:
    if entry.kind not in _SIDED:
        yield replace(entry, folded=False) if entry.kind is ArgKind.WORKSPACE else entry
        return
    count = ir.instances(entry.kind) if entry.kind in _INSTANCES else len(ir.of(entry.kind))
    if entry.index >= count:
        raise args_error(f"{entry.token()} names number {entry.index} of {count}", position)
    for index in range(count) if entry.index == ALL else (entry.index,):
        yield replace(entry, index=index, folded=_folded(entry, index, ir))


def _folded(entry: ArgEntry, index: int, ir: IrShape) -> bool:
    if entry.kind in _INSTANCES:
        return False
    return entry.folded and (entry.kind in _DESCRIPTORS or ir.of(entry.kind)[index].dynamic)


def args_bytes(entries: Iterable[ArgEntry], ir: IrShape) -> int:
    """Bytes that the arguments of `entries` take, descriptor blocks included (14.4)."""
    return sum(entry_bytes(entry, ir) for entry in entries)


def entry_bytes(entry: ArgEntry, ir: IrShape) -> int:
    """Bytes that one entry takes; a tensor that the operator has not takes a slot of its own."""
    if entry.narrow:
        return 4
    if entry.index == ALL and entry.kind in STARRED:
        return _all_bytes(entry, ir)
    tensors = ir.of(entry.kind)
    if entry.kind in _INSTANCES or not 0 <= entry.index < len(tensors):
        return SLOT_BYTES
    tensor = tensors[entry.index]
    if entry.kind in _DESCRIPTORS:
        return SLOT_BYTES * entry.folded + SLOT_BYTES + sum(16 + _dims_bytes(shape) for shape in tensor.shapes)
    return SLOT_BYTES * (len(tensor.shapes) + entry.folded) if tensor.dynamic else SLOT_BYTES


def _all_bytes(entry: ArgEntry, ir: IrShape) -> int:
    if entry.kind is ArgKind.WORKSPACE:
        return SLOT_BYTES * MAX_WORKSPACES
    if entry.kind in _INSTANCES:
        return SLOT_BYTES * ir.instances(entry.kind)
    tensors = ir.of(entry.kind)
    return SLOT_BYTES * (len(tensors) + sum(len(tensor.shapes) for tensor in tensors if tensor.dynamic))


def _dims_bytes(shape: tuple[int, ...]) -> int:
    """Words of the dimensions: a scalar counts one, an unknown rank the most there may be."""
    return 8 * (MAX_RANK if shape == (-2,) else max(len(shape), 1))
