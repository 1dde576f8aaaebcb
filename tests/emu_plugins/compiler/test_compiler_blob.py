"""What the compiler puts in the blob besides tasks, and what importing the plugin costs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from emu_core.operators import AttrSpec
from emu_plugins.compiler import POLICIES
from formats.blob.model import BlobKernel, BlobTensor, TensorRole


def test_tensors(lab):
    """Tensors: inputs, constants in use, intermediates in execution order, with sizes and indices."""
    graph = lab.graph(
        lab.node("b", "Relu", ["a_out"]), lab.node("a", "Probe", ["x", "fixed", None]), outputs=["b_out", "a_out", "x"]
    )
    blob = lab.compile(graph).blob
    assert blob.tensors == (
        BlobTensor("x", 1, (4, 8), TensorRole.INPUT, 64),
        BlobTensor("lens", 3, (1,), TensorRole.INPUT, 4),
        BlobTensor("fixed", 3, (1,), TensorRole.CONSTANT, 4, b"\xc0\0\0\0"),
        BlobTensor("a_out", 1, (4, 8), TensorRole.INTERMEDIATE, 64),
        BlobTensor("b_out", 1, (4, 8), TensorRole.INTERMEDIATE, 64),
    )
    assert (blob.inputs, blob.outputs) == ((0, 1), (4, 3, 0))
    assert [(op.name, op.inputs, op.outputs) for op in blob.ops] == [("a", (0, 2, None), (3,)), ("b", (3,), (4,))]


def test_operator_fields(lab):
    """An operator keeps type, attributes in IR order with defaults, depends, compile info and capacity."""
    op = lab.compile(lab.one(sizes=[5], _op_exec_never_timeout=False)).blob.ops[0]
    assert (op.type, op.depends, op.compile_info, op.tiling_capacity) == ("Probe", (1,), "{}", 16384)
    assert list(op.attrs.items()) == [
        ("scale", 1.0), ("sizes", (5,)), ("_op_exec_never_timeout", False),
        ("_dynamic_tiling_depend_op", True), ("_tiling_sink_op", True),
    ]  # fmt: skip


def test_integers_become_floats(lab):
    """An integer given for a float attribute is a float in the blob."""
    value = lab.compile(lab.one(scale=2)).blob.ops[0].attrs["scale"]
    assert (value, type(value)) == (2.0, float)


def test_attributes_of_every_kind(lab):
    """Each kind of attribute reaches the blob with its type."""
    kinds = {"a": ("bool", True), "b": ("str", "t"), "c": ("list_float", (1.0, 2.5)), "d": ("list_int", ())}
    lab.host.operators["Relu"] = replace(
        lab.host.operators["Relu"], attrs=tuple(AttrSpec(name, kind, None) for name, (kind, _) in kinds.items())
    )
    given = {"a": True, "b": "t", "c": [1, 2.5], "d": []}
    assert lab.compile(lab.graph(lab.node("r", "Relu", ["x"], **given))).blob.ops[0].attrs == {
        name: value for name, (_, value) in kinds.items()
    }


def test_kernels_are_listed_once(lab):
    """Operators that share a kernel share its entry, with its tiling keys."""
    blob = lab.compile(lab.graph(lab.node("a", "Relu", ["x"]), lab.node("b", "Relu", ["a_out"]))).blob
    assert blob.kernels == (BlobKernel("Kernel", 2, (3, 4)),)
    assert [task.kernel for task in blob.tasks] == [0, 0, None]


def test_policies_in_force(lab):
    """Every policy of scope compile is recorded with its value, given or default; no other scope is."""
    blob = lab.compile(lab.one(), policies={"nop_count": "3", "prefetch_depth": "4"}).blob
    assert blob.policies == {
        "block_dim_placeholder": "seed", "end_join": "needed", "graph_partition": "parts",
        "never_timeout_with_sink": "refuse", "nop_count": "3", "probe.depend": "lens", "sink_kernel_task": "seed",
        "sink_products": "all", "sink_run_order": "patch_first", "stream_split": "on",
        "super_kernel_scope_check": "off",
    }  # fmt: skip


def test_header(lab):
    """Chip and graph name are recorded."""
    blob = lab.compile(lab.one(), chip=lab.p310).blob
    assert (blob.chip, blob.name, blob.unknown_shape) == ("ascend310p3", "g", False)


def test_same_graph_same_blob(lab):
    """Compiling is a function of its arguments."""
    assert lab.compile(lab.one()) == lab.compile(lab.one())


def test_policies_have_a_summary():
    """Each policy says what it decides, and its default is one of its values."""
    assert all(policy.summary and policy.default in policy.values for policy in POLICIES)


def test_import_is_light():
    """Importing the plugin brings neither numpy nor the passes along."""
    code = (
        "import sys, emu_plugins.compiler as c; c.sqemu_policies();"
        "print([m for m in ('numpy', 'emu_plugins.compiler.pipeline') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
