"""The documents against the code: events, operators, records of plugins, tiling numbers, sources."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import emu_core
import emu_plugins
import formats
import tools
from emu_core import EVENTS, PluginHost, hookspecs
from emu_plugins.cgdr.operator import cgdr_case
from emu_plugins.cgdr.tiling import ShapeDims, select_cube_dk, tile, tiling_key_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def page(name):
    """A document."""
    return (DOCS / name).read_text(encoding="utf-8")


def sections(text, level):
    """The text below each heading of a level, by heading, up to the next heading of this or a higher one."""
    parts = re.split(rf"^(#{{2,{level}}}) (.*)$", text, flags=re.MULTILINE)
    return {
        title.strip().strip("`"): body
        for mark, title, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        if len(mark) == level
    }


def first_cells(body):
    """The first cells in code of all table rows of a section, in order."""
    return re.findall(r"^\| `([^`]+)` \|", body, re.MULTILINE)


class TestTrace:
    def test_every_event_has_a_section(self):
        """The sections of docs/trace.md are the declared events."""
        assert set(sections(page("trace.md"), 3)) == {event.name for event in EVENTS}

    @pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
    def test_fields_and_level(self, event):
        """Each section lists exactly the fields of its event but time and run, and names the level."""
        body = sections(page("trace.md"), 3)[event.name]
        assert sorted(first_cells(body)) == sorted(set(event.__struct_fields__) - {"time", "run"})
        assert body.strip().startswith(f"Level {event.level}.")

    def test_common_fields(self):
        """Time and run are described once."""
        assert first_cells(sections(page("trace.md"), 2)["Every event"].partition("\n### ")[0]) == ["time", "run"]


class TestOperators:
    HOST = PluginHost()

    def test_every_operator_has_a_section(self):
        """The sections of docs/operators.md are the registered operators."""
        assert set(sections(page("operators.md"), 2)) == set(self.HOST.operators)

    @pytest.mark.parametrize("type_", sorted(HOST.operators))
    def test_inputs_outputs_attributes(self, type_):
        """Each section has a row per input, output and attribute, with element types, default and alias."""
        spec, body = self.HOST.operators[type_], sections(page("operators.md"), 2)[type_]
        rows = re.findall(r"^\| (input|output|attribute) ?(\d*) \| `(\w+)`( \(optional\))? \|(.*)$", body, re.MULTILINE)
        found = [(kind, name, bool(optional)) for kind, _, name, optional, _ in rows]
        assert found == [
            *(("input", i.name, i.optional) for i in spec.inputs),
            *(("output", o.name, False) for o in spec.outputs),
            *(("attribute", a.name, False) for a in spec.attrs),
        ]
        text = {name: rest for _, _, name, _, rest in rows}
        assert all(any(dtype in text[i.name] for dtype in i.dtypes) or "as x" in text[i.name] for i in spec.inputs)
        assert all(str(a.default) in text[a.name] for a in spec.attrs)
        assert not spec.alias or f"`{spec.alias}`" in body


RECORDS = (
    "OperatorSpec", "InputSpec", "OutputSpec", "AttrSpec", "TensorInfo", "Case", "KernelSpec", "Cost", "KernelLaunch",
    "StorageShape", "TensorDesc", "PlatformInfo", "PolicySpec", "PassSpec", "PassInput", "ImporterSpec", "DumpView",
    "DumpEntry", "ObserverSpec", "Observed", "CommandSpec",
)  # fmt: skip


class TestPlugins:
    @pytest.mark.parametrize("name", RECORDS)
    def test_records(self, name):
        """Each record's table has its fields in order, with a default where the field has one."""
        body = sections(page("plugins.md"), 3)[name]
        rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|.*\|$", body, re.MULTILINE)
        fields = dataclasses.fields(getattr(emu_core, name))
        assert [field for field, _ in rows] == [f.name for f in fields]
        needed = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
        assert [field for field, default in rows if not default.strip()] == needed

    def test_the_tiling_context(self):
        """Every member of the tiling context is in its table."""
        body = sections(page("plugins.md"), 3)["TilingContext"]
        members = [name for name in vars(emu_core.TilingContext) if not name.startswith("_")]
        assert [name for name in members if f"`{name}" not in body] == []

    def test_every_hook(self):
        """Every hook is in the table, with its arguments."""
        shown = sections(page("plugins.md"), 2)["Hooks"]
        for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
            if name.startswith("sqemu_"):
                assert f"`{name}({', '.join(inspect.signature(hook).parameters)})`" in shown


class TestCgdr:
    BY_HAND = tile(
        ShapeDims(t=192, hqk=8, dk=80, hv=8, dv=80, batch=1),
        cores=8,
        ub_bytes=262144,
        has_gamma=True,
        scale_value=80**-0.5,
    )

    def test_the_example_by_hand(self):
        """The bytes of the worked example are those of the tiling, term by term."""
        body = sections(page("cgdr.md"), 2)["Tiling"].partition("**By hand**")[2]
        rows = re.findall(r"^\| ([a-zA-Z ]+) \|[^|]+\| ([\d ]+) \|$", body, re.MULTILINE)
        found = [(name, int(number.replace(" ", ""))) for name, number in rows]
        assert found == [(term.name, term.bytes) for term in self.BY_HAND.tbuf_terms()]
        assert sum(number for _, number in found) == 125312

    def test_the_debug_line(self):
        """The debug line that is shown is the one of the example, and each of its fields is explained."""
        text = page("cgdr.md")
        assert self.BY_HAND.debug_line() in text
        body = sections(text, 3)["The debug line"]
        shown = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|.*", body, re.MULTILINE)))
        assert set(re.findall(r"(\w+)=", self.BY_HAND.debug_line())) <= set(shown)

    def test_the_bucket_table(self):
        """At both ends of every range the bucket and the key are those of the tiling."""
        rows = re.findall(r"^\| (\d+) to (\d+) \| (\d+) \| \d+ \| (\d) \|$", page("cgdr.md"), re.MULTILINE)
        assert len(rows) == 4
        for first, last, bucket, key in rows:
            for dk in (int(first), int(last)):
                assert (select_cube_dk(dk), tiling_key_of(dk)) == (int(bucket), int(key))
        assert "| above 128 | none | ⌈Dk⌉16 | 2 |" in page("cgdr.md")
        assert tiling_key_of(129) == 2

    def test_the_keys_of_a_case(self):
        """Every key that a case may have is in the table."""
        asked = set(re.findall(r'"(\w+)"', inspect.getsource(cgdr_case))) - {"scale_value"}
        assert asked
        assert all(f"`{name}`" in page("cgdr.md") for name in asked)


class TestSources:
    def test_every_page_that_is_cited_is_described(self):
        """Each `reference/…` page that documents or sources mention has its row."""
        folders = [DOCS, *(Path(package.__file__).parent for package in (formats, emu_core, emu_plugins, tools))]
        texts = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".md", ".py"}]
        found = (re.findall(r"reference/([a-z_]+\.md)", path.read_text(encoding="utf-8")) for path in texts)
        cited = {name for names in found for name in names}
        described = re.findall(
            r"^\| `([a-z_]+\.md)` \| [^|]+ \| [^|]*`[\w-]+/[\w.-]+`", page("sources.md"), re.MULTILINE
        )
        assert len(cited) >= 5
        assert cited - {"performance.md"} <= set(described)
        assert "| `performance.md` |" in page("sources.md")

    @pytest.mark.parametrize("name", ["cgdr.md", "compiler.md"])
    def test_pages_that_cite_link_to_it(self, name):
        """A page with facts from the collections says where they are from."""
        assert "(sources.md)" in page(name)


def test_distances_in_the_compiler_page():
    """The smallest safe NOP counts are those of N + 2 > P, and of N + 1 > P without the reset."""
    rows = re.findall(r"^\| (310P|910B) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page("compiler.md"), re.MULTILINE)
    chips = {"310P": "ascend310p3", "910B": "ascend910b3"}
    assert {name for name, *_ in rows} == set(chips)
    for name, depth, nops, safe, bare in rows:
        chip = PluginHost().chip(chips[name])
        assert (int(depth), int(nops)) == (chip.prefetch_depth, chip.prefetch_num)
        assert int(safe) == min(n for n in range(100) if n + 2 > chip.prefetch_depth)
        assert int(bare) == min(n for n in range(100) if n + 1 > chip.prefetch_depth)
