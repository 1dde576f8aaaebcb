"""Passes, observers and other records of plugins: when they are called, and what a mistake in one of them does."""

from __future__ import annotations

import importlib.metadata
from dataclasses import replace
from types import SimpleNamespace

import pytest

from emu_core import (
    CommandSpec,
    Compiled,
    CompileOptions,
    Device,
    DumpView,
    GraphError,
    Handler,
    ImporterSpec,
    ObserverSpec,
    PassSpec,
    PluginError,
    PluginHost,
    PolicySpec,
    Problem,
    Run,
    Scope,
    compile_with_report,
    hookimpl,
)
from emu_core.observing import tell_observers
from emu_core.plugins import GROUP
from emu_core.trace import EVENTS, ModelPhase, TaskDone
from emu_plugins.chips.ascend310p import ASCEND310P3
from formats.blob import Blob

BLOB = Blob("ascend310p3", "b")
GRAPH = {"nodes": []}


def plugin(name="mine", **hooks):
    """A plugin object; each hook gives the value of that keyword."""
    made = type(name, (), {})()
    for hook, value in hooks.items():
        setattr(made, f"sqemu_{hook}", hookimpl(lambda value=value: value))
    return made


class Compiler:
    """A compiler that says which graph it was given, and stops at two points."""

    def __init__(self):
        self.graphs = []

    @hookimpl
    def sqemu_compile(self, graph, options):
        """Keep the graph; tell of the passes that are asked for."""
        self.graphs.append(graph)
        if options.after_pass is not None:
            options.after_pass("shapes", {"pass": "shapes"})
            options.after_pass("marks", {"pass": "marks"})
        return Compiled(BLOB, ("from the compiler",))


def compiled(*passes):
    """What a compilation with these passes gives, and the graph that the compiler saw."""
    compiler = Compiler()
    host = PluginHost([compiler, plugin(passes=passes)], entry_points=False)
    found = compile_with_report(GRAPH, ASCEND310P3, CompileOptions(), host)
    return found, compiler.graphs[0]


@pytest.fixture
def installed(monkeypatch):
    """Replaces the installed plugins by the given ones, of the distribution `sqemu-other 2.1`."""

    def use(**plugins):
        dist = SimpleNamespace(name="sqemu-other", version="2.1")
        entries = [
            SimpleNamespace(name=n, dist=dist, value="x", load=lambda found=p: found) for n, p in plugins.items()
        ]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == GROUP else ())
        return PluginHost()

    return use


class TestPasses:
    def test_a_pass_at_the_import_changes_what_is_compiled(self):
        """The compiler gets the new graph; passes run in their order, each on what the one before gave."""
        first = PassSpec("a", "import", lambda given: {**given.graph, "seen": [1]})
        second = PassSpec("b", "import", lambda given: {**given.graph, "seen": [*given.graph["seen"], 2]})
        _, graph = compiled(first, second)
        assert graph == {"nodes": [], "seen": [1, 2]}
        assert GRAPH == {"nodes": []}

    def test_a_pass_at_the_end_gives_another_blob(self):
        """It sees the blob of the compiler; warnings of both are said."""

        def run(given):
            given.warn(f"had {given.blob.chip}")
            return Blob("ascend310p3", "other")

        found, _ = compiled(PassSpec("a", "emit", run))
        assert found.blob.name == "other"
        assert found.warnings == ("from the compiler", "had ascend310p3")

    def test_a_pass_between_looks_at_its_point_only(self):
        """It gets the account after the pass it names, once."""
        seen = []
        compiled(PassSpec("a", "marks", lambda given: seen.append((given.after, given.graph))))
        assert seen == [("marks", {"pass": "marks"})]

    def test_the_built_in_compiler_stops_at_every_pass_that_it_lists(self, graph_of_probe):
        """Accounts come in the order of the compiler's own list, without `details` in the result."""
        from emu_plugins.compiler.snapshots import PASSES

        seen = []
        passes = [PassSpec(f"after {name}", name, lambda given: seen.append(given.graph["pass"])) for name in PASSES]
        found = compile_with_report(graph_of_probe, "ascend310p3", plugins=PluginHost([plugin(passes=passes)]))
        assert seen == list(PASSES)
        assert (found.explanation, found.snapshots) == ({}, ())

    @pytest.mark.parametrize(
        ("after", "given", "what"),
        [
            ("import", 3, "must give a graph as a mapping or None, not int"),
            ("emit", {}, "must give a TaskBlob or None, not dict"),
            ("shapes", {}, "runs after shapes and may only look there, but it gave something"),
        ],
    )
    def test_a_wrong_answer(self, after, given, what):
        """The error names pass and plugin."""
        with pytest.raises(PluginError) as caught:
            compiled(PassSpec("bad", after, lambda _: given))
        assert (caught.value.id, caught.value.what) == ("plugin.pass-answer", f"pass bad {what}")
        assert caught.value.where == "plugin mine (given by the caller)"

    def test_a_pass_that_raises(self):
        """An error for the user passes through; anything else names plugin and pass."""
        problem = GraphError([Problem("mine.no", "no", "node a", "stop")])
        with pytest.raises(GraphError):
            compiled(PassSpec("a", "import", lambda _: raised(problem)))
        with pytest.raises(PluginError, match="run raised ZeroDivisionError") as caught:
            compiled(PassSpec("a", "import", lambda _: 1 / 0))
        assert caught.value.where == "plugin mine (given by the caller), PassSpec a"


def raised(error):
    """Raise an error where an expression must stand."""
    raise error


@pytest.fixture
def graph_of_probe():
    """A graph of one operator that sinks."""
    return {
        "format": "sqemu-graph", "version": 1, "name": "g", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [{"name": "a", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }  # fmt: skip


EVENT, PHASE = (
    TaskDone(time=1, stream=0, slot=0, task=0, engine="e", kind="k", started=0),
    ModelPhase(time=2, model=0, phase="end"),
)


class TestObservers:
    def told(self, host):
        """Tell the observers of a host about an execution with two events."""
        tell_observers(SimpleNamespace(host=host), SimpleNamespace(trace=(EVENT, PHASE)))

    def test_an_observer_sees_the_events_that_it_asked_for(self):
        """By default all; else those of its classes, in order."""
        seen = []
        specs = [
            ObserverSpec("all", lambda found: seen.append(found.events)),
            ObserverSpec("some", lambda found: seen.append(found.events), (ModelPhase,)),
        ]
        self.told(PluginHost([plugin(observers=specs)], entry_points=False))
        assert seen == [(EVENT, PHASE), (PHASE,)]
        assert specs[0].events == EVENTS

    def test_an_installed_observer_that_raises_is_left_out(self, installed):
        """The run goes on, the others are told, and the plugin is broken with the reason."""
        seen = []
        bad = plugin(observers=[ObserverSpec("bad", lambda _: 1 / 0)])
        good = plugin(observers=[ObserverSpec("good", lambda found: seen.append(len(found.events)))])
        host = installed(bad=bad, good=good)
        self.told(host)
        self.told(host)
        assert seen == [2, 2]
        broken = next(p for p in host.plugins if p.name == "bad")
        what = (
            "sqemu_observers bad: see raised ZeroDivisionError: division by zero at test_extensions_of_plugins.py line "
        )
        assert broken.broken.rstrip("0123456789") == what
        assert broken.origin == "sqemu-other 2.1"

    def test_a_given_observer_that_raises_is_an_error(self):
        """Somebody asked for it."""
        with pytest.raises(PluginError, match="see raised KeyError"):
            self.told(PluginHost([plugin(observers=[ObserverSpec("bad", lambda _: {}["x"])])], entry_points=False))

    def test_executions_of_models_are_told(self, graph_of_probe):
        """Once per execution, with its own result."""
        import numpy as np

        seen = []
        host = PluginHost([plugin(observers=[ObserverSpec("all", lambda found: seen.append(found.result.run))])])
        blob = compile_with_report(graph_of_probe, "ascend310p3", plugins=host).blob
        model = Device("ascend310p3", plugins=host).load(blob)
        for _ in range(2):
            assert model.execute({"x": np.zeros(40, "<f4"), "n": np.array([3], "<i4")}).ok
        assert seen == [1, 2]


@pytest.mark.parametrize(
    ("hook", "attribute", "record"),
    [
        ("passes", "passes", PassSpec("same", "emit", lambda _: None)),
        ("importers", "importers", ImporterSpec("same", lambda _: False, lambda *_: {})),
        ("dump_views", "dump_views", DumpView("same", lambda _: ())),
        ("observers", "observers", ObserverSpec("same", lambda _: None)),
        ("commands", "commands", CommandSpec("same", "s", lambda: None)),
    ],
)
def test_two_of_one_name_clash(hook, attribute, record):
    """The error names both plugins."""
    host = PluginHost([plugin("one", **{hook: [record]}), plugin("two", **{hook: [record]})], entry_points=False)
    with pytest.raises(PluginError, match="comes from both one and two") as caught:
        getattr(host, attribute)
    assert caught.value.id == "plugin.clash"


class TestClashesOfInstalledPlugins:
    """The plugin of somebody else is broken, named with its distribution, and the rest works."""

    @pytest.fixture
    def beside(self, monkeypatch):
        """A host with an installed plugin `aaa` of `sqemu-other 2.1` beside ours."""
        ours = importlib.metadata.entry_points(group=GROUP)
        dist = SimpleNamespace(name="sqemu-other", version="2.1")

        def use(found):
            entries = [*ours, SimpleNamespace(name="aaa", dist=dist, value="x", load=lambda: found)]
            monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == GROUP else ())
            return PluginHost()

        return use

    def broken(self, host):
        """Origin of the plugin, and what is wrong."""
        info = next(p for p in host.plugins if p.name == "aaa")
        return info.origin, info.broken

    def test_a_chip(self, beside):
        """Ours stays although the other plugin was loaded before; nothing else of that plugin is taken."""
        mine = replace(ASCEND310P3, name="mine", soc_name="Mine")
        host = beside(plugin(chips=[replace(ASCEND310P3, core_num=1), mine]))
        assert host.chip("ascend310p3") is ASCEND310P3
        assert "mine" not in host.chips
        origin, what = self.broken(host)
        assert origin == "sqemu-other 2.1"
        assert what == "sqemu_chips chip 'ascend310p3' comes from both chips and aaa; the one of the product stays"

    def test_a_policy(self, beside):
        """A device can still be made."""
        host = beside(plugin(policies=[PolicySpec("nop_model", Scope.DEVICE, "x", ("x",), "mine")]))
        assert Device("ascend310p3", plugins=host).policies["nop_model"] == "window"
        assert self.broken(host)[1].startswith("sqemu_policies policy 'nop_model' comes from both")

    def test_an_engine(self, beside):
        """The kind goes on to be executed by its own engine."""
        theirs = Handler("other", "kernel", 0, lambda task: Run(0))
        device = Device("ascend310p3", plugins=beside(plugin(engines=[theirs])))
        assert device.dispatch.find(bytes(64)).engine != "other"
        assert "sqemu_engines: " in self.broken(device.host)[1]

    def test_two_of_others(self, beside):
        """One plugin that gives a name twice is broken, too."""
        twice = [CommandSpec("a", "b", lambda: None)] * 2
        host = beside(plugin(commands=twice))
        assert dict(host.commands) == {}
        assert "subcommand 'a' comes from both aaa and aaa" in self.broken(host)[1]
