"""The plugin that docs/plugins.md shows: it runs as shown, and it imports only public names."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import emu_core
from emu_core import CompileOptions, Device, PluginHost, compile_graph
from emu_core.trace import Patched
from tools import cli

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "scale_plugin.py"
GRAPH = json.loads((DOCS / "examples" / "scale.json").read_text(encoding="utf-8"))
CHIPS = {"ascend310p3": 8, "ascend910b3": 40}
"""Cores that the tiling of the example sees: the vector cores."""


@pytest.fixture(scope="module")
def plugin():
    """The example as a module, imported from its path."""
    spec = importlib.util.spec_from_file_location("scale_plugin", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ran(plugin, chip, n, **policies):
    """A device with the example, and the result of one execution with the value n."""
    host = PluginHost([plugin])
    device = Device(chip, policies, host)
    model = device.load(compile_graph(GRAPH, chip, plugins=host))
    return model.execute({"x": np.arange(100, dtype="<f4"), "n": np.array([n], "<i4")})


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("n", [1, 3, 7, 1000])
def test_it_computes_and_patches(plugin, chip, n):
    """On both chips y is 2.5 x, and the entry's block dim is patched to n, at most the cores."""
    result = ran(plugin, chip, n)
    assert result.ok
    assert result.hazards == ()
    assert np.array_equal(result.outputs["y"], np.arange(100, dtype="f4") * np.float32(2.5))
    dims = [e.after for e in result.trace if isinstance(e, Patched) and e.field == "block_dim"]
    assert dims == [min(n, CHIPS[chip])]


def test_a_second_execution_is_patched_again(plugin):
    """The loaded model is executed again with another value: another block dim, the right result."""
    host = PluginHost([plugin])
    model = Device("ascend310p3", plugins=host).load(compile_graph(GRAPH, "ascend310p3", plugins=host))
    x = np.ones(100, "<f4")
    for n in (2, 5):
        result = model.execute({"x": x, "n": np.array([n], "<i4")})
        assert [e.after for e in result.trace if isinstance(e, Patched) and e.field == "block_dim"] == [n]
        assert (result.outputs["y"] == 2.5).all()


def test_devices_take_the_module_itself(plugin):
    """`Device(chip, plugins=[module])` and `compile_graph(..., plugins=[module])` need no host."""
    blob = compile_graph(GRAPH, "ascend310p3", plugins=[plugin])
    result = (
        Device("ascend310p3", plugins=[plugin])
        .load(blob)
        .execute({"x": np.zeros(100, "<f4"), "n": np.array([4], "<i4")})
    )
    assert result.ok


def test_a_stale_launch_is_visible(plugin):
    """When the patch comes too late, the blocks that were not launched leave y unwritten."""
    host = PluginHost([plugin])
    options = CompileOptions(policies={"nop_count": "0", "block_dim_placeholder": "compiled"})
    model = Device("ascend910b3", plugins=host).load(compile_graph(GRAPH, "ascend910b3", options, host))
    x = np.ones(100, "<f4")
    first = model.execute({"x": x, "n": np.array([2], "<i4")})
    assert "hazard.stale-prefetch" in {hazard.id for hazard in first.hazards}
    second = model.execute({"x": x, "n": np.array([40], "<i4")})
    assert "hazard.unwritten-output" in {hazard.id for hazard in second.hazards}
    # Launched with the 2 blocks of the run before, each as wide as a 40th of x, rounded up: 2 * 3 elements.
    assert second.outputs["y"][:6].tolist() == [2.5] * 6


def test_it_imports_only_public_names():
    """Every name comes from the standard library or from what `emu_core` exports."""
    for node in ast.walk(ast.parse(EXAMPLE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module in {"__future__", "typing", "collections.abc", "emu_core"}
            if node.module == "emu_core":
                assert {alias.name for alias in node.names} <= set(emu_core.__all__)
        elif isinstance(node, ast.Import):
            assert [alias.name for alias in node.names] == ["struct"]


def test_the_built_in_samples_follow_the_rule():
    """What the sample operators import to run with comes from `emu_core` itself, from beside them, or from formats."""
    import emu_plugins.kernels

    for path in Path(emu_plugins.kernels.__file__).parent.glob("*.py"):
        imported = [
            node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)
        ]
        ours = [node.module for node in imported if node.module.split(".")[0].startswith(("emu_", "formats", "tools"))]
        assert set(ours) <= {"emu_core", "emu_plugins.kernels", "emu_plugins.kernels.depended", "formats.dtypes"}


def test_the_page_shows_the_example():
    """The code in docs/plugins.md is the file, but for the remark to the linter."""
    shown = re.findall(r"```python\n(.*?)```", (DOCS / "plugins.md").read_text(encoding="utf-8"), re.DOTALL)
    source = EXAMPLE.read_text(encoding="utf-8")
    assert re.sub(r"  # noqa: INP001.*", "", source, count=1) in shown


@pytest.mark.parametrize("name", ["Task", "AicpuKernelSpec", "AicpuLaunch", "Chip"])
def test_every_field_of_the_machines_records_is_described(name):
    """The section of each record that engines and chips deal with has all of its fields, and no others but methods."""
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    body = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", body, re.MULTILINE)
    named = [field for cell in cells for field in re.findall(r"`(\w+)`", cell)]
    record = getattr(emu_core, name)
    fields = {f.name for f in dataclasses.fields(record) if not f.name.startswith("_")}
    assert fields <= set(named)
    assert len(named) == len(set(named))
    assert all(hasattr(record, field) for field in set(named) - fields)


def test_the_command_runs_it(tmp_path, capsys):
    """`sqemu op scale --plugin FILE.py --verify` runs and verifies it."""
    case = tmp_path / "case.npz"
    np.savez(case, x=np.arange(10, dtype="f4"), n=np.array([3], "i4"), factor=np.float32(0.5))
    with pytest.raises(SystemExit) as stopped:
        cli.main(["op", "scale", "--plugin", str(EXAMPLE), "--inputs", str(case), "--verify"])
    out = capsys.readouterr().out
    assert not stopped.value.code, out
    assert "block dim 3" in out
