"""Condition programs in the words of the runtime's tasks, as text for `formats.cond_isa.assemble`.

The vendor's own programs (376 to 500 bytes) are not public; these are the shortest that do what the task says. They
are for whoever fills rings: a loader, or a test.

| function | condition sub type | does |
|---|---|---|
| `stream_switch` | 4, 5 | activates a stream when a comparison holds |
| `stream_active` | 6 | activates streams |
| `label_switch` | 7 | goes to the label of an index in memory |
| `memory_wait` | 9 | waits for a value in memory |
| `label_goto` | 0 | goes to a label |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.cond_isa import assemble

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from formats import CStruct

CREDIT = 254
INLINE_AT = 16
_SKIPS = (
    "bne r1, r2,", "beq r1, r2,", "bge r2, r1,", "blt r1, r2,", "bge r1, r2,", "blt r2, r1,",
)  # fmt: skip
"""Branches that skip the action, by condition: equal, not equal, greater, greater or equal, less, less or equal."""


def _constant(register: str, value: int) -> str:
    """Three words that load 64 bits."""
    return f"lhwi {register}, {value >> 49:#x}\nllwi {register}, {value & (1 << 49) - 1:#x}\n"


def _start_at_0(queue: int) -> str:
    """Three words."""
    return f"goto_i {queue}, 0\nactive_i {queue}\n"


def stream_switch(address: int, value: int, condition: int, queue: int) -> str:
    """Start `queue` from entry 0 if the signed 64-bit word at `address` is … `value` (0 equal … 5 less or equal)."""
    return f"{_constant('r2', value)}ld r1, [{address:#x}]\n{_SKIPS[condition]} 9\n{_start_at_0(queue)}nop\n"


def stream_switch_ex(address: int, other: int, condition: int, queue: int) -> str:
    """As `stream_switch`, with the second value at `other`."""
    return f"ld r1, [{address:#x}]\nld r2, [{other:#x}]\n{_SKIPS[condition]} 8\n{_start_at_0(queue)}nop\n"


def stream_active(queues: Iterable[int]) -> str:
    """Start each of `queues` from entry 0."""
    return "".join(_start_at_0(queue) for queue in queues)


def label_goto(queue: int, head: int) -> str:
    """Go to entry `head` of `queue`, the own one as a rule."""
    return f"goto_i {queue}, {head}\n"


def label_word(queue: int, head: int) -> int:
    """A label as an entry of the table of `label_switch`."""
    return queue | head << 16


def label_switch(index: int, table: int, count: int) -> str:
    """Go to label number u32 at `index` of the `count` 64-bit label words at `table`; too large means the last one."""
    return (
        f"lwu r1, [{index:#x}]\n{_constant('r2', count)}bltu r1, r2, 7\naddi r1, r2, 0xfff\nslli r1, r1, 3\n"
        f"{_constant('r3', table)}add r3, r3, r1\nldr r4, [r3 + 0]\ngoto_r r4\n"
    )


def memory_wait(address: int, value: int, mode: int) -> str:
    """Wait until the 64-bit word w at `address` fits: 0 w >= value, 1 w == value, 2 w AND value, 3 w NOR value != 0."""
    found = (
        "bgeu r1, r2, 9\n",
        "beq r1, r2, 9\n",
        "and r3, r1, r2\nbne r3, r0, 9\n",
        "or r3, r1, r2\nxori r3, r3, 0xfff\nbne r3, r0, 9\n",
    )[mode]
    pad = "nop\n" * (3 - found.count("\n"))
    return f"{_constant('r2', value)}ld r1, [{address:#x}]\n{pad}{found}beq r0, r0, 3\nnop\n"


def function_call(layout: CStruct, header: Mapping[str, int], sub_type: int, address: int, words: int) -> bytes:
    """The condition entry (`layout`: FunctionCallSqe) that calls a program of `words` words at `address`."""
    head = layout.build({**header, "type": 20, "conds_sub_type": sub_type, "kernel_credit": CREDIT, "csc": 1})
    text = f"{_constant('r1', address)}{_constant('r2', words)}func_call r1, r2\n" + "nop\n" * 5
    return head[:INLINE_AT] + assemble(text, layout.family)


def inline(layout: CStruct, header: Mapping[str, int], sub_type: int, text: str) -> bytes:
    """A condition entry with a program of at most twelve words in itself."""
    program = assemble(text, layout.family)
    head = layout.build({**header, "type": 20, "conds_sub_type": sub_type, "kernel_credit": CREDIT, "csc": 1})
    room = len(head) - INLINE_AT - len(program)
    return head[:INLINE_AT] + program + assemble("nop\n" * (room // 4), layout.family)
