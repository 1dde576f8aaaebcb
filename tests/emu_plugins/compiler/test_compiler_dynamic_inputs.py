"""Dynamic inputs: lists in graphs, IR index against place in the list, args formats, tiling and run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.device import Device
from emu_core.errors import GraphError, InputError
from emu_core.operators import TensorInfo
from emu_core.plugins import PluginHost
from emu_plugins.importers import GraphBuilder
from emu_plugins.importers.ge_graph import ge_text_to_graph
from emu_plugins.runtime.arguments import Slots, argument_block
from emu_plugins.tiling.host import tile_on_host
from emu_plugins.tiling.instances import IR_COUNTS, ir_counts, ir_of_slots, slots_of
from emu_plugins.tiling.request import TilingRequest
from formats.blob import decode, encode

CHIPS = ("ascend310p3", "ascend910b1", "ascend910_9391")


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


def graph(count=3, *, sink="1", mask=False, constants=(), **attrs):
    """A ListProbe of 12 elements over `count` tensors, some of which are constants with their number as value."""
    g = GraphBuilder("lists", {"ge.tiling_schedule_optimize": sink})
    lens = [
        g.constant(f"n{k}", "int32", [1], [k]) if k in constants else g.input(f"n{k}", "int32", [1])
        for k in range(count)
    ]
    x = g.input("x", "float32", [12])
    g.output(g.node("ListProbe", x, g.input("m", "float32", [12]) if mask else None, lens, name="p", **attrs))
    return g


def expected(cores, picked, count, more=0.0):
    """The output of ListProbe: blocks of 12 elements, 1000 per tensor, 100 per key."""
    blocks = min(max(picked, 1), cores)
    width = -(-12 // blocks)
    return 1000 * count + 100 * (picked % 3) + np.arange(12) // width + more


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sink", ["0", "1"])
@pytest.mark.parametrize("pick", [0, 2])
def test_tiling_reads_one_of_the_list(host, chip, sink, pick):
    """Sunk or on the host, the tiling reads the tensor that `pick` numbers, and the kernel finds all of them."""
    blob = compile_graph(graph(sink=sink, pick=pick).build(), chip, {}, host)
    op = blob.ops[0]
    assert (op.sink, op.host_tiling, op.depends) == (sink == "1", sink == "0", (2, 3, 4))
    assert op.attrs[IR_COUNTS] == (1, 1, 3)
    model = Device(chip, {}, host).load(decode(encode(blob)))
    cores = model.device.chip.core_num_aiv or model.device.chip.core_num
    for values in ((5, 1, 4), (2, 7, 3)):
        arrays = {f"n{k}": np.array([value], np.int32) for k, value in enumerate(values)}
        found = model.execute({"x": np.zeros(12, np.float32), **arrays})
        assert found.ok
        np.testing.assert_array_equal(found.outputs["p_out"], expected(cores, values[pick], 3))


@pytest.mark.parametrize(("policies", "scope"), [({"runtime": "v2"}, {}), ({}, {"_super_kernel_scope": "s"})])
def test_lists_by_runtime_v2_and_in_a_super_kernel(host, policies, scope):
    """Both pass descriptor blocks and tile each operator with its own tensor of the list."""
    g = graph(3, pick=1, **scope)
    names = [{"name": f"n{k}"} for k in range(3)]
    raw = g.build()
    second = {**raw["nodes"][0], "name": "q", "outputs": ["q_out"]}
    second["attrs"] = {**second["attrs"], "pick": 2}
    raw["nodes"].append(second)
    raw["outputs"].append("q_out")
    blob = compile_graph(raw, "ascend310p3", {}, host)
    assert (44 in [task.type for task in blob.tasks]) is bool(scope)
    values = {each["name"]: np.array([value], np.int32) for each, value in zip(names, (5, 1, 4), strict=True)}
    found = Device("ascend310p3", policies, host).load(blob).execute({"x": np.zeros(12, np.float32), **values})
    np.testing.assert_array_equal(found.outputs["p_out"], expected(8, 1, 3))
    np.testing.assert_array_equal(found.outputs["q_out"], expected(8, 4, 3))


def test_addresses_behind_the_descriptors(host):
    """The kernel adds the values that lie where the block of the list says, and the mask that is connected."""
    blob = compile_graph(graph(2, mask=True, add_lens=1).build(), "ascend310p3", {}, host)
    arrays = {"x": np.zeros(12, np.float32), "m": np.full(12, 0.5, np.float32)}
    values = {"n0": np.array([1], np.int32), "n1": np.array([40], np.int32)}
    found = Device("ascend310p3", {}, host).load(blob).execute({**arrays, **values})
    np.testing.assert_array_equal(found.outputs["p_out"], expected(8, 1, 2, 41.5))


def test_kernel_arguments_of_a_list(host):
    """The list is one descriptor entry by IR index; the absent input before it has its own, without star."""
    blob = compile_graph(graph().build(), "ascend310p3", {}, host)
    kernel = next(task for task in blob.tasks if task.type == 26)
    assert kernel.args_format == "{i0*}{i1}{i_desc2}{o0*}{ws0*}{tiling_context.tiling_data}"


@pytest.mark.parametrize(("constants", "sinks"), [((0, 1, 2), False), ((0, 2), True)])
def test_one_unknown_value_of_the_list_is_enough(host, constants, sinks):
    """Constants alone are tiled at compile time; with one other tensor in the list the operator depends on it."""
    assert compile_graph(graph(constants=constants).build(), "ascend310p3", {}, host).ops[0].sink is sinks


def test_constants_reach_the_compile_time_tiling(host):
    """The value of constant number 2 gives key 2 and two blocks."""
    op = compile_graph(graph(constants=(0, 1, 2), pick=2).build(), "ascend310p3", {}, host).ops[0]
    assert (op.tiling_key, op.tiling_block_dim) == (2, 2)


@pytest.mark.parametrize(
    ("inputs", "id_", "where"),
    [
        (["x", None, "n0"], "graph.dynamic-input", "nodes[0].inputs[2] (node p)"),
        (["x", None, []], "graph.dynamic-input", "nodes[0].inputs[2] (node p)"),
        (["x", None, None], "graph.dynamic-input", "nodes[0].inputs[2] (node p)"),
        (["x", ["x"], ["n0"]], "graph.dynamic-input", "nodes[0].inputs[1] (node p)"),
        (["x", None, ["n0"], "n1"], "graph.arity", "nodes[0].inputs (node p)"),
        (["x", None, ["n0", "gone"]], "graph.dangling", "nodes[0].inputs[2][1] (node p)"),
        (["x", None, ["n0", "x"]], "graph.dtype", "nodes[0].inputs[2][1] (node p)"),
        (["x", None, ["n0", None]], "graph.type", "nodes[0].inputs[2][1]"),
        (["x", None, ["n0", "long"]], "graph.shape", "nodes[0].inputs[2][1] (node p)"),
    ],
)
def test_wrong_lists(host, inputs, id_, where):
    """What is wrong with a list is said at its place in it."""
    raw = graph().build()
    raw["nodes"][0]["inputs"] = inputs
    raw["inputs"].append({"name": "long", "dtype": "int32", "shape": [2]})
    with pytest.raises(GraphError) as caught:
        compile_graph(raw, "ascend310p3", {}, host)
    assert (id_, where) in [(p.id, p.where) for p in caught.value.problems]


def test_a_tensor_of_the_list_is_named(host):
    """Messages name tensor k of input `lens` lensk."""
    raw = graph().build()
    raw["inputs"][1]["dtype"] = "float32"
    with pytest.raises(GraphError, match="input lens1 "):
        compile_graph(raw, "ascend310p3", {}, host)


def test_pick_beyond_the_list(host):
    """Without a tensor of that number the tiling refuses at compile time."""
    with pytest.raises(GraphError, match="pick is 3, the list has 3 tensors"):
        compile_graph(graph(pick=3).build(), "ascend310p3", {}, host)


def test_counts_that_the_registration_does_not_have(host):
    """A blob whose counts do not fit the registered operator is refused at load."""
    blob = compile_graph(graph().build(), "ascend310p3", {}, host)
    blob.ops[0].attrs[IR_COUNTS] = (1, 2, 2)
    with pytest.raises(InputError) as caught:
        Device("ascend310p3", {}, host).load(blob)
    assert caught.value.id == "operator.arity"


def test_slots():
    """x, an absent input, a list of two, n: places 0 to 4, of which 2 and 3 are those of IR input 2."""
    counts = (1, 1, 2, 1)
    assert slots_of((3, 2), counts) == (2, 3, 4)
    assert slots_of((3, 1), ()) == (1, 3)
    assert ir_of_slots(counts) == (0, 1, 2, 2, 3)
    assert [ir_counts(attrs, 5) for attrs in ({IR_COUNTS: counts}, {IR_COUNTS: (9,)}, {})] == [
        counts,
        (1,) * 5,
        (1,) * 5,
    ]


def test_tiling_context_of_a_list(host):
    """The context counts tensors per IR input and finds each by number; the absent input shifts none of them."""
    seen = {}

    def tiling(context):
        seen["counts"] = [context.input_count(k) for k in range(4)]
        seen["shapes"] = [context.input_shape(2, k) for k in range(3)]
        seen["values"] = [context.input_data(2, k) for k in range(2)]
        seen["there"] = [context.input_tensor(1), context.input_tensor(2, 1), context.input_tensor(2, 2)]
        seen["desc"] = context.input_desc(2, 1).dtype
        context.set_block_dim(1)

    spec = replace(host.operators["ListProbe"], tiling=tiling)
    inputs = (TensorInfo("float32", (12,)), None, TensorInfo("int32", (1,)), TensorInfo("int32", (3,)))
    request = TilingRequest(
        "ListProbe", "p", inputs, (TensorInfo("float32", (12,)),), data={3: b"abcd"}, counts=(1, 1, 2)
    )
    tile_on_host(spec, request, Device("ascend310p3", {}, host).chip)
    assert seen["counts"] == [1, 0, 2, 0]
    assert [each and each.storage for each in seen["shapes"]] == [(1,), (3,), None]
    assert seen["values"] == [None, b"abcd"]
    assert seen["there"] == [False, True, False]
    assert seen["desc"] == 3


@pytest.mark.parametrize(
    ("text", "slots", "blocks"),
    [
        ("{i0*}{i1}{i2*}{i3*}", [1, 0, 2, 3, 4], []),
        ("{i*}", [1, 0, 2, 3, 4], []),
        ("{i2}{i3}", [0, 4], [(0, [2, 3])]),
        ("{i_instance1*}{i_instance3*}", [2, 4], []),
        ("{i_desc2}", [0], [(0, [40, (1 << 32) + 1, 12, (1 << 32) + 1, 12, 2, 3])]),
    ],
)
def test_slots_of_a_list(text, slots, blocks):
    """By star the addresses stand inline, without it one slot points to their list; an instance is one tensor."""
    op = SimpleNamespace(name="op", type="Op", inputs=(0, None, 1, 2, 3), outputs=(), attrs={IR_COUNTS: (1, 1, 2, 1)})
    spec = SimpleNamespace(inputs=[SimpleNamespace(dynamic=k == 2) for k in range(4)])
    placement = SimpleNamespace(
        blob=SimpleNamespace(ops=[op]), tensors=[1, 2, 3, 4], info=lambda _: TensorInfo("int32", (12,)),
        device=SimpleNamespace(host=SimpleNamespace(operators={"Op": spec})),
    )  # fmt: skip
    found = argument_block(text, Slots(placement, 0))
    assert (found.words, found.blocks) == (slots, blocks)


GE = """graph {{ name: "g"
 op {{ name: "x" type: "Data" output_desc {{ dtype: DT_FLOAT shape {{ dim: 12 }} }} }}
 op {{ name: "a" type: "Data" attr {{ key: "index" value {{ i: 1 }} }}
   output_desc {{ dtype: DT_INT32 shape {{ dim: 1 }} }} }}
 op {{ name: "b" type: "Data" attr {{ key: "index" value {{ i: 2 }} }}
   output_desc {{ dtype: DT_INT32 shape {{ dim: 1 }} }} }}
 op {{ name: "p" type: "ListProbe" input: "x:0" {optional} input: "a:0" input: "b:0" {names}
   output_desc {{ dtype: DT_FLOAT shape {{ dim: 12 }} }} }}
 op {{ name: "out" type: "NetOutput" input: "p:0" }}
}}"""
NAMES = """attr {{ key: "_input_name_key" value {{ list {{ s: "x" s: "lens{0}" s: "lens{1}" }} }} }}
 attr {{ key: "_input_name_value" value {{ list {{ i: 0 i: 1 i: 2 }} }} }}"""


@pytest.mark.parametrize(
    ("optional", "names", "lens"),
    [('input: ""', "", ["a", "b"]), ("", NAMES.format(0, 1), ["a", "b"]), ("", NAMES.format(1, 0), ["b", "a"])],
)
def test_lists_of_ge_text_graphs(host, optional, names, lens):
    """Instances are found by the names lens0, lens1 where the text tells names, in order where it does not."""
    found = ge_text_to_graph(GE.format(optional=optional, names=names), host.operators)
    assert found["nodes"][0]["inputs"] == ["x", None, lens]
