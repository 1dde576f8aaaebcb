"""Argument blocks: what each entry of an args format puts into its slots (`tiling_sink_compiler.md` 11.4).

A dynamic input by IR index: `{iN}` is one pointer to the list of its addresses behind all slots, `{iN*}` and `{i*}` are
the addresses themselves, `{i_descN}` is its descriptor block. A slot of 32 bits shares a word with one that stands
directly before it and has its lower half; all other slots start a word of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_plugins.compiler.args_format import ALL, ArgEntry, ArgKind, parse_args_format
from emu_plugins.tiling.instances import IR_COUNTS, ir_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


@dataclass
class ArgumentBlock:
    """The 64-bit words of a task's arguments: fixed slots, and behind them all the blocks that some of them point to.

    Attributes:
        words: the slots. blocks: index of a slot, and the block it points to.
        found: index of the first slot of each kind.
        half: the last word has a 32-bit slot in its lower half alone, of this operator; None: it has not.
    """

    words: list[int] = field(default_factory=list)
    blocks: list[tuple[int, list[int]]] = field(default_factory=list)
    found: dict[ArgKind, int] = field(default_factory=dict)
    half: int | None = None

    def add(self, entry: ArgEntry, slots: Slots) -> None:
        """Fill the slots of `entry`.

        Raises:
            InputError: an index is out of range, or a tiling address is asked for before the tiling task exists.
        """
        if entry.sub not in (None, slots.index):
            raise _bad(slots, f"{entry.token()} belongs to another operator")
        words = _FILLERS[entry.kind](entry, slots) if entry.kind not in _DESCRIBED else []
        if entry.narrow and self.half == slots.index:
            self.found.setdefault(entry.kind, len(self.words) - 1)
            self.words[-1] |= words[0] << 32
            self.half = None
            return
        self.half = slots.index if entry.narrow else None
        self.found.setdefault(entry.kind, len(self.words))
        if entry.kind in _DESCRIBED or _is_folded(entry, slots):
            self.blocks.append((len(self.words), words or _description(entry, slots)))
            words = [0]
        self.words.extend(words)

    def place(self, allocate: Callable[[list[int]], int], write: Callable[[int, bytes], None]) -> int:
        """Allocate and write the words; slots of blocks become their addresses. Returns the address."""
        words = [*self.words, *(word for _, block in self.blocks for word in block)]
        address = allocate(words)
        at = address + 8 * len(self.words)
        for slot, block in self.blocks:
            write(address + 8 * slot, at.to_bytes(8, "little"))
            at += 8 * len(block)
        return address


def argument_block(text: str, slots: Slots) -> ArgumentBlock:
    """The arguments that the args format `text` describes.

    Raises:
        InputError: an index is out of range, or a tiling address is asked for before the tiling task exists.
        FormatError: the text is not an args format.
    """
    block = ArgumentBlock()
    for entry in parse_args_format(text):
        block.add(entry, slots)
    return block


def argument_words(text: str, slots: Slots) -> list[int]:
    """The 64-bit words of the args format `text`, which has no pointers to blocks; raises as `argument_block`."""
    block = argument_block(text, slots)
    if block.blocks:
        raise _bad(slots, "descriptor blocks and address lists are no arguments of a tiling task")
    return block.words


def _connected(entry: ArgEntry, slots: Slots) -> list[int]:
    """Tensors of an entry: those connected, by IR index or by instance."""
    if entry.kind in _INSTANCES:
        listed = slots.op.inputs if entry.kind is ArgKind.INPUT_INSTANCE else slots.op.outputs
        groups: list[tuple[int | None, ...]] = [(tensor,) for tensor in listed if tensor is not None]
    else:
        groups = _by_ir(entry, slots)
    return [tensor for group in _chosen(entry, groups, slots) for tensor in group if tensor is not None]


def _by_ir(entry: ArgEntry, slots: Slots) -> list[tuple[int | None, ...]]:
    """Tensors of each IR input or output, whichever `entry` speaks of."""
    op = slots.op
    if entry.kind not in (ArgKind.INPUT, ArgKind.INPUT_DESC):
        return [(tensor,) for tensor in op.outputs]
    listed = iter(op.inputs)
    return [tuple(islice(listed, count)) for count in ir_counts(op.attrs, len(op.inputs))]


def _chosen(
    entry: ArgEntry, groups: Sequence[tuple[int | None, ...]], slots: Slots
) -> Sequence[tuple[int | None, ...]]:
    if entry.index >= len(groups):
        raise _bad(slots, f"{entry.token()} names one of {len(groups)}")
    return groups if entry.index == ALL else (groups[entry.index],)


def _is_folded(entry: ArgEntry, slots: Slots) -> bool:
    """The slot of `entry` points to a list of addresses: no star, and the IR input is dynamic."""
    op = slots.op
    if entry.kind is not ArgKind.INPUT or not entry.folded or IR_COUNTS not in op.attrs:
        return False
    spec = slots.placement.device.host.operators.get(op.type)
    return spec is not None and entry.index < len(spec.inputs) and spec.inputs[entry.index].dynamic


def _instance(entry: ArgEntry, slots: Slots) -> list[int]:
    return [slots.placement.tensors[tensor] for tensor in _connected(entry, slots)]


def _description(entry: ArgEntry, slots: Slots) -> list[int]:
    """A descriptor block: bytes up to its addresses; dims of each instance, a scalar as one of 1; the addresses."""
    dims: list[int] = []
    tensors = _connected(entry, slots)
    for tensor in tensors:
        shape = slots.placement.info(tensor).shape or (1,)
        dims += [1 << 32 | len(shape), *shape]
    return [8 * (1 + len(dims)), *dims, *(slots.placement.tensors[tensor] for tensor in tensors)]


def _tensor(entry: ArgEntry, slots: Slots) -> list[int]:
    chosen = _chosen(entry, _by_ir(entry, slots), slots)
    return [0 if tensor is None else slots.placement.tensors[tensor] for group in chosen for tensor in group]


def _hidden(entry: ArgEntry, slots: Slots) -> list[int]:
    if entry.detail == "hcclsk" and entry.sub is None:
        raise _bad(slots, f"{entry.token()} is for operators of a super kernel alone")
    found = slots.placement.words.hidden(slots.op.type, slots.op.name, entry.detail)
    if entry.index >= len(found):
        what = f"{entry.token()} names one of {len(found)} hidden inputs that operator {slots.op.type} supplies"
        raise _bad(slots, what, "let hidden_inputs of the operator's registration supply it, or drop the entry")
    return [found[entry.index]]


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


_INSTANCES = frozenset({ArgKind.INPUT_INSTANCE, ArgKind.OUTPUT_INSTANCE})
_DESCRIBED = frozenset({ArgKind.INPUT_DESC, ArgKind.OUTPUT_DESC})
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
    ArgKind.INPUT_INSTANCE: _instance,
    ArgKind.OUTPUT_INSTANCE: _instance,
    ArgKind.EVENT_ADDR: lambda entry, slots: [slots.placement.words.event(entry.index)],
    ArgKind.FFTS_ADDR: lambda _entry, slots: [slots.placement.words.sync],
    ArgKind.TILING_FFTS: lambda _entry, _slots: [],
    ArgKind.OVERFLOW_ADDR: lambda _entry, _slots: [],
    ArgKind.PLACEHOLDER: lambda _entry, _slots: [0],
    ArgKind.CUSTOM_VALUE: lambda entry, _slots: [entry.value],
    ArgKind.HIDDEN_INPUT: _hidden,
}


def _bad(slots: Slots, what: str, remedy: str = "compile the graph again") -> InputError:
    return InputError(what, id="blob.args-format", where=f"operator {slots.op.name}", remedy=remedy)
