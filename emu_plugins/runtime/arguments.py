"""Argument blocks: what each entry of an args format puts into its slots (`tiling_sink_compiler.md` 11.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_plugins.compiler.args_format import ALL, ArgEntry, ArgKind, parse_args_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_plugins.runtime.placement import Placement
    from emu_plugins.runtime.sink_context import TilingContextAddr
    from formats.blob import BlobOp


@dataclass(frozen=True)
class Slots:
    """What the slots of one task are filled from.

    Attributes:
        placement: addresses of tensors and workspaces.
        index: position of the operator in the blob.
        context: its tiling context on the device, or None when there is none.
        static_tiling: address of tiling data computed at compile time, or 0.
        sized_workspaces: a workspace entry is followed by a slot with its size (custom AI CPU tasks).
    """

    placement: Placement
    index: int
    context: TilingContextAddr | None = None
    static_tiling: int = 0
    sized_workspaces: bool = False

    @property
    def op(self) -> BlobOp:
        """The operator."""
        return self.placement.blob.ops[self.index]


def argument_words(text: str, slots: Slots) -> list[int]:
    """The 64-bit words of the args format `text`.

    Raises:
        InputError: an index is out of range, or a tiling address is asked for before the tiling task exists.
        FormatError: the text is not an args format.
    """
    words: list[int] = []
    for entry in parse_args_format(text):
        fill = _FILLERS.get(entry.kind)
        if fill is None or entry.narrow or entry.sub is not None:
            raise _bad(slots, f"{entry.token()} is no slot that this loader fills")
        words.extend(fill(entry, slots))
    return words


def _tensor(entry: ArgEntry, slots: Slots) -> list[int]:
    listed = slots.op.inputs if entry.kind is ArgKind.INPUT else slots.op.outputs
    if entry.index >= len(listed):
        raise _bad(slots, f"{entry.token()} names one of {len(listed)}")
    chosen = listed if entry.index == ALL else (listed[entry.index],)
    return [0 if tensor is None else slots.placement.tensors[tensor] for tensor in chosen]


def _workspace(entry: ArgEntry, slots: Slots) -> list[int]:
    placed = slots.placement.workspaces[slots.index]
    if entry.index >= len(placed):
        raise _bad(slots, f"{entry.token()} names one of {len(placed)} workspaces")
    chosen = placed if entry.index == ALL else [placed[entry.index]]
    return [
        word for each in chosen for word in ([each.address, each.size] if slots.sized_workspaces else [each.address])
    ]


def _static(entry: ArgEntry, slots: Slots) -> list[int]:
    if not slots.static_tiling:
        raise _bad(slots, f"{entry.token()} asks for tiling data of the compiler, but there is none")
    return [slots.static_tiling]


def _context(entry: ArgEntry, slots: Slots) -> list[int]:
    context = slots.context
    if context is None:
        raise _bad(slots, f"{entry.token()} needs the tiling context; has the tiling task been launched?")
    return [
        {
            ArgKind.TILING_CONTEXT: context.tiling_context,
            ArgKind.TILING_DATA: context.tiling_data,
            ArgKind.TILING_KEY: context.tiling_key,
            ArgKind.BLOCK_DIM: context.block_dim,
            ArgKind.OP_TYPE: context.op_type,
        }[entry.kind]
    ]


_FILLERS: dict[ArgKind, Callable[[ArgEntry, Slots], list[int]]] = {
    ArgKind.INPUT: _tensor,
    ArgKind.OUTPUT: _tensor,
    ArgKind.WORKSPACE: _workspace,
    ArgKind.TILING: _static,
    ArgKind.TILING_CONTEXT: _context,
    ArgKind.TILING_DATA: _context,
    ArgKind.TILING_KEY: _context,
    ArgKind.BLOCK_DIM: _context,
    ArgKind.OP_TYPE: _context,
    ArgKind.PLACEHOLDER: lambda _entry, _slots: [0],
    ArgKind.CUSTOM_VALUE: lambda entry, _slots: [entry.value],
}


def _bad(slots: Slots, what: str) -> InputError:
    return InputError(what, id="blob.args-format", where=f"operator {slots.op.name}", remedy="compile the graph again")
