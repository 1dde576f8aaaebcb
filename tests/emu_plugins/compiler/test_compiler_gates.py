"""The truth table of the gates (`reference/tiling_sink_compiler.md` 4.3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError
from emu_core.operators import Placement
from emu_plugins.compiler.gates import SINK_PRODUCTS, GateQuestion, ask_gates

HOST, BOTH = Placement.HOST, Placement.HOST | Placement.AICPU
ALL, LISTED = SINK_PRODUCTS["all"], SINK_PRODUCTS["listed"]


@pytest.mark.parametrize(
    ("offline", "option", "device", "placements", "passed", "gate"),
    [
        (True, False, True, BOTH, False, "G1 option"),
        (False, False, True, BOTH, False, "G1 option"),
        (True, True, False, BOTH, True, ""),
        (True, True, True, BOTH, True, ""),
        (True, True, False, HOST, False, "G3 placement"),
        (False, True, True, BOTH, True, ""),
        (False, True, True, HOST, False, "G3 placement"),
        (False, True, False, BOTH, False, "G2 device"),
        (False, True, False, HOST, False, "G2 device"),
    ],
)
def test_truth_table(lab, offline, option, device, placements, passed, gate):
    """Every row of the table gives its answer, and the first failing gate is the one named."""
    chip = replace(lab.chip, model_task_update=device)
    answer = ask_gates(GateQuestion(option, offline, chip, ALL, placements))
    assert (answer.passed, answer.gate) == (passed, gate)


@pytest.mark.parametrize(
    ("product", "products", "passed"),
    [
        ("A2", ALL, True), ("A3", ALL, True), ("310P", ALL, True), ("950", ALL, True), ("310B", ALL, False),
        ("A2", LISTED, True), ("A3", LISTED, True), ("310P", LISTED, False), ("950", LISTED, False),
    ],
)  # fmt: skip
def test_products(lab, product, products, passed):
    """Policy `sink_products` lets exactly its products through."""
    answer = ask_gates(GateQuestion(True, True, replace(lab.chip, product=product), products, BOTH))
    assert answer.passed is passed


def attributes(compiled):
    """GE attributes of the first operator."""
    return {name for name in compiled.blob.ops[0].attrs if name.startswith("_")}


DEPEND, SINK, FORCE = "_dynamic_tiling_depend_op", "_tiling_sink_op", "_force_unknown_shape"


@pytest.mark.parametrize(
    ("type_", "lens", "sink", "offline", "device", "marks"),
    [
        ("Probe", "lens", None, True, True, {DEPEND, FORCE}),
        ("Probe", "lens", "", True, True, {DEPEND, FORCE}),
        ("Probe", "lens", "0", False, True, {DEPEND, FORCE}),
        ("Probe", "lens", "1", True, False, {DEPEND, SINK}),
        ("HostProbe", "lens", "1", True, True, {DEPEND, FORCE}),
        ("Probe", "lens", "1", False, True, {DEPEND, SINK}),
        ("HostProbe", "lens", "1", False, True, {DEPEND, FORCE}),
        ("Probe", "lens", "1", False, False, {DEPEND, FORCE}),
        ("Probe", "fixed", "1", True, True, set()),
        ("HostProbe", "fixed", None, False, False, set()),
    ],
)
def test_marks_of_the_operator(lab, type_, lens, sink, offline, device, marks):
    """The GE attributes on the operator follow the table from the option to the blob."""
    chip = replace(lab.chip, model_task_update=device)
    compiled = lab.compile(lab.one(type_, lens), chip=chip, sink=sink, offline=offline)
    assert attributes(compiled) == marks
    assert compiled.blob.unknown_shape is (FORCE in marks)
    assert compiled.blob.ops[0].sink is (SINK in marks)


@pytest.mark.parametrize("sink", ["1", "0", None])
def test_host_placement_is_mandatory(lab, sink):
    """A marked operator without host placement ends the compilation, whatever the option."""
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.one("DeviceOnly"), sink=sink)
    assert [p.id for p in caught.value.problems] == ["graph.host-placement"]


def test_unmarked_device_only_operator_is_static(lab):
    """Without a mark nothing is asked, so a constant lets a device-only operator through."""
    assert not lab.compile(lab.one("DeviceOnly", "fixed")).blob.unknown_shape
