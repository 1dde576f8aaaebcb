"""Timed stand-ins by themselves: durations, marks, what is refused (`docs/om.md`, Stand-ins)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emu_core.errors import InputError, OptionError
from emu_core.kernels import CoreType
from emu_plugins.runtime import POLICIES
from emu_plugins.runtime.stand_in import (
    FUNCTION,
    LIBRARY,
    MARK,
    POLICY,
    bandwidth_ns,
    grouped,
    kernel_for,
    refuse_stand_ins,
    stand_in_operator,
    stand_in_ops,
    stand_ins_of,
)
from formats.blob import Blob, BlobOp, BlobTask, KernelType, TaskType

CUBE = kernel_for(CoreType.AIC)
OPS = tuple(BlobOp(f"op{i}", "Foo", (None,), ()) for i in range(5))


def blob(*tasks):
    """A blob with five operators and the cube stand-in as its kernel."""
    return Blob("ascend310p3", "b", ops=OPS, kernels=(CUBE,), tasks=tasks)


def standing(op, kind="te_x", why="no code", **fields):
    """A task that stands in."""
    made_by = f"{MARK}{kind}: {why}"
    return BlobTask(TaskType.KERNEL, 0, op=op, node=f"op{op}", made_by=made_by, **{"kernel": 0, **fields})


AICPU = {"kernel": None, "kernel_type": KernelType.AI_CPU, "so_name": LIBRARY, "kernel_name": FUNCTION}


def test_bandwidth():
    """1000 bytes at 10 per cycle and 1 GHz are 100 ns, and one byte more is rounded up."""
    chip = SimpleNamespace(ddr_bytes_per_cycle=10, cube_mhz=1000)
    assert (bandwidth_ns(1000, chip), bandwidth_ns(1001, chip), bandwidth_ns(0, chip)) == (100, 101, 0)


def test_values_of_the_policy():
    """The policy takes `bytes` and nanoseconds up to a second."""
    (policy,) = (spec for spec in POLICIES if spec.name == POLICY)
    assert [policy.check(value) for value in ("bytes", "0", "1000000000")] == ["bytes", "0", "1000000000"]
    for value in ("flops", "-1", "1000000001"):
        with pytest.raises(OptionError):
            policy.check(value)


def test_which_tasks_stand_in():
    """Kernels and the AI CPU function of this module stand in, and NOPs that bear the mark; ordinary NOPs do not."""
    nop = BlobTask(TaskType.NOP, 0, made_by="tasks")
    marked = BlobTask(TaskType.NOP, 0, made_by=f"{MARK}CMO: a hint")
    found = stand_ins_of(blob(standing(0), standing(1, **AICPU), nop, marked))
    assert [(each.task, each.node, each.instead_of, each.why, each.engine) for each in found] == [
        (0, "op0", "te_x", "no code", "ai_core"), (1, "op1", "te_x", "no code", "ai_cpu"),
        (3, "task 3", "CMO", "a hint", "nop"),
    ]  # fmt: skip


def test_operators():
    """An operator stands in when no task of its own runs code of a plugin."""
    tiling = BlobTask(TaskType.PREPROCESS_KERNEL, 0, op=1, so_name="libopmaster.so")
    assert stand_in_ops(blob(standing(0), standing(1), tiling)) == {0}
    assert stand_in_ops(blob(tiling)) == frozenset()


def test_a_host_cannot_schedule_them():
    """A blob with a stand-in is refused where a host would have to tile it; one without is not."""
    with pytest.raises(InputError) as raised:
        refuse_stand_ins(blob(standing(3)))
    assert (raised.value.id, raised.value.where) == ("kernel.stand-in", "operator op3")
    refuse_stand_ins(blob())


def test_an_operator_without_code():
    """Its registration has as many inputs and outputs as the blob, and neither shapes nor tiling."""
    spec = stand_in_operator(BlobOp("o", "Foo", (0, None), (1, 2, 3)))
    assert (len(spec.inputs), len(spec.outputs)) == (2, 3)
    with pytest.raises(InputError):
        spec.infer((), {})


def test_groups():
    """Stand-ins are told once per operator type, engine and reason; three nodes are named."""
    (group, other) = grouped(stand_ins_of(blob(*map(standing, range(5)), standing(0, **AICPU))))
    assert group.text() == "Foo on cores (no code): op0, op1, op2 and 2 more"
    assert other.text() == "Foo on an AI CPU thread (no code): op0"
