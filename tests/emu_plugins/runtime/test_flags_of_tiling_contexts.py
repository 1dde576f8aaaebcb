"""What a tiling context is told besides tensors: the deterministic flags, and the index of an argument dump."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.errors import OptionError
from emu_core.graph import CompileOptions
from emu_core.hookspecs import hookimpl
from emu_core.memory import TaskMemory
from emu_core.plugins import PluginHost
from emu_plugins.tiling.context import MemoryTilingContext
from emu_plugins.tiling.layout import round_up


def context_of(bench):
    """The tiling context of the only operator, read from device memory, and its addresses."""
    addresses = bench.model.details["op0"]["_tiling_context_addr"]
    return MemoryTilingContext(TaskMemory(bench.device.memory), addresses.tiling_context, lambda *_: None), addresses


@pytest.mark.parametrize(("flag", "level"), [("0", "0"), ("1", "0"), ("1", "2")])
def test_deterministic_reaches_the_context(lab, flag, level):
    """`ge.deterministic` and `ge.deterministicLevel` are context inputs on the device."""
    context, _ = context_of(lab(options={"ge.deterministic": flag, "ge.deterministicLevel": level}))
    assert (context.deterministic, context.deterministic_level) == (int(flag), int(level))


def test_deterministic_is_told_at_compile_time(host, probe_graph):
    """The tiling at compile time sees the same flags."""
    spec, seen = host.operators["TilingProbe"], []

    def tiling(context):
        seen.append((context.deterministic, context.deterministic_level))
        spec.tiling(context)

    class Plugin:
        @hookimpl
        def sqemu_operators(self):
            return (replace(spec, type="Told", alias="", tiling=tiling),)

    options = CompileOptions(options={"ge.deterministic": "1", "ge.deterministicLevel": "1"})
    compile_graph(probe_graph(operator="Told"), "ascend310p3", options, PluginHost([Plugin()]))
    assert seen == [(1, 1)]


@pytest.mark.parametrize("key", ["ge.deterministic", "ge.deterministicLevel"])
def test_other_values_are_refused(lab, key):
    """A value out of the set is E10001."""
    with pytest.raises(OptionError) as caught:
        lab(options={key: "yes"})
    assert caught.value.id == "E10001"


def test_index_of_an_argument_dump(lab, probe_graph):
    """With `args_exception_dump` the last 8 bytes of the tiling data are the operator's index, else 0."""
    for policy, wanted in (("off", [0, 0]), ("on", [0, 1])):
        bench = lab(graph=probe_graph(nodes=2), args_exception_dump=policy)
        words = []
        for op in bench.blob.ops:
            addresses = bench.model.details[op.name]["_tiling_context_addr"]
            end = addresses.tiling_data + round_up(op.tiling_capacity, 8)
            words.append(int.from_bytes(bench.device.memory.read(end - 8, 8), "little"))
        assert words == wanted
        assert bench.run(3).ok
