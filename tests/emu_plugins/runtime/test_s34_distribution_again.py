"""Which tasks may be distributed again (`reference/device_semantics.md` S34, `tiling_sink_compiler.md` 11.2)."""

from __future__ import annotations

from dataclasses import replace

from emu_plugins.runtime.redistribution import recoverable, redistributable
from formats.blob import TaskType


def test_s34_an_update_is_distributed_twice(lab, fill):
    """Both updates load and patch the kernel that has the id; the update may come again, the kernel may not."""

    def twice(blob):
        at = next(i for i, t in enumerate(blob.tasks) if t.type == TaskType.UPDATE)
        return replace(blob, tasks=(*blob.tasks[: at + 1], blob.tasks[at], *blob.tasks[at + 1 :]))

    bench = lab("ascend910b3", edit=twice)
    result = bench.run(5)
    assert result.ok
    assert len({p.writer.task for p in result.patches if p.writer.engine == "task_update"}) == 2
    assert result.outputs["y0"].tolist() == fill(2, 5).tolist()
    flags = bench.model.details["op0"]["redistributable"]
    assert (flags["UPDATE"], flags["ALL_KERNEL"], flags["EVENT_RECORD"], flags["PREPROCESS_KERNEL"]) == (
        True,
        False,
        True,
        False,
    )


def test_s34_a_model_with_sink_is_not_recovered(lab, probe_graph):
    """Every task must allow it: a model with a tiling context does not, the same blob without contexts does."""
    sunk = lab("ascend910b3", graph=probe_graph(nodes=2)).blob
    assert not recoverable(sunk, {0, 1})
    kernels = [t for t in sunk.tasks if t.type == TaskType.ALL_KERNEL]
    assert [redistributable(t, {1}) for t in kernels] == [True, False]
    plain = replace(sunk, tasks=tuple(t for t in sunk.tasks if t.type != TaskType.PREPROCESS_KERNEL))
    assert recoverable(plain, set())


def test_s34_a_super_kernel_with_a_context_is_not_distributed_again(lab):
    """One member with a tiling context is enough."""
    task = replace(
        lab("ascend910b3").blob.tasks[-1], type=TaskType.SUPER_KERNEL, args_format="{skn0i0*}{skn3tiling_context}"
    )
    assert [redistributable(task, contexts) for contexts in ({3}, {4})] == [False, True]
