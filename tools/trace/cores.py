"""The cores of a chip in a timeline.

The machine counts free cores and gives them no numbers, so which core ran which block is drawn, not recorded: each
launch takes the free cores with the smallest numbers. How many a block needs, and how many a launch can have, is as the
chip and the kernel say; a launch that runs in waves is drawn in as many equal parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.cores import core_kinds, units_of
from tools.trace.scene import Slice, title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emu_core.chips import Chip
    from emu_core.kernels import KernelSpec
    from tools.trace.tasks import Task


def cores_of(
    chip: Chip, kernels: Mapping[str, KernelSpec]
) -> Callable[[Sequence[Task]], Iterable[tuple[str, Slice]]]:  # fmt: skip
    """What gives the blocks of the kernels among tasks, each with the name of a core."""

    def blocks(tasks: Sequence[Task]) -> Iterator[tuple[str, Slice]]:
        free = {kind: [0] * count for kind, count in core_kinds(chip).items()}
        launches = [task for task in tasks if "block_dim" in task.facts and task.ended is not None]
        for task in sorted(launches, key=lambda each: each.started or 0):
            for kind, each in _units(task, chip, kernels).items():
                yield from _placed(task, kind, each, free[kind])

    return blocks


def _units(task: Task, chip: Chip, kernels: Mapping[str, KernelSpec]) -> Mapping[str, int]:
    """Cores that one block needs, by kind; of a kernel that nobody supplies one of the first kind."""
    spec = kernels.get(str(task.facts.get("kernel")))
    if spec is None:
        return {next(iter(core_kinds(chip))): 1}
    key = task.facts.get("tiling_key")
    return units_of(spec.core_type, chip, spec.mix_at(key if isinstance(key, int) else 0))


def _placed(task: Task, kind: str, each: int, free: list[int]) -> Iterator[tuple[str, Slice]]:
    """The blocks of a launch on cores of one kind; `free`: when each core is free again."""
    start, end = (task.started or 0) + task.coreless, task.ended or 0
    blocks = task.facts["block_dim"]
    wanted = blocks * each if isinstance(blocks, int) else each
    taken = [core for core, when in enumerate(free) if when <= start][: -(-wanted // task.waves)]
    left = wanted
    for wave in range(task.waves):
        since, until = (start + (end - start) * k // task.waves for k in (wave, wave + 1))
        for core in taken[:left]:
            free[core] = until
            yield f"{kind} {core}", Slice(since, until, title(task), task.task, task.slot)
        left = max(left - len(taken), 0)
