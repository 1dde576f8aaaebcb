"""Unknown dimensions: compiled as unknown shape, tiled on the host for the shapes of each execution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import GraphError, InputError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_plugins.importers import GraphBuilder
from formats.blob import decode, encode


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


def builder(shape=(-1,), second="TilingProbe", count=(1,)):
    """Two probes in a row over x of `shape`, each reading n; the output is what the second one gives."""
    g = GraphBuilder("unknown", {"ge.tiling_schedule_optimize": "1"})
    x, n = g.input("x", "float32", shape), g.input("n", "int32", count)
    first = g.node("TilingProbe", x, n, name="first")
    g.output(g.node(second, first, n, name="second", add_x=1))
    return g


def arrays(elements, n):
    """Inputs of the graph."""
    return {"x": np.zeros(elements, np.float32), "n": np.array([n], np.int32)}


def slices(elements, n, cores=8):
    """100 * key + block of a probe on `cores` cores, by hand: rounded up, so many elements a block."""
    width = -(-elements // min(max(n, 1), cores))
    return 100.0 * (n % 3) + np.arange(elements) // width


@pytest.mark.parametrize("shape", [[-1], [-2]])
def test_compiled_as_unknown_shape(host, shape):
    """Every node is tiled on the host, its workspaces and tiling data are the launch's, and nothing has a size yet."""
    blob = compile_graph(builder(shape).build(), "ascend310p3", {}, host)
    assert blob.unknown_shape
    assert [(op.sink, op.host_tiling, op.workspaces) for op in blob.ops] == [(False, True, ())] * 2
    assert [task.args_format for task in blob.tasks[:2]] == ["{i0*}{i1*}{o0*}{ws*}{t}"] * 2
    sizes = {tensor.name: (tensor.shape, tensor.size) for tensor in blob.tensors}
    assert sizes == {"x": (tuple(shape), 0), "n": ((1,), 4), "first_out": ((-1,), 0), "second_out": ((-1,), 0)}
    assert decode(encode(blob)) == blob


@pytest.mark.parametrize("chip", ["ascend310p3", "ascend910b1"])
def test_each_execution_is_tiled_for_its_shapes(host, chip):
    """Growing, shrinking and equal shapes on one loaded model each give what a fresh tiling gives."""
    model = Device(chip, {}, host).load(compile_graph(builder().build(), chip, {}, host))
    cores = 8 if chip == "ascend310p3" else 48
    for elements, n in ((16, 4), (1000, 7), (1000, 2), (3, 5), (16, 4)):
        found = model.execute(arrays(elements, n))
        assert found.ok
        assert not found.hazards
        np.testing.assert_array_equal(found.outputs["second_out"], 2 * slices(elements, n, cores))


def test_memory_does_not_grow_with_executions(host):
    """Tensors of a shape that is over are freed: alternating shapes need as much memory as the larger one."""
    device = Device("ascend310p3", {}, host)
    model = device.load(compile_graph(builder().build(), "ascend310p3", {}, host))

    def live():
        return sum("tensor" in each.label for each in device.memory.allocations())

    model.execute(arrays(16, 4))
    before = live()
    for elements in (5, 900, 16):
        model.execute(arrays(elements, 4))
    assert live() == before


def test_the_reason_is_told(host):
    """The report says at the node which tensor keeps it from sinking, and that no gate was asked."""
    found = compile_with_report(builder().build(), "ascend310p3", CompileOptions(), host)
    told = {(node, stage): text for node, stage, text in found.decisions}
    assert told["first", "gates"] == "not asked: input x has the shape [-1], so it cannot sink"
    assert told["first", "partition"] == "unknown shape: input x has the shape [-1]"


def test_static_neighbours_still_sink(host):
    """A part of the graph that no unknown dimension reaches is a static model inside, and its tiling sinks."""
    g = builder()
    g.output(g.node("TilingProbe", g.input("s", "float32", [8]), g.input("k", "int32", [1]), name="static"))
    model = Device("ascend310p3", {}, host).load(compile_graph(g.build(), "ascend310p3", {}, host))
    for elements, n in ((4, 2), (40, 5)):
        more = {"s": np.zeros(8, np.float32), "k": np.array([n], np.int32)}
        found = model.execute({**arrays(elements, n), **more})
        np.testing.assert_array_equal(found.outputs["static_out"], slices(8, n))
        np.testing.assert_array_equal(found.outputs["second_out"], 2 * slices(elements, n))


def test_runtime_v2(host):
    """Runtime V2 infers and tiles for the shapes of each execution as well."""
    model = Device("ascend310p3", {"runtime": "v2"}, host).load(
        compile_graph(builder().build(), "ascend310p3", {}, host)
    )
    for elements, n in ((16, 4), (1000, 7), (3, 5)):
        found = model.execute(arrays(elements, n))
        np.testing.assert_array_equal(found.outputs["second_out"], 2 * slices(elements, n))


def test_blobs_that_contradict_themselves(host):
    """Unknown shapes in a graph that is loaded once, and a tensor that nobody makes, are errors of the blob."""
    blob = compile_graph(builder().build(), "ascend310p3", {}, host)
    with pytest.raises(InputError, match="loaded once") as caught:
        Device("ascend310p3", {}, host).load(replace(blob, unknown_shape=False))
    assert caught.value.id == "blob.tensor"
    orphan = replace(blob.tensors[2], name="orphan")
    model = Device("ascend310p3", {}, host).load(replace(blob, tensors=(*blob.tensors, orphan)))
    with pytest.raises(InputError, match="nothing says") as caught:
        model.execute(arrays(4, 1))
    assert (caught.value.id, caught.value.where) == ("blob.tensor", "tensor orphan")


def test_static_graphs_are_untouched(host):
    """Without an unknown dimension the same graph is static and sinks."""
    blob = compile_graph(builder([64]).build(), "ascend310p3", {}, host)
    assert (blob.unknown_shape, [op.sink for op in blob.ops]) == (False, [True, True])


@pytest.mark.parametrize(
    ("given", "id_", "words"),
    [
        (np.zeros((2, 2), np.float32), "input.shape", "[2, 2], the graph says [-1]"),
        (np.zeros(0, np.float32), "run.shape", "shape [0]"),
        (np.zeros(4, np.float64), "input.dtype", "float64"),
    ],
)
def test_wrong_shapes_at_run_time(host, given, id_, words):
    """A shape that does not fit the declaration, or that an operator refuses, stops before anything runs."""
    model = Device("ascend310p3", {}, host).load(compile_graph(builder().build(), "ascend310p3", {}, host))
    with pytest.raises(InputError) as caught:
        model.execute({**arrays(4, 1), "x": given})
    assert caught.value.id == id_
    assert words in str(caught.value)
    assert model.executions == 0
    assert model.execute(arrays(4, 1)).ok


def test_shapes_that_contradict_each_other(host):
    """Two inputs that must agree and do not are refused by the operator that reads both, by its name."""
    g = GraphBuilder("two")
    x, y = g.input("x", "float32", [-1]), g.input("y", "float32", [-1])
    g.output(g.node("AddCustomTilingSink", x, y, g.input("n", "int32", [1]), name="add"))
    model = Device("ascend310p3", {}, host).load(compile_graph(g.build(), "ascend310p3", {}, host))
    given = {"x": np.zeros(4, np.float32), "y": np.zeros(5, np.float32), "n": np.array([1], np.int32)}
    with pytest.raises(InputError) as caught:
        model.execute(given)
    assert (caught.value.id, caught.value.where) == ("run.shape", "operator add")
    assert model.execute({**given, "y": np.ones(4, np.float32)}).ok


def test_a_tensor_larger_than_the_memory(host):
    """What the shapes of a run need is compared with the chip's memory before it is allocated."""
    g = GraphBuilder("large")
    x = g.input("x", "float32", [-1])
    g.output(g.node("TilingProbe", x, g.input("n", "int32", [1]), name="p"))
    model = Device("ascend310p3", {}, host).load(compile_graph(g.build(), "ascend310p3", {}, host))
    reshape = model.reshape
    with pytest.raises(InputError, match="bytes; ascend310p3 has"):
        reshape((((1 << 32) - 1,), (1,)))


@pytest.mark.parametrize("returned", [False, True])
@pytest.mark.parametrize("shape", [[-1], [-2]])
def test_an_input_that_no_operator_reads_may_be_of_any_shape(host, shape, returned):
    """Beside a sinking probe, each execution of one model takes u in another size, and gives it back if asked."""
    g = GraphBuilder("unread", {"ge.tiling_schedule_optimize": "1"})
    u = g.input("u", "float32", shape)
    g.output(g.node("TilingProbe", g.input("x", "float32", [40]), g.input("n", "int32", [1]), name="p"))
    if returned:
        g.output(u)
    model = Device("ascend310p3", {}, host).load(compile_graph(g.build(), "ascend310p3", {}, host))
    for size in (3, 7, 7, 0, 2):
        given = np.arange(size, dtype=np.float32)
        result = model.execute({**arrays(40, 5), "u": given})
        assert result.ok
        assert result.outputs["p_out"].tolist() == slices(40, 5).tolist()
        assert not returned or result.outputs["u"].tolist() == given.tolist()


def test_unknown_values_and_shapes_of_the_probe(host):
    """The count of n may be unknown as well; a run with two values is refused by the probe."""
    model = Device("ascend310p3", {}, host).load(compile_graph(builder(count=[-1]).build(), "ascend310p3", {}, host))
    assert model.execute(arrays(9, 2)).ok
    with pytest.raises(InputError) as caught:
        model.execute({**arrays(9, 2), "n": np.zeros(2, np.int32)})
    assert caught.value.id == "run.shape"


def test_only_on_the_device_is_not_enough(lab):
    """An operator of unknown shape must be able to tile on the host."""
    raw = lab.one("DeviceOnly")
    raw["inputs"][0]["shape"] = [-1, 8]
    with pytest.raises(GraphError) as caught:
        lab.compile(raw)
    assert [p.id for p in caught.value.problems] == ["graph.host-placement"]


def test_nothing_is_tiled_at_compile_time(lab):
    """The tiling function is not asked about a shape that is not known."""
    raw = lab.one()
    raw["inputs"][0]["shape"] = [-1, 8]
    blob = lab.compile(raw).blob
    assert (lab.tiler.asked, blob.ops[0].tiling_data, blob.ops[0].attrs["_dynamic_tiling_depend_op"]) == ([], b"", True)


def test_constant_values_of_unknown_shapes(lab):
    """With an unknown shape even a constant value marks the operator as dependent (4.1)."""
    raw = lab.one(lens="fixed")
    raw["inputs"][0]["shape"] = [-1, 8]
    assert lab.compile(raw).blob.ops[0].attrs["_dynamic_tiling_depend_op"]
