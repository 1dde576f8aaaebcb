"""`sqemu chips`, `plugins` and `policies`: what is there, as tables and as JSON."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from dataclasses import fields
from types import SimpleNamespace

import pytest

from emu_core import Chip, PluginHost, PolicySpec, Scope, hookimpl
from tools import cmd_chips, cmd_policies

HEADINGS = {"name", "scope", "default", "other", "values", "what", "it", "decides", "figure", "value", "unit", "source"}
"""Words of the table's header that a block does without."""


def _narrow(monkeypatch, columns):
    """Let the listings believe in a terminal of so many columns."""
    for module in ("tools.show", "tools.cmd_policies", "tools.cmd_chips"):
        monkeypatch.setattr(f"{module}.width", lambda: columns)


class TestChips:
    def test_list(self, sqemu):
        """Every chip has a line with product, cores, UB and the NOP counts of seed and platform file."""
        lines = sqemu("chips").out.splitlines()
        line = next(x for x in lines if "ascend310p3" in x)
        assert line.split()[:5] == ["ascend310p3", "310P", "v100", "8", "fused"]
        assert "256" in line
        assert "5 / 10" in line

    def test_json(self, sqemu):
        """One object per chip with every figure as a number, latencies and sources nested."""
        found = {c["name"]: c for c in sqemu("chips", "--json").objects}
        assert set(found) == set(PluginHost().chips)
        chip = found["ascend310p3"]
        assert (chip["ub_bytes"], chip["prefetch_num"], chip["platform_prefetch_num"]) == (262144, 5, 10)
        assert chip["soc_name"] == "Ascend310P3"
        assert chip["latencies"]["update_ns"] == 2000
        assert {f.name for f in fields(Chip)} <= set(chip)

    def test_one(self, sqemu):
        """One chip shows each figure with unit and source, and its latencies."""
        out = sqemu("chips", "ASCEND910B3").out
        line = next(x for x in out.splitlines() if x.split()[:1] == ["ub_bytes"])
        assert line.split()[1:3] == ["196608", "bytes"]
        assert "platform file" in line
        assert "Latencies: modelled" in out
        assert [c["name"] for c in sqemu("chips", "ascend910b3", "--json").objects] == ["ascend910b3"]

    def test_every_figure_has_a_source(self):
        """No figure of a built-in chip lacks its source."""
        bare = {"name", "soc_name", "product", "family", "fused_cores", "latencies", "sources"}
        for chip in PluginHost().chips.values():
            assert not {f.name for f in fields(chip)} - bare - set(chip.sources)

    def test_unknown(self, sqemu):
        """An unknown chip is exit 2 with the known names."""
        found = sqemu("chips", "ascend9", "--json")
        assert (found.code, found.error["error"]) == (2, "chip.unknown")
        assert "ascend310p3" in found.error["remedy"]


class TestNarrowTerminals:
    @pytest.mark.parametrize("columns", [80, 100, 40])
    @pytest.mark.parametrize("name", ["policies", "chips"])
    def test_nothing_is_dropped(self, sqemu, monkeypatch, name, columns):
        """In few columns every word of the wide table is still there, no line is too long and no word is cut."""
        wide = set(re.findall(r"[\w./]+", sqemu(name).out))
        _narrow(monkeypatch, columns)
        out = sqemu(name).out
        assert wide - set(re.findall(r"[\w./]+", out)) <= HEADINGS
        assert "…" not in out
        listed = out.split("\n\n")[0]
        assert max(len(line) for line in listed.splitlines()) <= columns

    def test_descriptions_stand_below_the_name(self, sqemu, monkeypatch):
        """At 80 columns a policy is its name, its description and its values, each on lines of its own."""
        _narrow(monkeypatch, 80)
        lines = sqemu("policies").out.splitlines()
        at = lines.index("wait_reset  (load)")
        assert lines[at + 1].startswith("    ")
        assert "default: on; or: off" in " ".join(lines[at + 1 : at + 4])

    def test_a_wide_terminal_has_the_table(self, sqemu, monkeypatch):
        """With room for it the table stays, its last column wrapped within the terminal."""
        _narrow(monkeypatch, 160)
        lines = sqemu("policies").out.splitlines()
        assert lines[0].split()[:2] == ["name", "scope"]
        assert max(map(len, lines)) <= 160
        assert sqemu("chips").out.splitlines()[0].split()[:2] == ["name", "product"]

    @pytest.mark.parametrize("columns", [60, 80, 100])
    def test_one_chip(self, sqemu, monkeypatch, columns):
        """Every figure of one chip keeps its value, unit and source at any width."""
        wide = set(re.findall(r"[\w./]+", sqemu("chips", "ascend310p3").out))
        _narrow(monkeypatch, columns)
        out = sqemu("chips", "ascend310p3").out
        assert wide - set(re.findall(r"[\w./]+", out)) <= HEADINGS
        assert "262144 bytes" in " ".join(out.split())

    def test_one_policy(self, sqemu, monkeypatch):
        """The text of one policy is wrapped under itself."""
        _narrow(monkeypatch, 60)
        lines = sqemu("policies", "reexecute_keeps_patch").out.splitlines()
        assert max(map(len, lines)) <= 60
        assert sum(line.startswith(" " * 16) for line in lines) >= 2


class TestPlugins:
    def test_list(self, sqemu):
        """Each installed plugin is listed with distribution and hooks."""
        out = sqemu("plugins", "list").out
        for name in ("chips", "compiler", "engines", "runtime", "tiling"):
            assert any(line.split()[:2] == [name, "ok"] for line in out.splitlines())

    def test_json(self, sqemu):
        """One object per plugin: name, origin, hooks, and an empty reason when it works."""
        found = {p["name"]: p for p in sqemu("plugins", "list", "--json").objects}
        assert "sqemu_chips" in found["chips"]["hooks"]
        assert found["chips"]["origin"].startswith("sqemu ")
        assert all(p["broken"] == "" for p in found.values())

    def test_left_out(self, sqemu):
        """A plugin that was left out is not listed."""
        found = sqemu("plugins", "list", "--json", "--no-plugin", "cgdr").objects
        assert "cgdr" not in {p["name"] for p in found}

    def test_broken_and_clashing(self, sqemu, monkeypatch):
        """A plugin that raises is listed with its reason, and so is one whose chip has a name of ours; ours stays."""

        class Broken:
            @hookimpl
            def sqemu_policies(self):
                raise RuntimeError("no luck")

        class Clash:
            @hookimpl
            def sqemu_chips(self):
                return [chip]

        chip = PluginHost().chips["ascend310p3"]
        installed = importlib.metadata.entry_points(group="sqemu.plugins")
        more = [SimpleNamespace(name=c.__name__, dist=None, value="test", load=c) for c in (Broken, Clash)]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [*installed, *more])
        found = sqemu("plugins", "list")
        assert found.code == 0
        assert "RuntimeError: no luck" in found.out
        assert "chip 'ascend310p3' comes from both chips and Clash; the one of the product stays" in found.out
        assert sqemu("chips", "ascend310p3").code == 0

    def test_group(self, sqemu):
        """Without a subcommand the group shows its help, exit 2."""
        assert sqemu("plugins").code == 2
        assert sqemu("plugins", "lst").code == 2


class TestPolicies:
    def test_list(self, sqemu):
        """Each policy has a line with scope, default and other values."""
        line = next(x for x in sqemu("policies").out.splitlines() if "nop_count" in x)
        assert line.split()[:3] == ["nop_count", "compile", "seed"]
        assert "platform, 0 to 4096" in line

    def test_json(self, sqemu):
        """One object per policy; a largest number only where numbers are allowed."""
        found = {p["name"]: p for p in sqemu("policies", "--json").objects}
        assert set(found) == {spec.name for spec in PluginHost().policy_specs}
        assert found["stale_prefetch"] == {
            "name": "stale_prefetch",
            "scope": "device",
            "default": "execute_copy",
            "values": ["execute_copy", "fault", "refetch"],
            "number": False,
            "largest": None,
            "summary": found["stale_prefetch"]["summary"],
        }
        assert found["nop_count"]["largest"] == 4096

    def test_one(self, sqemu):
        """One policy says what it decides and where it is given."""
        out = sqemu("policies", "wait_reset").out
        assert "other values  off" in out
        assert "given to      sqemu run" in out
        assert [p["name"] for p in sqemu("policies", "wait_reset", "--json").objects] == ["wait_reset"]

    def test_unknown(self, sqemu):
        """An unknown policy is exit 2 with the nearest names, or all of them."""
        found = sqemu("policies", "nop_cnt", "--json")
        assert (found.code, found.error["error"]) == (2, "policy.unknown")
        assert "nop_count" in found.error["remedy"]
        assert "wait_reset" in sqemu("policies", "~").err

    def test_every_scope_says_where(self):
        """Each scope has a text on where its policies are given."""
        for scope in Scope:
            cmd_policies._full(PolicySpec("p", scope, "a", ("a", "b"), "s"))


def test_numbers_stay_numbers():
    """The record of a chip holds no text where the chip holds a number."""
    chip = PluginHost().chips["ascend910b3"]
    values = cmd_chips.record(chip)
    assert all(type(values[f.name]) is type(getattr(chip, f.name)) for f in fields(chip) if f.name in values
               and f.name not in {"latencies", "sources"})  # fmt: skip


@pytest.mark.parametrize("name", ["dump", "chips", "plugins", "policies", "explain"])
def test_help_is_quick(name):
    """`--help` of these commands imports neither numpy nor structlog nor rich."""
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tools.cli", name, "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    names = {line.rsplit("|", 1)[-1].strip() for line in found.stderr.splitlines() if "|" in line}
    assert found.returncode == 0
    assert not names & {"numpy", "structlog", "rich"}
