"""Super kernels: one launch, sub kernels in order, told apart by the tiling keys the device wrote (chapter 8)."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from emu_core.errors import GraphError, InputError
from emu_core.trace import TaskStarted, TaskWaits
from formats.blob import TaskType
from tools.dump.rings import names_of

CHIPS = ("ascend310p3", "ascend910b3", "ascend950pr_9599")


def chain(*, kind="TilingProbe", size=40, fused=True, sink=True, reuse=True):
    """Three operators of one binary, each with a value of its own."""
    names = ("a", "b", "c")
    attrs = {"_super_kernel_scope": "sk", "super_kernel_reuse_binary": reuse} if fused else {}
    return {
        "format": "sqemu-graph", "version": 1, "name": "three",
        "options": {"ge.tiling_schedule_optimize": str(int(sink))},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [size]},
                   *({"name": f"n_{n}", "dtype": "int32", "shape": [1]} for n in names)],
        "nodes": [
            {"name": n, "type": kind, "inputs": ["x", f"n_{n}"], "outputs": [f"y_{n}"], "attrs": dict(attrs)}
            for n in names
        ],
        "outputs": [f"y_{n}" for n in names],
    }  # fmt: skip


def values(*numbers, size=40):
    """Inputs for the three; a TilingProbe takes key n mod 3 and block dim n, a Knob n = 1000 * block dim + key."""
    given = {f"n_{name}": np.array([n], np.int32) for name, n in zip("abc", numbers, strict=True)}
    return {"x": np.zeros(size, np.float32), **given}


@pytest.mark.parametrize("chip", CHIPS)
def test_three_operators_told_apart_by_their_key(lab, fill, chip):
    """One binary, three keys: each output shows its own key and block dim, in every execution."""
    bench = lab(chip, graph=chain())
    assert len(bench.blob.kernels) == 1
    for numbers in ((1, 2, 3), (5, 3, 4), (6, 2, 7)):
        result = bench.model.execute(values(*numbers))
        assert (result.ok, result.faults, result.hazards) == (True, (), ())
        for name, n in zip("abc", numbers, strict=True):
            assert result.outputs[f"y_{name}"].tolist() == fill(n % 3, n).tolist()


@pytest.mark.parametrize("chip", CHIPS)
def test_the_same_as_unfused(lab, chip):
    """Outputs equal those of the graph without a super kernel, sunk or tiled by the host."""
    given = values(4, 2, 3)
    found = lab(chip, graph=chain()).model.execute(given)
    assert found.ok
    for graph in (chain(fused=False), chain(fused=False, sink=False)):
        other = lab(chip, graph=graph).model.execute(given)
        assert {k: v.tolist() for k, v in other.outputs.items()} == {k: v.tolist() for k, v in found.outputs.items()}


def test_one_launch_that_polls(lab):
    """The launch parks on the event word of each member that is not tiled yet, then runs all three as one kernel."""
    bench = lab("ascend910b3", graph=chain())
    result = bench.model.execute(values(4, 2, 3))
    waits = [e for e in result.trace if isinstance(e, TaskWaits) and e.kind == "kernel"]
    assert len(waits) == 3
    assert all(e.signal.startswith("memory ") for e in waits)
    (start,) = [e for e in result.trace if isinstance(e, TaskStarted) and e.kind == "kernel"]
    assert start.facts["kernel"] == "sk"
    assert start.facts["sub_kernels"] == (
        "TilingProbe key 1 block dim 4, TilingProbe key 2 block dim 2, TilingProbe key 0 block dim 3"
    )


def test_dumps_name_it(lab):
    """A program counter of a super kernel is shown with its name and the number of its sub kernels."""
    bench = lab("ascend910b3", graph=chain())
    _, entry = bench.kernel_sqe()
    assert names_of(bench.device).address(entry["pc_addr_low"] | entry["pc_addr_high"] << 32) == (
        "super kernel sk, 3 sub kernels"
    )


def test_event_words_are_zero_again(lab):
    """Behind an execution the event words are 0, so that the next one waits again."""
    bench = lab("ascend910b3", graph=chain())
    words = [a for a in bench.device.memory.allocations() if a.label.startswith("event word")]
    assert len(words) == 3
    for _ in range(2):
        assert bench.model.execute(values(4, 2, 3)).ok
        assert [bench.device.memory.read(w.address, 8) for w in words] == [bytes(8)] * 3


def test_an_ordinary_member(lab, fill):
    """Members that do not sink run with the variant of the compiler, each behind the one whose output it reads."""
    graph = chain()
    graph["inputs"].append({"name": "i", "dtype": "int32", "shape": [1]})
    twice = {"type": "Twice", "attrs": {"_super_kernel_scope": "sk"}}
    graph["nodes"][:1] = [{"name": "t", "inputs": ["i"], "outputs": ["i2"], **twice},
                          {"name": "u", "inputs": ["i2"], "outputs": ["y_a"], **twice}]  # fmt: skip
    given = {**values(0, 2, 4), "i": np.array([21], np.int32)}
    for chip in CHIPS:
        bench = lab(chip, graph=graph)
        result = bench.model.execute(given)
        assert result.outputs["y_a"].tolist() == [84]
        assert result.outputs["y_c"].tolist() == fill(1, 4).tolist()


def test_an_unknown_key(lab, ids):
    """A key without an entry is a fault of the launch that names it."""
    result = lab("ascend910b3", graph=chain(kind="Knob", size=4)).model.execute(values(2000, 3099, 1000, size=4))
    assert ids(result.faults)[:1] == ["super-kernel.no-entry"]
    assert "tiling key 99" in str(result.faults[0])


def test_a_tiling_that_fails(lab, ids):
    """The launch never sees its event word: the tiling's fault is reported, and that nobody sets the word."""
    result = lab("ascend910b3", graph=chain(kind="Knob", size=4)).model.execute(values(2000, -1, 1000, size=4))
    assert not result.ok
    assert ids(result.faults)[0] == "tiling.failed"


def test_without_sink_there_is_no_program(lab):
    """Taking the sink from one of three stops the compilation, since its binary is reused."""
    graph = chain()
    graph["nodes"][1]["attrs"]["compile_info_json"] = ""
    with pytest.raises(GraphError) as caught:
        lab("ascend910b3", graph=graph)
    assert [p.id for p in caught.value.problems] == ["graph.super-kernel-reuse"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{skn1event_addr1*}", ""),
        ("{skn1tiling_context.tiling_key}", ""),
        ("{skn0i0*}", "{i0*}"),
        ("{skn0i0*}", "{skn7i0*}"),
        ("{skn0i0*}", "{skn0i9*}"),
    ],
)
def test_broken_formats(lab, old, new):
    """A format with a part missing, of nobody, or of an operator that is not there is refused at load."""

    def edit(blob):
        tasks = [replace(t, args_format=t.args_format.replace(old, new)) if t.type == 44 else t for t in blob.tasks]
        return replace(blob, tasks=tuple(tasks))

    with pytest.raises(InputError) as caught:
        lab("ascend910b3", graph=deepcopy(chain()), edit=edit)
    assert caught.value.id == "blob.args-format"


@pytest.mark.parametrize("member", [0, 1])
@pytest.mark.parametrize("chip", CHIPS)
def test_a_word_that_is_never_set_ends_the_launch_after_its_credit(lab, ids, chip, member):
    """One tiling does not know its event word: the launch polls from 1 us on, for 254 units of 100 us in all."""

    def silent(blob):
        old, new = f"{{skn{member}event_addr{member}*}}", f"{{skn{member}}}"
        tasks = [replace(t, args_format=t.args_format.replace(old, new))
                 if t.type == TaskType.PREPROCESS_KERNEL else t for t in blob.tasks]  # fmt: skip
        return replace(blob, tasks=tuple(tasks))

    bench = lab(chip, graph=chain(), edit=silent, kernel_credit_us=100)
    result = bench.model.execute(values(4, 2, 3))
    limit = 254 * 100_000
    fault = result.faults[0]
    assert (result.ok, result.deadlock) == (False, None)
    assert ids(result.faults) == ["wait.timeout", "model.failed"]
    assert (fault.stream, fault.time, fault.ts_code, fault.error_type) == (0, 1_000 + limit, 0x105, 4)
    assert f"stream 0 task 0 (kernel of sk): waited {limit} ns for memory 0x" in fault.text()
    assert "find the task that should have set it" in fault.remedy
    assert (result.faults[1].ts_code, result.faults[1].acl_code) == (0x91, 507011)
