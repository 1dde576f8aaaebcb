"""What plugins must supply, and what a chip must have room for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet
from emu_plugins.compiler.limits import uses_in_words
from formats.blob import BlobTask, TaskType


@pytest.fixture
def blob(probe):
    """One probe on a 910B3."""
    return probe()


def test_missing_operator_and_kernel(blob, findings):
    """Names that no plugin knows are errors with the name in it."""
    made = replace(
        blob, ops=(replace(blob.ops[0], type="Nothing"),), kernels=(replace(blob.kernels[0], name="nobody"),)
    )
    assert findings(made) == [("operator.missing", "operator op0"), ("kernel.missing", "kernel nobody")]


def test_a_key_without_an_entry(blob, findings):
    """The kernel was not compiled for the key the launch starts with."""
    made = replace(blob, ops=(replace(blob.ops[0], tiling_key=77),))
    assert findings(made) == [("kernel.no-entry", "operator op0")]


def test_a_kernel_of_other_products(blob, findings, host):
    """A kernel without a binary for the product is refused before it is loaded."""
    limited = next(spec for spec in host.kernels.values() if spec.products and "310P" not in spec.products)
    made = replace(blob, chip="ascend310p3", kernels=(replace(blob.kernels[0], name=limited.name),))
    assert ("kernel.product", f"kernel {limited.name}") in findings(made)


def test_a_chip_without_engines_is_a_warning(probe, findings):
    """A program for a chip that cannot be run here is still checked."""
    found = findings(probe(chip="ascend950pr_9599"), full=True)
    assert [(f.id, f.level) for f in found] in ([], [("chip.no-engines", "warning")])


def test_no_engines_at_all(blob, findings):
    """The same without the plugin that has the engines."""
    from emu_core.checks import run_checks
    from emu_core.policies import PolicySet

    bare = PluginHost(without=["engines"])
    given = PolicySet(bare.policy_specs, blob.policies)
    found = [f.id for _, all_ in run_checks(blob, bare.chip(blob.chip), given, bare) for f in all_]
    assert found == ["chip.no-engines"]


def test_another_chip(blob, findings):
    """A blob is loaded only into the chip it was compiled for."""
    assert findings(blob, chip="ascend910b1") == [("blob.chip", "graph p")]


@pytest.mark.parametrize(("chip", "most"), [("ascend310p3", 2042), ("ascend910b3", 2013), ("ascend910_9391", 2013)])
def test_the_last_task_that_fits(probe, findings, chip, most):
    """A stream takes its usable tasks and not one more; the error says which operator used it up."""
    made = probe(chip=chip)
    used = sum(2 if t.type == TaskType.EVENT_WAIT else 1 for t in made.tasks if t.stream_id == 0)
    full = replace(made, tasks=(*[BlobTask(TaskType.NOP, 0, node="filler")] * (most - used), *made.tasks))
    assert findings(full) == []
    over = replace(full, tasks=(BlobTask(TaskType.NOP, 0, node="filler"), *full.tasks))
    found = findings(over, full=True)
    assert [f.id for f in found] == ["EE1019"]
    assert f"the program takes {most + 1}: filler {most + 1 - used}, op0 {used - 1}, end of graph 1" in found[0].what


def test_what_to_do_about_a_full_stream_depends_on_the_policy(probe, findings):
    """Streams that were not split can be; where they were, only fewer entries help."""
    full = [BlobTask(TaskType.NOP, 0, node="filler")] * 2100
    for policy, words in (("off", "--policy stream_split=on"), ("on", "insert fewer NOPs (policy nop_count)")):
        made = probe(chip="ascend310p3", stream_split=policy)
        (found,) = findings(replace(made, tasks=(*full, *made.tasks)), full=True)
        assert found.id == "EE1019"
        assert words in found.remedy


def test_tasks_of_no_operator_are_named_by_what_they_are_for(graph_of_probes, host):
    """30 probes of 8 entries on a stream that holds 63: 36 of them fit beside the margin of 27, which is 4 probes.

    The first part has 4 and a record; those between wait, have 4 probes, and record; so 8 parts, joined by 7 events.
    The tiling stream has 3 entries per probe: 11 fit beside the record, in later parts too; 3 parts, 2 events.
    """
    chip = replace(host.chip("ascend310p3"), usable_tasks=63)
    blob = compile_graph(graph_of_probes(30), chip, CompileOptions(offline=False), host)
    policies = PolicySet(host.policy_specs, blob.policies)
    found = {use.figure: dict(use.users) for use in uses_in_words(blob, chip, policies)}
    assert found["max_events"]["joins of split streams"] == 7 + 2
    assert "no operator" not in found["max_events"]


def test_bad_references_come_first(blob, findings, edited):
    """With an index that points nowhere no other check is run."""
    assert findings(edited(blob, 0, op=5)) == [("blob.reference", "tasks[0]")]
    assert findings(edited(blob, 0, stream_id=9)) == [("blob.task", "task #0")]
    assert findings(edited(blob, 1, event_id=9)) == [("blob.task", "task #1")]
