"""The public API is what `emu_core` exports, and it works only with our own `formats`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import emu_core

NAMES = """
    Acts AicpuKernelSpec AicpuLaunch Arrays AttrSpec AttrValue Case CheckSpec Chip Clears CommandSpec
    CompileOptions Compiled CorePool CoreType Cost Deadlock Demand Device DeviceFault DumpEntry DumpView EVENTS
    Effect EmulatorBug Fault Finding Fixed GraphError Handler Hazard Holds ImporterSpec InputError InputSpec
    JournalEntry KernelLaunch KernelSpec Latencies Launch Level Limit LimitError Mix MixType Model Observed
    ObserverSpec OperatorSpec OptionError Origin Outcome OutputSpec PassInput PassSpec PipeUse Placement
    PlatformInfo PluginDeprecationWarning PluginError PluginHost PolicySpec Port Problem Refusal Result Run
    Scope Sets ShapeError Signal SqemuError StorageShape Stream Task TaskBlob TensorDesc TensorInfo
    TilingContext TilingError TilingFunction Trace Wait Waits Writer compile_graph compile_with_report drain
    hookimpl
"""


def test_public_names_are_pinned():
    """A name that goes, or comes, is a decision."""
    assert sorted(emu_core.__all__) == sorted(NAMES.split())
    assert dir(emu_core) == sorted(NAMES.split())


@pytest.mark.parametrize("name", NAMES.split())
def test_public_names_resolve(name):
    """Each name is there, and the same object every time."""
    assert getattr(emu_core, name) is getattr(emu_core, name)


def test_other_names_are_attribute_errors():
    """As with any module."""
    with pytest.raises(AttributeError, match="module 'emu_core' has no attribute 'nothing'"):
        _ = emu_core.nothing


def _python(code, *path):
    root = Path(emu_core.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, root]))}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False, cwd=path[0]
    )


def test_a_foreign_formats_package_is_refused_by_its_file(tmp_path):
    """`formats` is a common name; the error says which file was found and what to do."""
    package = tmp_path / "formats"
    package.mkdir()
    (package / "__init__.py").write_text("")
    found = _python("import emu_core", tmp_path)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: emu_core needs the package 'formats' of sqemu")
    assert str(package / "__init__.py") in last
    assert "remove that file from the Python path" in last


def test_importing_the_package_is_cheap(tmp_path):
    """Neither numpy nor structlog nor pluggy is loaded before a name that needs it is used."""
    found = _python("import emu_core, sys; print(*{'numpy', 'structlog', 'pluggy'} & set(sys.modules))", tmp_path)
    assert (found.stdout.strip(), found.stderr) == ("", "")


def test_options_may_be_a_plain_mapping():
    """GE options given as a mapping are those of the graph's compilation."""
    graph = {
        "format": "sqemu-graph",
        "version": 1,
        "name": "p",
        "inputs": [{"name": "x", "dtype": "float32", "shape": [4]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }
    blob = emu_core.compile_graph(graph, "ascend310p3", {"ge.tiling_schedule_optimize": "1"})
    assert isinstance(blob, emu_core.TaskBlob)
    assert blob.ops[0].sink
    assert emu_core.compile_graph(graph, "ascend310p3").unknown_shape
