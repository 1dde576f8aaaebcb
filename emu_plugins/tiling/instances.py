"""IR inputs and their tensors: where a dynamic input lies among the inputs of an operator.

Lists of inputs here have one *slot* per ordinary IR input, absent or not, and one per tensor of a dynamic input.

| number | counts | example: x, an absent mask, dynamic parts of 2, n |
|---|---|---|
| IR index | IR inputs; what registrations speak of (`tiling_sink_compiler.md` 3) | 0, 1, 2, 3 |
| slot | entries of a list of inputs | 0, 1, 2 3, 4 |
| instance index | connected tensors | 0, -, 1 2, 3 |

Without dynamic inputs slot and IR index are the same number.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emu_core.operators import AttrValue

IR_COUNTS = "_ir_input_counts"
"""Attribute of an operator in a blob: slots per IR input; only there when one of them is dynamic."""


def ir_counts(attrs: Mapping[str, AttrValue], slots: int) -> tuple[int, ...]:
    """Slots per IR input, from the attributes of an operator with `slots` inputs; one each when they say nothing.

    Counts that do not add up to `slots` are not usable.
    """
    found = attrs.get(IR_COUNTS)
    if isinstance(found, tuple) and all(type(each) is int and each >= 0 for each in found) and sum(found) == slots:
        return tuple(int(each) for each in found)
    return (1,) * slots


def slots_of(indices: Iterable[int], counts: Sequence[int]) -> tuple[int, ...]:
    """Slots of the IR inputs `indices`, ascending; `counts`: slots per IR input, empty for one each."""
    if not counts:
        return tuple(sorted(indices))
    first = (0, *accumulate(counts))
    return tuple(slot for index in sorted(indices) for slot in range(first[index], first[index + 1]))


def ir_of_slots(counts: Sequence[int]) -> tuple[int, ...]:
    """IR index of each slot."""
    return tuple(index for index, count in enumerate(counts) for _ in range(count))
