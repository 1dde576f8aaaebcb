"""The conformance kit finds what is wrong with a plugin, and passes over what is right."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from emu_core import (
    Device,
    Effect,
    Handler,
    InputError,
    PassSpec,
    PluginHost,
    PolicySpec,
    Run,
    Scope,
    hookimpl,
)
from emu_core.conformance import CHECKS, Outcome, check_plugin
from emu_core.testing.conformance import Program, conforms
from emu_plugins.chips.ascend310p import ASCEND310P3
from formats import define
from tools.plugin_new.code import CHIP, LAYOUTS
from tools.plugin_new.names import names


def module(text):
    """What a template of `sqemu plugins new` defines, with names of its own."""
    from string import Template

    source = Template(text).substitute(names("kit").mapping())
    space = {"FAMILY": "kit"}
    exec(source.replace("from .layouts import FAMILY", ""), space)
    return space


LAYOUTS_OF, CHIP_OF = module(LAYOUTS), module(CHIP)["CHIP"]
IDLE = next(s for s in LAYOUTS_OF["STRUCTS"] if s.struct_name == "KitIdleSqe")
COUNTER = itertools.count(1)


class Good:
    """A chip with one kind of entry."""

    __name__ = "kit"
    chip = CHIP_OF
    structs = LAYOUTS_OF["STRUCTS"]

    def start(self, task):
        """Take 100 ns."""
        return Run(100)

    @hookimpl
    def sqemu_chips(self):
        """The chip."""
        return (self.chip,)

    @hookimpl
    def sqemu_structs(self):
        """The layouts."""
        return self.structs

    @hookimpl
    def sqemu_engines(self, device):
        """Both kinds do nothing."""
        if device.chip.family != "kit":
            return ()
        return [Handler("kit", kind, number, self.start, effect=Effect.SYNC) for number, kind in ((1, "a"), (2, "b"))]


class Counting(Good):
    """An engine that keeps a counter in its module."""

    def start(self, task):
        """Take one nanosecond more each time."""
        return Run(next(COUNTER))


def verdict(plugin, check, programs=()):
    """What one check says of a plugin object."""
    host = PluginHost([plugin], entry_points=False)
    found = {v.check: v for v in check_plugin(host, host.plugins[0].name, programs)}
    return found[check]


def test_a_good_plugin_passes():
    """Nothing is wrong; what it does not have is skipped."""
    found = check_plugin(PluginHost([Good()], entry_points=False), "kit")
    assert [v.check for v in found] == list(CHECKS)
    assert {v.check for v in found if v.outcome is Outcome.SKIPPED} == {"policies", "explanations"}
    assert not [text for v in found for text in v.wrong]


def test_figures_without_a_source():
    """They are named."""

    class Bad(Good):
        chip = replace(CHIP_OF, sources={**CHIP_OF.sources, "cube_mhz": ""})

    assert verdict(Bad(), "chips").wrong == (
        "chip kit-one: no source for cube_mhz; say in `sources` where each is from",
    )


def test_an_entry_that_is_taken_for_another():
    """Two layouts of one type cannot be told apart."""

    class Bad(Good):
        structs = (
            *Good.structs,
            define("kit", "Twin", 64, "@0 type:6 -:26\n@4 -:32*15", sqe_type=1, match={"type": (1,)}),
        )

    assert any("is taken for" in text for text in verdict(Bad(), "structs").wrong)


def test_an_engine_that_raises():
    """The check of entries names the kind; an entry that only fails on the device is no error."""

    class Bad(Good):
        def start(self, task):
            raise ZeroDivisionError("no luck")

    found = verdict(Bad(), "entries")
    assert found.outcome is Outcome.FAILED
    assert "no luck" in found.wrong[0]
    assert found.wrong[0].startswith("KitIdleSqe on kit-one")


def test_an_engine_that_is_not_the_same_twice():
    """A counter outside of the device makes two runs differ, and a run after a snapshot, too."""
    assert "two runs differ in" in verdict(Counting(), "determinism").wrong[0]
    assert "after a snapshot (file)" in verdict(Counting(), "snapshot").wrong[0]


def test_programs_that_are_given_are_run():
    """A program that raises is named, and the other ones go on."""

    def broken(host):
        raise RuntimeError("no program")

    wrong = verdict(Good(), "determinism", (Program("mine", broken),)).wrong
    assert wrong == ("mine: raised RuntimeError: no program",)


def test_policies_and_texts():
    """The first word of a policy is the plugin's, its default a value, and a text says what to do."""

    class Bad:
        __name__ = "kit"

        @hookimpl
        def sqemu_policies(self):
            return (PolicySpec("other_thing", Scope.DEVICE, "x", ("a", "b"), ""),)

        @hookimpl
        def sqemu_explanations(self):
            """Texts."""
            return {"kit.a": "something\ndo: this", "kit.b": "something"}

        @hookimpl
        def sqemu_passes(self):
            """Passes."""
            return (PassSpec("a", "emit", lambda _: None),)

    assert verdict(Bad(), "policies").wrong == (
        "policy other_thing: its first word must be of the plugin's name (kit)",
        "policy other_thing: the default 'x' is none of its values",
    )
    assert verdict(Bad(), "explanations").wrong == ("explanation of kit.b: no line begins with do:",)
    assert set(verdict(Bad(), "hooks").wrong) == {
        "sqemu_policies has no docstring: say what it supplies",
        "sqemu_policies: other_thing has no summary",
        "sqemu_passes: a has no summary",
    }


def test_a_plugin_that_clashes():
    """A chip of the product cannot be supplied again."""

    class Clash:
        @hookimpl
        def sqemu_chips(self):
            """A chip that is there."""
            return (ASCEND310P3,)

    host = PluginHost([Clash()])
    wrong = next(v for v in check_plugin(host, "Clash") if v.check == "hooks").wrong
    assert "comes from both" in wrong[0]


def test_conforms_says_everything():
    """One assertion error with a line per mistake; with a name only that check."""

    class Bad(Good):
        chip = replace(CHIP_OF, sources={})

    host = PluginHost([Bad()], entry_points=False)
    assert [v.check for v in conforms(host, "kit", "structs")] == ["structs"]
    with pytest.raises(AssertionError, match="chips: chip kit-one: no source for"):
        conforms(host, "kit")
    with pytest.raises(InputError) as caught:
        conforms(host, "nobody")
    assert caught.value.id == "plugin.absent"


def test_limits_are_those_of_the_machine():
    """The kit counts what the device gives: an own check of the figures of one chip."""
    device = Device(CHIP_OF, plugins=PluginHost([Good()], entry_points=False))
    assert len({device.create_event() for _ in range(64)}) == 64
