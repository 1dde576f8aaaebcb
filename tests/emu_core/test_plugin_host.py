"""The plugin host: what is found, what is broken, and what may not clash."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.errors import InputError, OptionError, PluginError
from emu_core.graph import Compiled
from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuKernelSpec, CoreType, Cost, KernelSpec
from emu_core.operators import OperatorSpec
from emu_core.plugins import GROUP, PluginHost
from emu_core.policies import PolicySpec, Scope
from emu_plugins.chips.ascend310p import ASCEND310P3
from formats import BUILTIN, FormatError, define
from formats.blob import Blob

INSTALLED = ("cgdr", "chips", "compiler", "engines", "kernels", "runtime", "tiling")


def _plugin(name="mine", **hooks):
    """A plugin object named `name`; each hook gives the value of that keyword."""
    made = type(name, (), {})()
    for hook, value in hooks.items():
        setattr(made, f"sqemu_{hook}", hookimpl(_giving(value)))
    return made


def _giving(value):
    return value if callable(value) else (lambda: value)


def _kernel(name):
    return KernelSpec(name, CoreType.AIV, (0,), lambda _: None, lambda _: Cost())


def _operator(name):
    return OperatorSpec(name, (), (), lambda *_: (), lambda _: None, name)


class _Distribution(NamedTuple):
    """The part of a distribution that the host looks at."""

    name: str
    version: str


@dataclass(frozen=True)
class _Entry:
    """An entry point that loads a given thing, or raises it."""

    name: str
    found: object
    value: str = "some.module"
    dist: object = _Distribution("sqemu-edu", "2.1")

    def load(self):
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


@pytest.fixture
def installed(monkeypatch):
    """Replaces the installed plugins."""

    def use(*entries):
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries if group == GROUP else ())
        return PluginHost()

    return use


def _by_name(host):
    return {p.name: p for p in host.plugins}


def test_the_built_in_plugins_come_through_the_entry_points(host):
    """All seven packages are found by name, with the distribution they come from and the hooks they fill."""
    found = _by_name(host)
    assert set(INSTALLED) <= set(found)
    assert all(found[name].origin.startswith("sqemu ") and not found[name].broken for name in INSTALLED)
    assert "sqemu_engines" in found["engines"].hooks


def test_a_plugin_that_cannot_be_imported_is_named_and_the_others_go_on(installed):
    """The note has distribution, version and the reason on one line."""
    host = installed(
        _Entry("bad", ImportError("no module foo\nand more")), _Entry("good", _plugin(chips=[ASCEND310P3]))
    )
    bad = _by_name(host)["bad"]
    assert (bad.origin, bad.broken) == ("sqemu-edu 2.1", "import failed: ImportError: no module foo")
    assert list(host.chips) == ["ascend310p3"]


def test_a_plugin_that_ends_the_process_when_imported_is_broken(installed):
    """A script that was installed as a plugin by mistake does not end the command."""
    host = installed(_Entry("bad", SystemExit(3)), _Entry("good", _plugin(chips=[ASCEND310P3])))
    assert _by_name(host)["bad"].broken == "import failed: SystemExit: 3"
    assert list(host.chips) == ["ascend310p3"]


def test_an_entry_point_without_a_distribution_is_known_by_its_target(installed):
    """Some import systems know no distribution."""
    host = installed(_Entry("bad", SyntaxError("oops"), dist=None))
    assert host.plugins[0].origin == "some.module"


def test_of_two_installed_plugins_with_one_name_the_second_is_broken(installed):
    """The first stays; nothing vanishes silently."""
    host = installed(_Entry("same", _plugin(chips=[ASCEND310P3])), _Entry("same", _plugin()))
    assert [bool(p.broken) for p in host.plugins] == [False, True]
    assert "another plugin with this name" in host.plugins[1].broken
    assert list(host.chips) == ["ascend310p3"]


def test_without_leaves_installed_plugins_out():
    """A switched-off plugin is not even imported; what needs it says so."""
    host = PluginHost(without=["chips", "compiler"])
    assert {"chips", "compiler"}.isdisjoint(_by_name(host))
    with pytest.raises(InputError, match="there is no chip 'ascend310p3'"):
        host.chip("ascend310p3")
    with pytest.raises(PluginError, match="no plugin answers sqemu_compile") as caught:
        compile_graph({}, ASCEND310P3, plugins=host)
    assert (caught.value.id, caught.value.remedy) == ("plugin.missing", "check `sqemu plugins list`")


def test_a_missing_answer_names_the_broken_plugins(installed):
    """The reason is usually the plugin that could not be loaded."""
    host = installed(_Entry("loader", ImportError("no module foo")))
    with pytest.raises(PluginError) as caught:
        host.first("sqemu_load", device=None, blob=None)
    assert caught.value.remedy == "broken plugins: loader: import failed: ImportError: no module foo"


COMPILED = Compiled(Blob("ascend310p3", "first")), Compiled(Blob("ascend310p3", "second"))


def _asked(host):
    """The answer of the compilers of a host."""
    return host.first("sqemu_compile", graph={}, chip=ASCEND310P3, options=None, host=host)


def test_first_takes_the_first_answer_that_is_not_none():
    """A plugin that does not feel responsible returns None, and nobody is asked behind an answer."""
    plugins = [_plugin("a", compile=None), _plugin("b", compile=COMPILED[0]), _plugin("c", compile=lambda: 1 / 0)]
    assert _asked(PluginHost(plugins, entry_points=False)) is COMPILED[0]


@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_an_installed_plugin_of_others_goes_before_our_own(installed, name):
    """Its name does not matter: a compiler that is called zzz is asked before the built-in one."""
    built_in = importlib.metadata.entry_points(group=GROUP)
    assert _asked(installed(*built_in, _Entry(name, _plugin(name, compile=COMPILED[0])))) is COMPILED[0]


def test_who_is_asked_first(installed):
    """`tryfirst`, then given plugins in their order, installed ones by name, ours, and `trylast` in the end."""
    asked = []

    def compiler(name, **marks):
        plugin = type(name, (), {})()
        plugin.sqemu_compile = hookimpl(**marks)(lambda: asked.append(name))
        return plugin

    def entry(name, dist="sqemu-edu", **marks):
        return _Entry(name, compiler(name, **marks), dist=_Distribution(dist, "1.0"))

    installed(
        entry("m-ours", "sqemu"), entry("b-other"), entry("a-other"), entry("c-first", tryfirst=True),
        entry("a-last", trylast=True),
    )  # fmt: skip
    given = [compiler("z"), compiler("y"), compiler("x-last", trylast=True), compiler("w-first", tryfirst=True)]
    with pytest.raises(PluginError, match="no plugin answers"):
        _asked(PluginHost(given))
    assert asked == ["w-first", "c-first", "z", "y", "a-other", "b-other", "m-ours", "x-last", "a-last"]


@pytest.mark.parametrize(
    ("answer", "id_", "what"),
    [
        (lambda: 1 / 0, "plugin.raised", "sqemu_compile raised ZeroDivisionError: division by zero"),
        (lambda: {}["x"], "plugin.raised", "sqemu_compile raised KeyError: 'x'"),
        (lambda: (_ for _ in ()).throw(RecursionError("too\ndeep")), "plugin.raised", "raised RecursionError: too"),
        ("text", "plugin.answer", "sqemu_compile must answer with a Compiled or None, not str"),
        (Blob("ascend310p3", "bare"), "plugin.answer", "must answer with a Compiled or None, not Blob"),
        (False, "plugin.answer", "not bool"),
    ],
)
@pytest.mark.parametrize("way", ["given", "installed"])
def test_a_compiler_that_breaks_is_an_error_with_its_name(installed, way, answer, id_, what):
    """The error names plugin, distribution and version, hook and exception, on one line."""
    plugin = _plugin("bad", compile=answer)
    host = PluginHost([plugin], entry_points=False) if way == "given" else installed(_Entry("bad", plugin))
    with pytest.raises(PluginError, match=re.escape(what)) as caught:
        _asked(host)
    origin = "given by the caller" if way == "given" else "sqemu-edu 2.1"
    assert (caught.value.id, caught.value.where) == (id_, f"plugin bad ({origin})")
    assert "\n" not in caught.value.text()


@pytest.mark.parametrize(
    ("answer", "id_"), [(lambda: 1 / 0, "plugin.raised"), ("model", "plugin.answer"), ([], "plugin.answer")]
)
def test_a_loader_that_breaks_is_an_error_and_gives_all_back(installed, answer, id_):
    """Likewise for loaders; the device is as it was."""
    built_in = importlib.metadata.entry_points(group=GROUP)
    installed(*built_in, _Entry("bad", _plugin("bad", load=answer)))
    device = Device("ascend310p3")
    before = len(list(device.memory.allocations()))
    with pytest.raises(PluginError, match="sqemu_load") as caught:
        device.load(Blob("ascend310p3", "empty"))
    assert (caught.value.id, caught.value.where) == (id_, "plugin bad (sqemu-edu 2.1)")
    assert len(list(device.memory.allocations())) == before


def test_what_our_own_compiler_raises_stays_a_bug_of_ours(installed):
    """It is not blamed on a plugin, so the user is asked to report it."""
    host = installed(_Entry("ours", _plugin("ours", compile=lambda: 1 / 0), dist=_Distribution("sqemu", "0.1.0")))
    with pytest.raises(ZeroDivisionError):
        _asked(host)


@pytest.mark.parametrize("error", [OptionError("no", id="x.y"), FormatError("no", id="x.y")])
def test_errors_for_the_user_pass_a_compiler(error):
    """A refusal is no breakage."""

    def refuse():
        raise error

    with pytest.raises(type(error)) as caught:
        _asked(PluginHost([_plugin(compile=refuse)], entry_points=False))
    assert caught.value is error


def _wrapper():
    yield


WRONG = {
    "unknown argument": (lambda nothing: [], "sqemu_engines has no argument 'nothing'; it has device"),
    "unknown keyword-only argument": (lambda *, nothing: [], "sqemu_engines has no argument 'nothing'; it has device"),
    "positional only": (lambda device, /: [], "takes device by position only"),
    "hook wrapper": (hookimpl(wrapper=True)(_wrapper), "hook wrapper, which is not supported"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_signatures_that_cannot_be_called_by_name(installed, wrong):
    """They are refused when the plugin is loaded, not when the hook is called."""
    function, what = WRONG[wrong]
    bad = type("bad", (), {})()
    bad.sqemu_engines = function if hasattr(function, "sqemu_impl") else hookimpl(function)
    with pytest.raises(PluginError, match=what) as caught:
        PluginHost([bad], entry_points=False)
    assert (caught.value.id, caught.value.where) == ("plugin.invalid", "plugin bad (given by the caller)")
    host = installed(_Entry("bad", bad), _Entry("good", _plugin("good", chips=[ASCEND310P3])))
    assert host.plugins[0].broken.startswith("not a valid plugin: ")
    assert list(host.chips) == ["ascend310p3"]


def test_arguments_with_a_default_and_catch_alls_are_allowed():
    """A hook function may have arguments of its own as long as they need not be given."""
    seen = []

    def engines(device, mine=3, **others):
        seen.append((device, mine, others))
        return []

    list(PluginHost([_plugin(engines=engines)], entry_points=False).each("sqemu_engines", device="d"))
    assert seen == [("d", 3, {})]


class _Strange:
    """An object whose attributes cannot be looked at."""

    def __getattr__(self, name):
        raise RuntimeError("do not touch")


def test_an_object_that_cannot_even_be_looked_at_is_no_plugin(installed):
    """Whatever happens while its hooks are looked for, the others go on."""
    with pytest.raises(PluginError, match=r"plugin _Strange .*has no hook"):
        PluginHost([_Strange()], entry_points=False)
    host = installed(_Entry("bad", _Strange()), _Entry("good", _plugin("good", chips=[ASCEND310P3])))
    assert list(host.chips) == ["ascend310p3"]


def test_a_broken_plugin_is_left_out_from_then_on(installed):
    """When its layouts fail, its engines, which need them, are not asked."""
    asked = []
    bad = _plugin("bad", structs=lambda: 1 / 0, explanations=lambda: asked.append("texts"))
    host = installed(_Entry("bad", bad))
    assert host.registry is BUILTIN
    assert _by_name(host)["bad"].broken == "sqemu_structs raised ZeroDivisionError: division by zero"
    assert not host.explanations
    assert asked == []


def test_a_layout_whose_name_is_taken_breaks_its_plugin(installed):
    """The built-in one stays, and the plugin is named with the layout."""
    twice = define("v100", "AicoreKernelSqe", 64, "@0 type:6 -:26 @4 -:32*15")
    host = installed(_Entry("bad", _plugin("bad", structs=[twice])))
    assert host.registry is BUILTIN
    assert "AicoreKernelSqe is registered twice" in _by_name(host)["bad"].broken
    with pytest.raises(PluginError, match="AicoreKernelSqe is registered twice") as caught:
        _ = PluginHost([_plugin(structs=[twice])], entry_points=False).registry
    assert caught.value.id == "plugin.raised"


def test_a_hook_with_a_wrong_signature_makes_the_plugin_invalid(installed):
    """An argument that the hook does not have is refused at registration; nothing of the plugin stays registered."""
    installed(_Entry("bad", _plugin(chips=lambda typo: typo)), _Entry("ok", _plugin("ok", chips=[ASCEND310P3])))
    host = PluginHost()
    assert host.plugins[0].broken.startswith("not a valid plugin: sqemu_chips has no argument 'typo'; it has none")
    assert list(host.chips) == ["ascend310p3"]


def test_an_unknown_hook_makes_the_plugin_invalid(installed):
    """A misspelled hook would otherwise never be called."""
    installed(_Entry("bad", _plugin(chip=[ASCEND310P3])))
    host = PluginHost()
    assert "not a valid plugin" in host.plugins[0].broken
    assert not host.chips


def test_a_broken_plugin_that_somebody_asked_for_is_an_error():
    """A plugin given by the caller is not left out in silence: invalid at once, raising when it is asked."""
    with pytest.raises(PluginError, match="unknown hook 'sqemu_chip'") as caught:
        PluginHost([_plugin(chip=[ASCEND310P3])], entry_points=False)
    assert (caught.value.id, caught.value.where) == ("plugin.invalid", "plugin mine (given by the caller)")
    host = PluginHost([_plugin(chips=lambda: 1 / 0)], entry_points=False)
    with pytest.raises(PluginError, match="ZeroDivisionError") as caught:
        _ = host.chips
    assert (caught.value.id, caught.value.where) == ("plugin.raised", "plugin mine (given by the caller)")


def test_several_objects_of_one_class_are_several_plugins():
    """Names get a number; the same object twice is a mistake of the caller."""
    first, second = _plugin(chips=[ASCEND310P3]), _plugin(chips=[replace(ASCEND310P3, name="b")])
    host = PluginHost([first, second], entry_points=False)
    assert [p.name for p in host.plugins] == ["mine", "mine-2"]
    assert list(host.chips) == ["ascend310p3", "b"]
    with pytest.raises(PluginError, match="already"):
        PluginHost([first, first], entry_points=False)


@pytest.mark.parametrize("value", [lambda: 1 / 0, None, ["no chip"]], ids=["raises", "returns nothing", "returns text"])
def test_a_hook_that_breaks_is_isolated(installed, value):
    """The plugin is marked broken when it is asked, and the others still answer."""
    installed(_Entry("bad", _plugin("bad", chips=value)), _Entry("good", _plugin("good", chips=[ASCEND310P3])))
    host = PluginHost()
    assert list(host.chips) == ["ascend310p3"]
    assert _by_name(host)["bad"].broken
    assert not _by_name(host)["good"].broken


def test_an_error_meant_for_the_user_passes_through():
    """A plugin may refuse an option; that is no breakage."""

    def refuse():
        raise OptionError("no", id="x.y")

    host = PluginHost([_plugin(chips=refuse)], entry_points=False)
    with pytest.raises(OptionError):
        _ = host.chips


@pytest.mark.parametrize(
    ("what", "hook", "item"),
    [
        ("chip 'ascend310p3'", "chips", ASCEND310P3),
        ("kernel 'Mine'", "kernels", _kernel("Mine")),
        ("operator 'Mine'", "operators", _operator("Mine")),
    ],
)
def test_two_plugins_with_one_name_for_a_thing_are_refused(what, hook, item):
    """The error names the thing and both plugins."""
    host = PluginHost([_plugin("a", **{hook: [item]}), _plugin("b", **{hook: [item]})], entry_points=False)
    with pytest.raises(PluginError, match=f"{what} comes from both a and b") as caught:
        getattr(host, hook)
    assert caught.value.id == "plugin.clash"


def test_two_kernels_with_one_crc_are_refused():
    """`plumless` and `buckeroo` are a known pair with the same CRC-32; device memory could not tell them apart."""
    kernels = [_kernel("plumless"), _kernel("buckeroo")]
    host = PluginHost([_plugin(kernels=kernels)], entry_points=False)
    with pytest.raises(PluginError, match="plumless and buckeroo have the same id"):
        _ = host.kernels


def test_policies_and_explanations_of_plugins_are_collected():
    """Core policies come first; two owners of one policy are refused when a device is made."""
    spec = PolicySpec("mine", Scope.DEVICE, "a", ("a", "b"), "mine")
    host = PluginHost([_plugin(policies=[spec], explanations={"mine.id": "text"})], entry_points=False)
    assert host.policy_specs[-1] == spec
    assert dict(host.explanations) == {"mine.id": "text"}
    twice = PluginHost([_plugin(policies=[spec, spec])])
    with pytest.raises(PluginError, match="policy mine is declared twice"):
        Device(ASCEND310P3, None, twice)


def test_policies_of_a_plugin_can_be_set_on_a_device():
    """A device takes the values of every policy its plugins declare."""
    spec = PolicySpec("mine", Scope.DEVICE, "a", ("a", "b"), "mine")
    assert Device(ASCEND310P3, {"mine": "b"}, [_plugin(policies=[spec])]).policies["mine"] == "b"


def test_layouts_of_plugins_extend_the_registry(host):
    """A plugin's struct is found under its family, and the built-in registry does not change."""
    extra = define("v100", "MySqe", 64, "@0 type:6 -:26 @4 -:32*15")
    mine = PluginHost([_plugin(structs=[extra])])
    assert mine.registry.get("v100", "MySqe") is extra
    assert "MySqe" not in BUILTIN.names("v100")
    assert host.registry is BUILTIN


def test_chips_are_found_in_any_case(host):
    """`Ascend310P3` is the spelling of the vendor, lower case is ours; an unknown name lists the known ones."""
    assert host.chip("Ascend310P3") is ASCEND310P3
    with pytest.raises(InputError, match="there is no chip 'ascend999'") as caught:
        host.chip("ascend999")
    assert caught.value.id == "chip.unknown"
    assert "ascend310p3" in caught.value.remedy


def test_a_hook_may_take_fewer_arguments_than_listed():
    """The AI CPU hook is given the host, but need not ask for it."""
    seen = []
    spec = AicpuKernelSpec("*.so", "f", lambda _: None, lambda _: 0)
    asking = _plugin(aicpu_kernels=lambda host: seen.append(host) or [spec])
    asked = PluginHost([asking, _plugin("b", aicpu_kernels=lambda: [spec])], entry_points=False)
    assert asked.aicpu_kernels == (spec, spec)
    assert seen == [asked]


@pytest.mark.parametrize("junk", [None, [None], "abc", [3], 7, {"a": 1}])
@pytest.mark.parametrize(
    "hook", ["structs", "policies", "operators", "kernels", "aicpu_kernels", "engines", "explanations"]
)
def test_hooks_that_give_rubbish_are_left_out(installed, hook, junk):
    """Whatever a hook gives instead of its records, the plugin is marked and everything else still works."""
    bad = _plugin("bad", **{hook: (lambda device: junk) if hook == "engines" else junk})
    built_in = importlib.metadata.entry_points(group=GROUP)
    installed(*built_in, _Entry("bad", bad))
    host = PluginHost()
    _ = (host.registry, host.policy_specs, host.operators, host.kernels, host.aicpu_kernels, host.explanations)
    Device("ascend310p3", None, host)
    assert f"sqemu_{hook} must give" in _by_name(host)["bad"].broken


def test_an_installed_plugin_whose_chip_cannot_be_is_left_out(installed):
    """It says which figure is wrong; the chips of the others are there."""
    bad = _plugin("bad", chips=lambda: [replace(ASCEND310P3, name="x", max_streams=0)])
    host = installed(_Entry("bad", bad), _Entry("good", _plugin("good", chips=[replace(ASCEND310P3, name="y")])))
    assert list(host.chips) == ["y"]
    assert "max_streams (streams; ids) = 0" in _by_name(host)["bad"].broken
    assert host.supplier(host.chips["y"]).startswith("plugin good (")
    assert host.supplier(replace(ASCEND310P3, name="z")) == ""


def test_an_unhashable_name_is_rubbish_too(installed):
    """A record whose name is no text cannot be collected."""
    chip = replace(ASCEND310P3, name="x")
    object.__setattr__(chip, "name", ["x"])
    installed(_Entry("bad", _plugin("bad", chips=[chip])))
    host = PluginHost()
    assert not host.chips
    assert "a Chip whose name is text, not list" in _by_name(host)["bad"].broken


def test_something_without_hooks_is_no_plugin():
    """An object that has no hook was given by mistake."""
    with pytest.raises(PluginError, match="no hook"):
        PluginHost([3], entry_points=False)


def test_leaving_out_a_plugin_that_is_not_there_is_an_error():
    """A misspelled name would otherwise leave the plugin in."""
    with pytest.raises(PluginError, match="no plugin 'kernel' to leave out") as caught:
        PluginHost(without=["kernel"])
    assert "kernels" in caught.value.remedy
