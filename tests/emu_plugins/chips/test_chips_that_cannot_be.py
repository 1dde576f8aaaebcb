"""Mistakes of a plugin in a chip: which field it is, what it means, what is known, and where to put it right."""

from __future__ import annotations

import copy
import pickle
from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest

from emu_core import Chip, Device, hookimpl
from emu_core.chip_figures import FIGURES, NOT_FIGURES, ChipError
from emu_core.chips import Latencies
from emu_core.errors import PluginError
from emu_core.plugins import PluginHost
from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.chips.ascend950 import CHIPS as CHIPS_950
from tools import cli

REQUIRED = {f.name: getattr(ASCEND910B3, f.name) for f in fields(Chip) if f.default is f.default_factory is MISSING}


class Plugin:
    """A plugin that supplies one chip, made when it is asked."""

    def __init__(self, make):
        self.make = make

    @hookimpl
    def sqemu_chips(self):
        """The chip."""
        return [self.make()]


@pytest.mark.parametrize("name", [name for name in REQUIRED if name != "name"])
def test_a_missing_figure_is_named_with_meaning_and_unit(name):
    """Each required field of its own, as the table of figures describes it."""
    with pytest.raises(ChipError) as caught:
        Chip(**{key: value for key, value in REQUIRED.items() if key != name})
    figure = FIGURES[name]
    assert (caught.value.id, caught.value.where) == ("chip.field", "chip ascend910b3")
    assert caught.value.what == f"lacks {name} ({figure.meaning}; {figure.unit})".replace("; )", ")")


def test_a_chip_with_nothing_names_all_and_describes_the_first():
    """Five with meaning and unit, the rest by name."""
    with pytest.raises(ChipError, match="lacks name") as caught:
        Chip()
    assert caught.value.where == "chip without a name"
    assert "core_num (AI Cores; cores)" in caught.value.what
    assert caught.value.what.endswith("max_notifies, persistent_tasks, cqe_bytes")


def test_a_misspelled_figure_is_told_the_right_one():
    """The nearest field is offered."""
    with pytest.raises(ChipError, match=r"has no field 'ub_byte'; did you mean ub_bytes\?"):
        replace(ASCEND910B3, ub_byte=3)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"usable_tasks": 2048}, "usable_tasks = 2048 in rings of sq_depth = 2048 entries"),
        ({"usable_tasks": 5000}, "usable_tasks = 5000 in rings of sq_depth = 2048 entries"),
        ({"sq_depth": 1, "usable_tasks": 1}, "sq_depth (slots of a submission ring; entries) = 1"),
        ({"max_streams": 0}, "max_streams (streams; ids) = 0"),
        ({"max_events": -1}, "max_events (events; ids) = -1"),
        ({"cq_depth": 0}, "cq_depth (slots of the completion ring; entries) = 0"),
        ({"ub_bytes": 1.5}, "ub_bytes (unified buffer of a core; bytes) = 1.5"),
        ({"core_num": True}, "core_num (AI Cores; cores) = True"),
        ({"fused_cores": 1}, "fused_cores (whether a core is cube and vector in one; True or False) = 1"),
        ({"family": ""}, "family (family of the layouts of its queue entries; text) = ''"),
        ({"credit_ns": 0}, "credit_ns (one unit of kernel credit; ns) = 0"),
        (
            {"sources": ["arch"]},
            "sources (where each figure is from; mapping of text to text) = ['arch'], of type list",
        ),
        ({"latencies": 3}, "latencies (time of each step; Latencies) = 3, of type int"),
        ({"name": "Ascend910B3"}, "name (SoC name in lower case; text) = 'Ascend910B3'"),
        ({"sources": {"ub_byte": "my table"}}, "{'ub_byte': 'my table'}"),
        ({"core_num_aic": 0, "core_num_aiv": 0}, "core_num_aic = 0 and core_num_aiv = 0"),
    ],
)
def test_a_value_that_cannot_be_names_the_field_and_the_figures(changes, text):
    """Negative, zero, of another type, or two that do not fit each other."""
    with pytest.raises(ChipError) as caught:
        replace(ASCEND910B3, **changes)
    assert text in caught.value.what


@pytest.mark.parametrize("value", [-1, 0.5, None])
def test_a_time_is_nanoseconds(value):
    """Whole and not negative; the text names the step."""
    with pytest.raises(ChipError, match=f"has the time event_ns = {value}") as caught:
        Latencies(event_ns=value)
    assert (caught.value.id, caught.value.where) == ("chip.field", "Latencies")


def test_every_field_is_described():
    """The table has each field of a chip, and no other."""
    assert set(FIGURES) == {f.name for f in fields(Chip)}


def test_chips_can_be_copied():
    """A check of names does not stand in the way of copy and pickle."""
    chip = replace(ASCEND910B3, sources={})
    assert copy.copy(chip) == copy.deepcopy(chip) == pickle.loads(pickle.dumps(chip)) == chip


def test_figures_without_a_source_are_listed():
    """Everything but names when nothing is said; nothing for our own chips."""
    assert set(replace(ASCEND910B3, sources={}).unsourced) == set(FIGURES) - NOT_FIGURES
    assert replace(ASCEND910B3, sources={**ASCEND910B3.sources, "arch": ""}).unsourced == ("arch",)
    assert not any(chip.unsourced for chip in PluginHost().chips.values())


def test_950_and_350_count_credits_from_zero():
    """A fact of the chip, not of a list of products."""
    assert all(chip.credit_from_zero for chip in CHIPS_950)
    assert not ASCEND910B3.credit_from_zero


def test_an_unknown_family_names_chip_plugin_and_hook():
    """Whoever makes a device is told who supplies the chip, which families there are, and where layouts belong."""
    plugin = Plugin(lambda: replace(ASCEND910B3, name="odd-one", family="odd"))
    host = PluginHost([plugin])
    with pytest.raises(PluginError) as caught:
        Device("odd-one", plugins=host)
    error = caught.value
    assert (error.id, error.where) == ("chip.no-layouts", "chip odd-one, from plugin Plugin (given by the caller)")
    assert error.what == "the family 'odd' of its entries is not known"
    assert "sqemu_structs" in error.remedy
    assert error.remedy.endswith("use one of the families v100, v200, v201, arch9201")


def test_a_family_without_the_layouts_of_the_machine_says_which():
    """`runtime` has layouts, but none of queue entries."""
    with pytest.raises(PluginError, match="has no layout SqeHeader, CqeError, CommonSqe") as caught:
        Device(replace(ASCEND910B3, name="mine", family="runtime"))
    assert caught.value.where == "chip mine"


def test_a_chip_that_cannot_be_ends_with_its_own_error_when_it_was_given():
    """The text of the chip, not that of a hook that raised."""
    with pytest.raises(ChipError, match="lacks product"):
        _ = PluginHost([Plugin(lambda: Chip(name="half"))]).chips


PLUGIN = """
from dataclasses import replace
from emu_core import Chip, hookimpl
from emu_plugins.chips.ascend910b import ASCEND910B3

CHIP = {made}

@hookimpl
def sqemu_chips():
    return [CHIP]
"""


@pytest.fixture
def sqemu(tmp_path, capsys):
    """The command with a plugin file whose chip is made by an expression; exit code and everything printed."""

    def call(made, *args):
        path = tmp_path / "odd_chip.py"
        path.write_text(PLUGIN.format(made=made))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main([*args, "--plugin", str(path)])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return stopped.value.code or 0, found.out + found.err

    return call


EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
SCALE = (str(EXAMPLES / "scale.json"), "--plugin", str(EXAMPLES / "scale_plugin.py"))


def test_the_command_says_what_is_missing_in_a_file(sqemu):
    """No remedy about names of modules."""
    code, text = sqemu("Chip(name='half', product='H', family='v100')", "chips")
    assert code == 2
    assert "chip half: lacks arch (architecture number; number)" in text
    assert "module name" not in text


def test_check_says_what_is_wrong_with_the_family(sqemu):
    """The check of what is supplied does not break on it."""
    code, text = sqemu("replace(ASCEND910B3, name='odd-one', family='odd')", "check", *SCALE, "--chip", "odd-one")
    assert code == 2
    assert "chip.no-layouts" in text
    assert "check-raised" not in text


def test_check_and_chips_tell_of_figures_without_a_source(sqemu):
    """A warning that names the figures, and a remark where the source would stand."""
    made = "replace(ASCEND910B3, name='bare', sources={'arch': 'my table'})"
    code, text = sqemu(made, "check", *SCALE, "--chip", "bare", "--json")
    assert code == 0
    assert "chip.no-source" in text
    assert "core_num, core_num_aic" in text
    code, text = sqemu(made, "chips", "bare")
    assert (code, text.count("my table")) == (0, 1)
    assert "no source given" in text
