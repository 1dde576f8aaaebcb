"""Declarations of events: names, fields, units, meanings, the schema of a line, and the page that shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import pytest

from emu_core.event_fields import common_fields, declaration, declared_events, line_schema
from emu_core.lines import line
from emu_core.trace import EVENTS, CellWritten, Event, Patched

PAGE = (Path(__file__).parents[2] / "docs/trace.md").read_text()


class Sampled(Event, frozen=True, gc=False, kw_only=True):
    """A reading of a sensor, which says how hot it is."""

    name: ClassVar[str] = "edu.sampled"
    level: ClassVar[str] = "debug"

    heat: Annotated[int, msgspec.Meta(description="how hot", extra={"unit": "mK"})]
    stream: int | None = None
    ok: bool = True
    share: float = 0.5
    many: tuple[int, ...] = ()


class TestDeclaration:
    def test_patch_says_what_an_audit_needs(self):
        """A patch carries place, struct, field, bits, values, key, row and writer, in this order."""
        assert [each.name for each in declaration(Patched).fields] == [
            "stream", "slot", "task", "node", "model_task", "struct", "field", "bit_offset", "bit_width", "before",
            "after", "writer_stream", "writer_task", "engine", "tiling_key", "table_row",
        ]  # fmt: skip

    def test_types_and_units(self):
        """Types are told as in JSON, with null where a field may be absent; units as the page has them."""
        fields = {each.name: each for each in declaration(Patched).fields}
        assert (fields["tiling_key"].type, fields["before"].type, fields["struct"].type) == (
            "int or null",
            "int",
            "str",
        )
        assert (fields["bit_width"].unit, fields["table_row"].unit, fields["stream"].unit) == ("bits", "rows", "")

    @pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.name)
    def test_every_field_has_a_meaning(self, kind):
        """No event of the machine has a field without a meaning, and each says in a sentence what it tells."""
        about = declaration(kind)
        assert all(each.meaning for each in about.fields)
        assert about.meaning.endswith(".")

    def test_event_of_a_plugin(self):
        """An event that a plugin declares is listed behind ours, with what its annotations say."""
        assert Sampled in declared_events()
        assert declared_events()[: len(EVENTS)] == EVENTS
        about = declaration(Sampled)
        assert (about.name, about.level, about.meaning) == (
            "edu.sampled",
            "debug",
            "A reading of a sensor, which says how hot it is.",
        )
        heat, stream, ok, share, many = about.fields
        assert (heat.type, heat.unit, heat.meaning) == ("int", "mK", "how hot")
        assert (stream.type, stream.meaning) == ("int or null", "stream of the entry")
        assert (ok.type, share.type, many.type) == ("bool", "float", "list")

    def test_overridden_meanings(self):
        """A field that means something else in one event says so there."""
        fields = {each.name: each for each in declaration(CellWritten).fields}
        assert fields["what"].meaning == "for example tiling key of probe0"


class TestSchema:
    @pytest.fixture
    def valid(self):
        """Whether a value is a line of a trace."""
        jsonschema = pytest.importorskip("jsonschema", reason="the dev extra has it")
        jsonschema.Draft202012Validator.check_schema(line_schema())
        return jsonschema.Draft202012Validator(line_schema()).is_valid

    def test_lines_match(self, valid):
        """The line of a patch matches the schema, with keys that are absent, and with keys beyond it."""
        patch = Patched(
            time=1, run=1, stream=0, slot=7, task=7, struct="S", field="f", bit_offset=0, bit_width=8, before=0,
            after=1, writer_stream=1, writer_task=1, engine="task_update",
        )  # fmt: skip
        values = json.loads(line(patch))
        assert valid(values)
        assert values["tiling_key"] is None
        assert valid({**values, "device": "ascend310p3"})

    def test_others_do_not(self, valid):
        """Another level, a text for a number, a missing field, and an event that nobody declares do not match."""
        good = {"event": "model", "level": "info", "time": 1, "run": 1, "model": 0, "phase": "end"}
        assert valid(good)
        for wrong in ({"level": "debug"}, {"time": "1"}, {"event": "modal"}, {"phase": None}):
            assert not valid({**good, **wrong})
        assert not valid({name: value for name, value in good.items() if name != "phase"})


class TestPage:
    @pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.name)
    def test_docs_have_every_field(self, kind):
        """`docs/trace.md` shows each event with its level, and its fields with type and unit, in order."""
        section = PAGE.split(f"### `{kind.name}`\n")[1].split("\n### ")[0]
        assert f"Level {kind.level}." in section
        rows = re.findall(r"^\| `(\w+)` \| ([\w ]+?) \| ?([\w ]*?) ?\|", section, re.MULTILINE)
        assert rows == [(each.name, each.type, each.unit) for each in declaration(kind).fields]

    def test_docs_have_the_common_fields(self):
        """The page begins with the fields of all events."""
        rows = re.findall(r"^\| `(time|run)` \| (\w+) \| ?([\w ]*?) ?\|", PAGE, re.MULTILINE)
        assert rows == [(each.name, each.type, each.unit) for each in common_fields()]
