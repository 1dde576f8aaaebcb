"""Every hook of `emu_core.hookspecs`, whatever hooks there are, is documented and exercised, with all its arguments."""

from __future__ import annotations

import functools
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

import emu_core
from emu_core import Device, PluginHost, compile_graph, hookimpl, hookspecs
from emu_core.checks import run_checks
from emu_core.hook_calls import ANSWERS, RECORDS
from emu_plugins.importers import read_graph
from tools.given_plugins import load
from tools.importer_of import importer_of

ROOT = Path(__file__).parents[2]
EDU = Path(__file__).parent / "edu"
HOOKS = {
    name: function
    for name, function in inspect.getmembers(hookspecs, inspect.isfunction)
    if function.__module__ == hookspecs.__name__
}
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


def arguments_of(hook):
    """Names of the arguments of a hook."""
    return tuple(inspect.signature(HOOKS[hook]).parameters)


def section(hook):
    """What docs/plugins.md says of a hook: label and text of each row."""
    _, found, rest = PAGE.partition(f"\n### `{hook}`\n")
    assert found, f"docs/plugins.md has no section of {hook}"
    return dict(re.findall(r"^\| (\S[^|]*?) \| (.+) \|$", rest.partition("\n##")[0], re.MULTILINE))


@pytest.fixture(scope="module")
def edu():
    """The edu package, loaded as `--plugin FOLDER` loads it."""
    return load(str(EDU / "src" / "sqemu_edu"))


class Monitor:
    """A plugin with the hooks of another one; `calls` has the arguments of each call by hook."""

    __name__ = "monitored"

    def __init__(self, plugin):
        self.calls = {hook: [] for hook in HOOKS}
        for hook in HOOKS:
            setattr(self, hook, self._watched(hook, getattr(plugin, hook)))

    def _watched(self, hook, function):
        @hookimpl
        @functools.wraps(function)
        def call(*positional, **named):
            assert not positional
            self.calls[hook].append(named)
            return function(**named)

        return call


def test_there_are_hooks():
    """The hooks are those that the host knows how to check, and nothing in the module is forgotten."""
    assert set(HOOKS) == {*RECORDS, *ANSWERS, "sqemu_explanations"}
    assert all(name.startswith("sqemu_") for name in HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_documented(hook):
    """One line in the code; the contract, with a row per argument, on the page."""
    line = inspect.getdoc(HOOKS[hook])
    assert "\n" not in line
    assert line.endswith(".")
    rows = section(hook)
    assert {f"`{name}`" for name in arguments_of(hook)} == {label for label in rows if label.startswith("`")}
    assert {"gives", "called"} <= set(rows)
    assert f"`{hook}({', '.join(arguments_of(hook))})`" in PAGE


@pytest.mark.parametrize("hook", HOOKS)
def test_the_package_has_the_hook_with_all_arguments(edu, hook):
    """Each argument is taken, by keyword only."""
    taken = inspect.signature(getattr(edu, hook)).parameters
    assert tuple(taken) == arguments_of(hook)
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in taken.values())


def test_one_run_calls_every_hook_by_name(edu):
    """Compiling, loading, running, checking and explaining call each hook, with exactly its arguments by name."""
    monitor = Monitor(edu)
    host = PluginHost([monitor], without=["edu"] if _installed() else ())
    graph = json.loads((EDU / "stripe.json").read_text(encoding="utf-8"))
    assert read_graph(b"edu-stripe,a,4", host.operators, foreign=functools.partial(importer_of, host))["name"] == "a"
    blob = compile_graph(graph, "edu-one", plugins=host)
    device = Device("edu-one", plugins=host)
    model = device.load(blob)
    result = model.execute({"x": np.zeros(10, "<f4"), "n": np.array([3], "<i4")})
    assert result.ok
    assert not [f for _, found in run_checks(blob, device.chip, device.policies, host) for f in found]
    assert "edu.not-patched" in host.explanations
    assert "edu-short" in host.dump_views
    assert "edu-kinds" in host.commands
    assert {hook for hook, calls in monitor.calls.items() if not calls} == set()
    for hook, calls in monitor.calls.items():
        assert all(tuple(sorted(named)) == tuple(sorted(arguments_of(hook))) for named in calls)
    # Records are asked for once, whoever asks, and engines once per device; one graph was compiled, one blob loaded.
    engines = [named["device"] for named in monitor.calls.pop("sqemu_engines")]
    assert len(engines) == len({id(each) for each in engines})
    assert engines[0] is device
    assert {hook: len(calls) for hook, calls in monitor.calls.items()} == dict.fromkeys(monitor.calls, 1)
    assert monitor.calls["sqemu_aicpu_kernels"][0]["host"] is host
    assert monitor.calls["sqemu_load"][0] == {"device": device, "blob": blob}
    compiled = monitor.calls["sqemu_compile"][0]
    assert (compiled["graph"], compiled["chip"], compiled["host"]) == (graph, device.chip, host)


def _installed():
    return "edu" in {p.name for p in PluginHost().plugins}


def test_what_the_core_reads_of_a_family_is_on_the_page():
    """Each layout that `emu_core` asks the chip's family for has a row in the table for new families."""
    sources = (path.read_text(encoding="utf-8") for path in Path(emu_core.__file__).parent.glob("*.py"))
    asked = {name for text in sources for name in re.findall(r"""(?<!runtime_)\blayout\("(\w+)"\)""", text)}
    body = PAGE.partition("## A chip with entries of its own")[2].partition("### ")[0]
    documented = set(re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE))
    assert asked
    assert asked | {"CommonSqe"} == documented
