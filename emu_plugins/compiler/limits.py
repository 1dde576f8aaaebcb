"""What a program takes of each limit of a chip, in the words of the compiler: who the tasks of no operator are from.

The counts are those of :mod:`emu_core.limits`. A stream that is split, and one that is joined to the end of the graph,
has tasks that belong to no operator; the pass that made them is their user. What to do about too many depends on policy
`stream_split`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core.limits import uses, wait_entries
from emu_plugins.compiler.stream_ends import JOIN_STAGE, SPLIT_STAGE

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.limits import Use
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob, BlobTask

MADE_BY = {JOIN_STAGE: "joins at the end of the graph", SPLIT_STAGE: "joins of split streams"}
"""What tasks of no operator are called, by the pass that made them."""
POLICY = "stream_split"
_REMEDIES = {
    ("EE1019", "on"): "streams were split already (policy stream_split): what stays together on this one is too long; "
    "insert fewer NOPs (policy nop_count), or use a chip whose rings hold more",
    ("EE1019", "off"): "compile with --policy stream_split=on, which lets a long stream go on in another one, or put "
    "fewer tasks on one stream",
    ("207007", "on"): "let fewer operators sink in one graph: each takes an event, and each split of a long stream one "
    "more (policy stream_split); or split the graph, or use a chip with more events",
    ("207007", "off"): "let fewer operators sink in one graph: each takes an event; or split the graph, or use a chip "
    "with more events",
    ("207008", "on"): "use fewer streams (policy stream_split adds one where one is too long), or a chip with more",
}


def uses_in_words(blob: Blob, chip: Chip, policies: PolicySet) -> tuple[Use, ...]:
    """Every limit as :func:`emu_core.limits.uses` counts it, with named users and a remedy for these policies."""
    split = policies[POLICY] if any(spec.name == POLICY for spec in policies) else ""
    named = replace(blob, tasks=tuple(_named(task) for task in blob.tasks))
    found = uses(named, chip, per_wait=wait_entries(policies))
    return tuple(replace(use, remedy=_REMEDIES.get((use.id, split), use.remedy)) for use in found)


def _named(task: BlobTask) -> BlobTask:
    return task if task.node or task.made_by not in MADE_BY else replace(task, node=MADE_BY[task.made_by])
