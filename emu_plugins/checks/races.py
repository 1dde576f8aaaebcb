"""Tasks that read what no event makes sure is written (`reference/tiling_sink_compiler.md` 9.3).

A tensor is written by the kernel of its operator. The kernels that read it and the tiling tasks that read its *value*
must come after that kernel. The pattern of 9.3 is a producer whose own tiling sinks: the consumer's tiling is ordered
behind the producer's tiling on the attached stream, not behind its kernel on the main stream.

In a host-scheduled program the host orders what it launches and the static models it executes; see
:mod:`emu_plugins.checks.order`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.checks.operators import place, tasks_of_operators
from emu_plugins.checks.order import order_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from emu_plugins.checks.order import Order
    from formats.blob.model import Blob


def races(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """An error per reader of a tensor that may run before the kernel that writes it."""
    del chip, policies, host
    order = order_of(blob)
    tasks = tasks_of_operators(blob)
    writer = {t: kernel for op, found in tasks.items() for kernel in found.kernels for t in blob.ops[op].outputs}
    for op, found in tasks.items():
        inputs = blob.ops[op].inputs
        values = dict.fromkeys(inputs[i] for i in blob.ops[op].depends)
        for reader, read in (
            *((t, values) for t in found.tilings),
            *((k, dict.fromkeys(inputs)) for k in found.kernels),
        ):
            yield from _unordered(order, reader, read, writer, as_value=reader in found.tilings)


def _unordered(
    order: Order, reader: int, read: dict[int | None, None], writer: dict[int, int], *, as_value: bool
) -> Iterator[Finding]:
    blob = order.blob
    for tensor in read:
        if tensor is None or tensor not in writer or order.before(writer[tensor], reader):
            continue
        if writer[tensor] == reader:
            continue  # a super kernel runs its operators in order
        how = "reads the value of" if as_value else "reads"
        what = f"{how} {blob.tensors[tensor].name}, and nothing orders it behind {place(blob, writer[tensor])}"
        remedy = _remedy(order, writer[tensor], reader, as_value=as_value)
        yield Finding(
            Level.ERROR, "check.value-race" if as_value else "check.data-race", place(blob, reader), what, remedy
        )


def _remedy(order: Order, writer: int, reader: int, *, as_value: bool) -> str:
    if order.moment[writer] > order.moment[reader]:
        return "put the writer before the reader: the host goes through the list in order"
    if order.moment[writer] < order.moment[reader]:
        return "let the end of the writer's static part wait for an event behind its kernel"
    remedy = "let the writer record an event behind its kernel that this task waits for"
    return f"{remedy}; or turn the sink off for one of the two operators" if as_value else remedy
