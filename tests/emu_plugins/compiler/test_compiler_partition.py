"""Registration and partition (`reference/tiling_sink_compiler.md` 3 and 4.2 to 4.4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError, PluginError
from emu_core.operators import Placement
from emu_plugins.compiler.gates import GateState
from emu_plugins.compiler.partition import Part
from emu_plugins.compiler.registration import check_declaration, dependency_mask, package_prefix, sink_list


def partition_of(compiled):
    """(unknown set, parts) as the explanation has them."""
    account = compiled.explanation
    unknown = {n["node"] for n in account["nodes"] if n["unknown shape because"]} | set(account["constants moved"])
    return unknown, [Part(p["unknown shape"], tuple(p["nodes"])) for p in account["parts"]]


def test_worked_example_of_the_unknown_set(lab):
    """The forced node and the constant it reads are unknown; the constant-fed and the sink-marked node are not."""
    graph = lab.graph(
        lab.node("add", "HostProbe", ["x", "lens", "own"]),
        lab.node("add2", "HostProbe", ["add_out", "fixed", None]),
        lab.node("add3", "Probe", ["add2_out", "lens", None]),
    )
    graph["constants"].append({"name": "own", "dtype": "int32", "shape": [1], "data": [1]})
    compiled = lab.compile(graph, details=True)
    unknown, parts = partition_of(compiled)
    assert unknown == {"add", "own"}
    assert parts == [Part(unknown=True, nodes=("add",)), Part(unknown=False, nodes=("add2", "add3"))]
    assert compiled.blob.unknown_shape


def test_addresses_that_cannot_be_refreshed(lab):
    """`_is_support_addr_refresh` = false makes a node of unknown shape, true does not."""
    assert lab.compile(lab.graph(lab.node("r", "Relu", ["x"], _is_support_addr_refresh=False))).blob.unknown_shape
    assert not lab.compile(lab.graph(lab.node("r", "Relu", ["x"], _is_support_addr_refresh=True))).blob.unknown_shape


def test_a_device_that_cannot_tell_ends_the_compilation(lab):
    """Online a chip that does not state the capability is an error; offline, or with the option off, nobody asks."""
    chip = replace(lab.chip, sources={"model_task_update": "absent: no source"})
    with pytest.raises(GraphError, match="does not say whether") as caught:
        lab.compile(lab.one(), chip=chip, offline=False)
    assert [p.id for p in caught.value.problems] == ["graph.capability"]
    assert lab.compile(lab.one(), chip=chip, offline=True).blob.ops[0].sink
    assert lab.compile(lab.one(), chip=chip, offline=False, sink="0").blob.unknown_shape


@pytest.mark.parametrize(
    ("offline", "sink", "device", "type_", "states"),
    [
        (True, "0", True, "Probe", "FNNN"),
        (False, "0", True, "Probe", "FNNN"),
        (True, "1", False, "Probe", "PPPP"),
        (True, "1", False, "HostProbe", "PPPF"),
        (False, "1", True, "Probe", "PPPP"),
        (False, "1", True, "HostProbe", "PPPF"),
        (False, "1", False, "Probe", "PPFN"),
    ],
)
def test_every_gate_is_accounted_for(lab, offline, sink, device, type_, states):
    """The explanation has each gate as passed, failed or not asked: option, product, device, placement (4.3)."""
    chip = replace(lab.chip, model_task_update=device)
    compiled = lab.compile(lab.one(type_), chip=chip, offline=offline, sink=sink, details=True)
    letters = {GateState.PASSED: "P", GateState.FAILED: "F", GateState.NOT_ASKED: "N"}
    gates = compiled.explanation["nodes"][0]["gates"]
    assert "".join(letters[GateState(gate["state"])] for gate in gates) == states
    assert all(gate["reason"] for gate in gates)


def test_masks_and_lists(lab):
    """Input k is bit k; the sink list has the types whose tiling exists on the device."""
    assert dependency_mask((5, 6, 15)) == 0x8060
    assert dependency_mask(()) == 0
    specs = [lab.host.operators[name] for name in ("Probe", "HostProbe", "DeviceOnly")]
    assert sink_list(specs) == ("DeviceOnly", "Probe")


@pytest.mark.parametrize(
    ("changes", "id_"),
    [
        ({"depends": (3,)}, "plugin.depends"), ({"depends": (-1,)}, "plugin.depends"),
        ({"package": "ops"}, "plugin.package"), ({"package": "ops_"}, "plugin.package"),
    ],
)  # fmt: skip
def test_wrong_declarations(lab, changes, id_):
    """A declaration that names no input or no library is the plugin's fault."""
    spec = replace(lab.host.operators["Probe"], **changes)
    with pytest.raises(PluginError) as caught:
        check_declaration(spec)
    assert caught.value.id == id_
    assert caught.value.remedy


def test_the_mask_has_64_bits(lab):
    """Input 63 may be read by tiling, input 64 not."""
    spec = lab.host.operators["Probe"]
    wide = replace(spec, inputs=(spec.inputs[0],) * 70)
    check_declaration(replace(wide, depends=(63,)))
    with pytest.raises(PluginError):
        check_declaration(replace(wide, depends=(64,)))


def test_device_only_registration_is_legal_until_it_is_needed(lab):
    """The AI CPU alone may be declared; a node of it that depends on a value is refused (E19999)."""
    spec = lab.host.operators["DeviceOnly"]
    assert spec.placements == Placement.AICPU
    check_declaration(spec)
    with pytest.raises(GraphError, match="E19999"):
        lab.compile(lab.one("DeviceOnly"))


def test_package_prefix():
    """File names have what stands behind the first underscore of the path prefix (6.4)."""
    assert [package_prefix(each) for each in ("ops_attention_v2", "ops", "")] == ["attention_v2", "", ""]
