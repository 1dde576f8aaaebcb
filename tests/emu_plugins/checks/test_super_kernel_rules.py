"""`sqemu check` knows super kernels: what each launch polls for, and who reads what inside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.graph import CompileOptions

SUPER, PREPROCESS = 44, 43


@pytest.fixture
def fused(host):
    """Two probes fused into one launch; the tiling of each sinks."""
    names = ("a", "b")
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "p", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [
            {"name": name, "type": "TilingProbe", "inputs": [x, "n"], "outputs": [f"y_{name}"],
             "attrs": {"_super_kernel_scope": "sk"}}
            for name, x in zip(names, ("x", "y_a"), strict=True)
        ],
        "outputs": ["y_b"],
    }  # fmt: skip
    return compile_graph(graph, "ascend910b3", CompileOptions(), host)


def with_formats(blob, kind, old, new):
    """`blob` with another text in the args formats of tasks of one type."""
    tasks = (replace(t, args_format=t.args_format.replace(old, new)) if t.type == kind else t for t in blob.tasks)
    return replace(blob, tasks=tuple(tasks))


def test_a_compiled_super_kernel_is_sound(fused, findings):
    """Members that read what an earlier member computes are in order, since the launch runs them in order."""
    assert findings(fused) == []


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        (SUPER, "{skn1event_addr1*}", "", "needs tiling_context.tiling_data"),
        (SUPER, "{skn1event_addr1*}", "{skn1event_addr0*}", "sets another one"),
        (SUPER, "{skn0i0*}", "{i0*}", "belongs to no operator"),
        (SUPER, "{skn0i0*}", "{skn9i0*}", "belongs to no operator"),
        (SUPER, "{skn0i0*}", "{hehe}", "cannot be read"),
        (PREPROCESS, "{skn1event_addr1*}", "{skn1event_addr5*}", "sets another one"),
    ],
)
def test_arguments_that_do_not_fit(fused, findings, kind, old, new, said):
    """A missing or foreign entry, and an event that differs from that of the tiling task, are errors."""
    found = findings(with_formats(fused, kind, old, new), full=True)
    assert any(each.id == "check.super-kernel" and said in each.what for each in found)


def test_a_tiling_task_that_is_missing_or_late(fused, findings):
    """The launch would poll for ever, or the loader would have no addresses for its arguments."""
    tilings = [i for i, t in enumerate(fused.tasks) if t.type == PREPROCESS]
    tasks = list(fused.tasks)
    first = tasks.pop(tilings[0])
    assert "check.super-kernel" in [i for i, _ in findings(replace(fused, tasks=tuple(tasks)))]
    tasks.insert(2, first)
    assert "check.super-kernel" in [i for i, _ in findings(replace(fused, tasks=tuple(tasks)))]
