"""What the compiler says: inputs by IR name and tensor, a remedy with every refusal that has one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import emu_plugins.cgdr
import emu_plugins.chips
import emu_plugins.compiler
import emu_plugins.tiling
from emu_core.errors import GraphError
from emu_core.graph import CompileOptions
from emu_core.operators import Placement, ShapeError
from emu_core.plugins import PluginHost
from emu_core.tiling import TilingError
from emu_plugins.compiler.value_watch import ValueWatch
from emu_plugins.tiling.host import tile_on_host

SAMPLES = Path(__file__).parents[2] / "data" / "graphs"


def renamed(lab, type_="Probe"):
    """The one-operator graph with tensors p and m in place of x and lens."""
    graph = lab.one(type_, "m")
    graph["inputs"][0]["name"], graph["inputs"][1]["name"] = "p", "m"
    graph["nodes"][0]["inputs"] = ["p", "m", None]
    return graph


def only_problem(lab, graph, **options):
    """The one problem of `graph`."""
    with pytest.raises(GraphError) as caught:
        lab.compile(graph, **options)
    (found,) = caught.value.problems
    return found


def test_a_decision_names_input_and_tensor(lab):
    """The mark names the IR input, and the tensor where that has another name."""
    texts = [text for _, by, text in lab.compile(renamed(lab)).decisions if by == "marks"]
    assert texts[0].endswith("tiling reads the value of lens (tensor m)")
    texts = [text for _, by, text in lab.compile(lab.one()).decisions if by == "marks"]
    assert texts[0].endswith("tiling reads the value of lens")


def test_an_absent_depended_input_is_called_absent(lab):
    """A depended input that is not connected is named as absent."""
    lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], depends=(1, 2))
    texts = [text for _, by, text in lab.compile(lab.one()).decisions if by == "marks"]
    assert texts[0].endswith("lens, mask (absent)")


def test_shape_and_type_problems_name_input_and_tensor(lab):
    """What an operator's own inference refuses, and a type it does not take, name IR input and tensor."""
    graph = renamed(lab)
    graph["inputs"][0]["shape"] = [1, 1, 1, 1]
    assert only_problem(lab, graph).what == "input x (tensor p): rank 4"
    graph = renamed(lab)
    graph["inputs"][0]["dtype"] = "int8"
    assert only_problem(lab, graph).what == "input x (tensor p): Probe does not take int8"


def test_a_shape_problem_of_no_single_input(lab):
    """An inference that blames no input, or one that does not exist, is reported at the inputs in its own words."""

    def refuses(*_):
        raise ShapeError("the inputs do not go together", input="nobody", remedy="make them alike")

    lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], infer=refuses)
    found = only_problem(lab, lab.one())
    assert (found.where, found.what) == ("nodes[0].inputs (node op)", "the inputs do not go together")


@pytest.mark.parametrize(
    ("sink", "offline", "chip", "placements", "policies", "remedy"),
    [
        (None, None, {}, Placement.HOST | Placement.AICPU, {}, "give --tiling_schedule_optimize 1, or put"),
        ("1", None, {"product": "310B"}, Placement.HOST | Placement.AICPU, {}, "sink_products"),
        ("1", False, {"model_task_update": False}, Placement.HOST | Placement.AICPU, {}, "compile --offline"),
        ("1", None, {}, Placement.HOST, {}, "add Placement.AICPU to the placements"),
    ],
)
def test_a_tiling_that_stays_on_the_host_says_how_to_sink_it(lab, sink, offline, chip, placements, policies, remedy):
    """The warning of each gate ends with what opens it."""
    lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], placements=placements)
    compiled = lab.compile(lab.one(), sink=sink, offline=offline, chip=replace(lab.chip, **chip), policies=policies)
    (line,) = [line for line in compiled.warnings if "the tiling stays on the host" in line]
    assert remedy in line


@pytest.mark.parametrize("sink", ["0", "1"])
def test_a_bad_compile_time_key_is_refused_wherever_the_tiling_runs(lab, sink):
    """A key that the kernel lacks is a mistake of the tiling function, for sinking and host-tiled nodes as well."""
    lab.host.operators["WrongKey"] = replace(lab.host.operators["WrongKey"], depends=(1,))
    found = only_problem(lab, lab.one("WrongKey"), sink=sink)
    assert found.id == "graph.tiling-key"
    assert "the tiling function of WrongKey is wrong" in found.what
    assert found.remedy.endswith("keys: 3, 4")


def test_a_shape_that_fits_nowhere_is_not_blamed_on_a_value():
    """A head of 1024 columns overflows UB; the refusal does not speak of values, which this tiling never reads."""
    parts = (emu_plugins.chips, emu_plugins.cgdr, emu_plugins.tiling, emu_plugins.compiler)
    host = PluginHost(parts, entry_points=False)
    graph = json.loads((SAMPLES / "sink.json").read_text(encoding="utf-8"))
    for tensor in graph["inputs"]:
        if tensor["name"] in {"query", "key"}:
            tensor["shape"][2] = 1024
        elif tensor["name"] == "initial_state":
            tensor["shape"][3] = 1024
    with pytest.raises(GraphError) as caught:
        host.first(
            "sqemu_compile", graph=graph, chip=host.chip("ascend310p3"), options=CompileOptions(offline=True), host=host
        )
    (found,) = caught.value.problems
    assert "no V tile fits into UB" in found.what
    assert (found.id, found.remedy) == ("graph.tiling", "")


def insists_on_a_value(context):
    """A tiling function with the classic mistake."""
    if context.input_data(1) is None:
        raise TilingError("lens has no value")


def test_a_tiling_that_insists_on_a_value_is_told_so(lab):
    """A tiling that fails after asking for a value it cannot have names the input and what to answer."""
    lab.tiler = tile_on_host
    lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], tiling=insists_on_a_value)
    found = only_problem(lab, renamed(lab))
    assert found.what == "tiling failed: lens has no value"
    assert "lens (tensor m)" in found.remedy
    assert "largest workspace" in found.remedy


def test_the_watch_passes_everything_on():
    """The watched context answers as the real one, and only values asked for in vain are noted, once each."""

    class Context:
        op_type = "T"

        def input_data(self, index):
            return b"\1" if index == 0 else None

    seen = []

    def tiling(context):
        seen.extend([context.op_type, context.input_data(0), context.input_data(3), context.input_data(3)])

    watch = ValueWatch(tiling)
    watch(Context())
    assert seen == ["T", b"\1", None, None]
    assert watch.missing == [3]
