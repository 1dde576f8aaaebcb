"""Hidden inputs: entries `{hi.KINDn*}` of an args format, supplied by the operator's registration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.hookspecs import hookimpl
from emu_core.kernels import CoreType, Cost, KernelSpec
from emu_core.operators import InputSpec, OperatorSpec, OutputSpec, TensorInfo
from emu_core.plugins import PluginHost

GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "g", "inputs": [{"name": "x", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "op", "type": "Hidden", "inputs": ["x"], "outputs": ["y"]}], "outputs": ["y"],
}  # fmt: skip


def _tiling(context):
    context.set_tiling_key(0)
    context.set_block_dim(1)


def _run(launch):
    """Y = the first word of each of the two hidden inputs, and the two halves of the word behind."""
    memory = launch.memory
    first, second = (memory.array(launch.arg(k), "<i4", (1,))[0] for k in (2, 3))
    with memory.out_array(launch.arg(1), "<i4", (4,)) as y:
        y[:] = [first, second, launch.arg(4) & 0xFFFFFFFF, launch.arg(4) >> 32]


HIDDEN = OperatorSpec(
    "Hidden", (InputSpec("x"),), (OutputSpec("y"),), lambda _i, _a: (TensorInfo("int32", (4,)),), _tiling, "Hidden",
    hidden_inputs=lambda kind: (b"\x07\0\0\0", b"\x09\0\0\0") if kind == "hcom" else (),
)  # fmt: skip


class Plugin:
    """One operator with two hidden inputs of kind hcom."""

    @hookimpl
    def sqemu_operators(self):
        """The operator."""
        return (HIDDEN,)

    @hookimpl
    def sqemu_kernels(self):
        """Its kernel."""
        return (KernelSpec("Hidden", CoreType.AIV, (0,), _run, lambda _: Cost()),)


def loaded(more):
    """The model with `more` behind the arguments of its kernel."""
    host = PluginHost([Plugin()])
    blob = compile_graph(GRAPH, "ascend310p3", {}, host)
    kernel, end = blob.tasks
    text = kernel.args_format.replace("{t}", more)
    return Device("ascend310p3", {}, host).load(replace(blob, tasks=(replace(kernel, args_format=text), end)))


def test_a_kernel_reads_them():
    """Each entry is the address of what the registration supplies; two 32-bit slots share the word behind."""
    result = loaded("{hi.hcom0*}{hi.hcom1*}{#.32b5}{#.32b6}").execute({"x": np.zeros(1, np.int32)})
    assert result.outputs["y"].tolist() == [7, 9, 5, 6]


@pytest.mark.parametrize("entry", ["{hi.hcom2*}", "{hi.tilefwk0*}", "{hi.hcclsk0*}"])
def test_what_is_not_supplied(entry):
    """A number or kind that the registration does not supply is refused with the operator's name."""
    with pytest.raises(InputError) as caught:
        loaded(entry)
    assert (caught.value.id, caught.value.where) == ("blob.args-format", "operator op")
