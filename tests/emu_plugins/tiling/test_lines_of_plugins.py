"""Where in a plugin an exception came from, and what a kernel reads of a dynamic input."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from emu_core import KernelLaunch, KernelSpec, PluginError, PluginHost, TensorInfo
from emu_core.engine_guard import at_line, guarded
from emu_core.engines import Handler
from emu_core.kernels import CoreType, Cost
from emu_plugins.engines import ai_core, aicpu
from emu_plugins.tiling.host import tile_on_host
from emu_plugins.tiling.request import TilingRequest

SOURCE = """import json


def broken(*_):
    return deeper("{")


def deeper(text):
    return json.loads(text)


def of_none(context):
    return context.input_data(1)[:4]
"""


@pytest.fixture
def plugin(tmp_path):
    """The functions of a plugin file; `deeper` raises in a library that it calls in line 9."""
    path = tmp_path / "mysum.py"
    path.write_text(SOURCE)
    names = {"__name__": "mysum"}
    exec(compile(SOURCE, str(path), "exec"), names)
    return SimpleNamespace(**{name: names[name] for name in ("broken", "of_none")})


def test_guards_name_the_line_of_the_plugin(plugin):
    """The innermost line of the plugin's own, not that of the library it called."""
    spec = KernelSpec("Broken", CoreType.AIV, (0,), plugin.broken, lambda _: Cost())
    handler = guarded(Handler("mine", "thing", 33, plugin.broken), "plugin mysum")
    calls = (
        partial(ai_core._guarded, spec, partial(spec.run, None)),
        partial(aicpu._guarded, SimpleNamespace(function="Broken"), plugin.broken),
        partial(handler.start, None),
    )
    for call in calls:
        with pytest.raises(PluginError, match=r" at mysum\.py line 9;"):
            call()


def test_an_error_of_our_own_code_has_no_line():
    """There is no plugin to name."""
    assert at_line(ValueError("never raised")) == ""


def test_tiling_that_uses_a_value_of_compile_time_is_told_so(plugin):
    """The line of the function, and that input_data gives None there."""
    host = PluginHost()
    spec = replace(host.operators["TilingProbe"], tiling=plugin.of_none)
    inputs = (TensorInfo("float32", (4,)), TensorInfo("int32", (1,)), None)
    request = TilingRequest(spec.type, "op", inputs[: len(spec.inputs)], inputs[:1])
    with pytest.raises(PluginError, match=r"at mysum\.py line 13; values are not known at compile time") as caught:
        tile_on_host(spec, request, host.chip("ascend310p3"))
    assert caught.value.id == "plugin.tiling-raised"


def test_a_launch_lists_the_tensors_of_a_dynamic_input():
    """Two tensors, of shapes [3] and [2, 5]; the high half of a word of dims does not count."""
    block, words = 64, (48, 1 | 7 << 32, 3, 2, 2, 5, 0x1000, 0x2000)
    memory = {block + 8 * k: word for k, word in enumerate(words)} | {0: block}
    launch = KernelLaunch(SimpleNamespace(u64=memory.__getitem__), 0, 1, 0, None, {})
    assert launch.tensors(0) == ((0x1000, (3,)), (0x2000, (2, 5)))
