"""edu-one runs programs: tiled on the device, patched, or failing as it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import Device, InputError, compile_graph, compile_with_report
from formats import BUILTIN

# y of ten zeros, by hand: stripes are 10 / n elements wide, rounded up; 0 or less mirrors 1 - n of them.
BY_HAND = {
    1: [0] * 10,
    2: [0] * 5 + [1] * 5,
    3: [0] * 4 + [1] * 4 + [2] * 2,
    9: [0] * 3 + [1] * 3 + [2] * 3 + [3],  # four cores, so four stripes
    0: [0] * 10,
    -2: [2] * 4 + [1] * 4 + [0] * 2,
}
BLOCKS = {1: 1, 2: 2, 3: 3, 9: 4, 0: 1, -2: 3}
KERNEL_SLOT = 6  # wait, clear, four idle entries


def executed(model, n, x=None):
    """The result of one execution."""
    return model.execute({"x": np.zeros(10, "<f4") if x is None else x, "n": np.array([n], "<i4")})


@pytest.fixture
def model(host, blob):
    """The program loaded into a fresh device."""
    return Device("edu-one", plugins=host, record_rings=True).load(blob)


@pytest.mark.parametrize("n", BY_HAND)
def test_the_value_decides_the_stripes(model, n):
    """Output y is the stripe of each element; blocks and variant of the kernel entry are patched to what n asks for."""
    result = executed(model, n)
    assert result.ok
    assert result.hazards == ()
    assert result.outputs["y"].tolist() == BY_HAND[n]
    assert {p.field: p.after for p in result.patches if p.target == "sqe"} == {
        "variant": int(n <= 0), "blocks": BLOCKS[n],
    }  # fmt: skip
    assert {p.writer.engine for p in result.patches} == {"edu_tile", "edu_patch"}


def test_one_model_many_executions(model):
    """Each execution is patched afresh, and x is added."""
    for n, stripes in BY_HAND.items():
        assert executed(model, n, np.ones(10, "<f4")).outputs["y"].tolist() == [v + 1 for v in stripes]


def test_the_rings_are_those_of_the_family(model):
    """The main ring is wait, clear, idle x 4, kernel, record; the other one tile, patch, record."""
    registry, main, attached = model.device.host.registry, *model.rings().values()
    kinds = [[d.struct.struct_name for d in registry.decode_stream("edu", ring)] for ring in (main, attached)]
    assert kinds == [
        ["EduFlagSqe"] * 2 + ["EduIdleSqe"] * 4 + ["EduKernelSqe", "EduFlagSqe"],
        ["EduTileSqe", "EduPatchSqe", "EduFlagSqe"],
    ]
    assert main[64 * KERNEL_SLOT] & 0x3F == 1
    assert "edu" not in BUILTIN.families


def test_a_patch_that_is_late_for_the_fetch_is_a_fault(graph, host):
    """Without idle entries the kernel was fetched before its patch and starts with all ones as its blocks."""
    blob = compile_graph({**graph, "name": "late"}, "edu-one", plugins=host)
    early = replace(blob, tasks=tuple(t for t in blob.tasks if t.type != 42))
    model = Device("edu-one", plugins=host).load(early)
    result = executed(model, 2)
    assert result.faults[0].id == "edu.not-patched"
    assert "hazard.stale-prefetch" in {h.id for h in result.hazards}
    model.abort()
    # The ring keeps the patch of the run before: two blocks, where three are planned now.
    second = executed(model, 3)
    assert second.ok
    assert second.outputs["y"][:8].tolist() == [0] * 4 + [1] * 4
    assert set(second.unwritten) == {"y"}


def test_a_model_that_failed_runs_again_after_an_abort(model):
    """The caller learns of the fault through the flag it waits for."""
    device, kernel = model.device, model.device.layout("EduKernelSqe")
    good = device.streams[0].queue.entry(KERNEL_SLOT)
    device.patch_sqe(0, KERNEL_SLOT, {"image": device.memory.allocate(128, label="no kernel").address}, kernel)
    failed = executed(model, 2)
    assert failed.faults[0].id == "edu.no-kernel"
    assert any("0x91" in line for line in failed.faults[0].consequences)
    model.abort()
    device.replace_sqe(0, KERNEL_SLOT, good)
    assert executed(model, 2).outputs["y"].tolist() == BY_HAND[2]


@pytest.mark.parametrize("policy", ["fault", "keep_old"])
def test_a_key_that_the_kernel_does_not_have(host, blob, policy):
    """Policy `edu_unknown_key`: a fault, or a hazard while the entry stays as it is."""
    device = Device("edu-one", {"edu_unknown_key": policy}, host)
    model = device.load(blob)
    patch = device.layout("EduPatchSqe")
    device.patch_sqe(1, 1, {"keys_num": 1}, patch)  # the list of keys is now [0]
    result = executed(model, 0)
    if policy == "fault":
        assert result.faults[0].id == "edu.patch-key"
    else:
        assert "edu.patch-key" in {h.id for h in result.hazards}


def test_a_program_without_sinking_runs_with_compile_time_tiling(graph, host):
    """A constant n needs no tiling on the device: one stripe per n, no patch."""
    fixed = {**graph, "inputs": graph["inputs"][:1], "constants": [
        {"name": "n", "dtype": "int32", "shape": [1], "data": [2]},
    ]}  # fmt: skip
    result = Device("edu-one", plugins=host).load(compile_graph(fixed, "edu-one", plugins=host)).execute(
        {"x": np.zeros(10, "<f4")}
    )  # fmt: skip
    assert result.outputs["y"].tolist() == BY_HAND[2]
    assert result.patches == ()


def test_two_operators_in_a_row(graph, host):
    """The second reads what the first has written; each has a plan and an event of its own."""
    nodes = [*graph["nodes"], {"name": "stripe1", "type": "EduStripe", "inputs": ["y", "n"], "outputs": ["z"]}]
    twice = {**graph, "nodes": nodes, "outputs": ["z"]}
    model = Device("edu-one", plugins=host).load(compile_graph(twice, "edu-one", plugins=host))
    assert executed(model, 3).outputs["z"].tolist() == [2 * v for v in BY_HAND[3]]


def test_host_scheduling_is_refused(graph, host):
    """Without sinking the value would have to be read by the host."""
    with pytest.raises(InputError) as caught:
        compile_with_report({**graph, "options": {}}, "edu-one", plugins=host)
    assert caught.value.id == "edu.host-tiling"
    assert "ge.tiling_schedule_optimize" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"chip": "ascend310p3"}, "compiled for ascend310p3"),
        ({"kernels": ()}, "kernel"),
        ({"inputs": (99,)}, "99"),
        ({"events": ()}, "does not exist"),
        ({"streams": ()}, "does not exist"),
    ],
)
def test_damaged_blobs_are_refused(host, blob, change, what):
    """With the place, and nothing of the device is kept."""
    device = Device("edu-one", plugins=host)
    before = len(list(device.memory.allocations()))
    with pytest.raises(InputError, match=what):
        device.load(replace(blob, **change))
    assert len(list(device.memory.allocations())) == before


def test_other_chips_do_not_notice(host, graph):
    """Compiler, loader and engines of the package leave other families to others."""
    model = Device("ascend310p3", plugins=host).load(compile_graph(graph, "ascend310p3", plugins=host))
    result = executed(model, 3)
    assert result.ok
    assert result.outputs["y"].tolist() == BY_HAND[3]
    assert {e.engine for e in result.trace if hasattr(e, "engine")}.isdisjoint({"edu_tile", "edu_patch", "edu_core"})


@pytest.mark.parametrize(
    ("task", "change", "what"),
    [
        (0, {"op": None}, "names no operator"),
        (1, {"event_id": None}, "names no event"),
        (6, {"args_format": "{i7*}"}, "of which there are 2"),
        (6, {"args_format": "{ws3*}"}, "of which there are 1"),
        (6, {"args_format": "{tiling_context}"}, "does not have"),
        (6, {"args_format": "{i*}"}, "of which there are 2"),
        (6, {"type": 42}, "before its kernel was loaded"),
        (3, {"type": 99}, "has the type 99"),
    ],
)
def test_damaged_tasks_are_refused(host, blob, task, change, what):
    """Each names what is wrong with it."""
    tasks = [replace(t, **change) if i == task else t for i, t in enumerate(blob.tasks)]
    with pytest.raises(InputError, match=what):
        Device("edu-one", plugins=host).load(replace(blob, tasks=tuple(tasks)))
