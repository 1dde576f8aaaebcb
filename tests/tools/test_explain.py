"""`sqemu explain`: every code and id is explained, and queries find what they mean."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import emu_core
import emu_plugins
import formats
import tools
from emu_core import PluginHost, codes, hookimpl
from emu_core.trace import EVENTS
from tools.explanations.acl import ACL
from tools.explanations.catalog import Catalog
from tools.explanations.ids import IDS
from tools.explanations.messages import MESSAGES
from tools.explanations.text import parse
from tools.explanations.ts import TS
from tools.explanations.ts_full import FULL

SOURCES = [
    path
    for package in (formats, emu_core, emu_plugins, tools)
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
    if "explanations" not in str(path)
]
"""Every module of the product, but those that explain."""
ID = re.compile(r"[a-z]+\.[a-z][a-z0-9-]*|E[E0-9]\d{4}|[125]0[07]\d{3}")


def literals():
    """Every text in the source that looks like an id, with the place of its first use."""
    found = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
                found.setdefault(node.value, f"{path.name} line {node.lineno}")
    return found


def keyword_ids():
    """Every text passed as `id=`."""
    return {
        keyword.value.value
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "id" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }


@pytest.fixture(scope="module")
def catalog():
    """Everything, with the texts of the installed plugins."""
    return Catalog(PluginHost().each("sqemu_explanations"))


class TestEverythingIsExplained:
    def test_ids_given_by_keyword(self, catalog):
        """Each id that any error, hazard or fault is raised with is explained."""
        ids = keyword_ids()
        assert len(ids) > 60
        assert not [each for each in sorted(ids) if not catalog.find(each)]

    def test_ids_given_by_position(self, catalog):
        """Each text that begins like an explained family of ids is explained, too."""
        other = {event.name for event in EVENTS} | {p.name for p in PluginHost().policy_specs}
        families = {each.partition(".")[0] for each in keyword_ids() if "." in each}
        files = (".sqt", ".json", ".bin")
        texts = {text: place for text, place in literals().items() if not text.endswith(files)}
        used = {text: place for text, place in texts.items() if text.partition(".")[0] in families}
        assert len(used) > 100
        assert not {t: p for t, p in used.items() if t not in other and not catalog.find(t)}

    def test_nothing_else_is_explained(self):
        """An own explanation belongs to an id that the source still has."""
        source = "\n".join(path.read_text() for path in SOURCES)
        assert not [each for each in IDS if f'"{each}"' not in source]

    def test_codes_of_the_core(self):
        """Each vendor code the core knows has cause and action."""
        assert set(codes.TS_NAMES) == set(FULL)
        assert set(codes.ACL_NAMES) == set(ACL)
        assert all(parts.cause and parts.action for parts in (*FULL.values(), *ACL.values(), *MESSAGES.values()))

    def test_all_task_scheduler_codes(self):
        """The list of `sqe_formats.md` 12 has 205 codes: its ends and gaps are right."""
        assert len(TS) == 205
        assert (TS[0][0], TS[0x91][0], TS[0x914][0]) == (
            "SUCCESS",
            "MODEL_STREAM_EXE_FAILED",
            "LOG_DEAMON_CORE_POOLING_STATUS_FAIL",
        )
        assert not {0x4A, 0x4F, 0x5E, 0x6F, 0x9A, 0xFF, 0x118, 0x21A, 0x229, 0x915} & set(TS)
        assert all(meaning for _, meaning in TS.values())

    def test_message_ids(self):
        """The message ids a user may meet are there."""
        wanted = "E10001 E10006 E19999 EE1001 EE1003 EE1004 EE1005 EE1006 EE1007 EE1009 EE1013 EE1017 EE1018 EE1019"
        assert set(f"{wanted} EE1023 EE4002 EE9999".split()) == set(MESSAGES)

    def test_every_own_id_has_all_parts(self):
        """Meaning, cause and action are given for each own id."""
        assert all(parts.meaning and parts.cause and parts.action for parts in IDS.values())


class TestQueries:
    @pytest.mark.parametrize(
        "query", ["0x91", "TS 0x91", "TS0x91", "ts_0X91", "retCode=0x91", "MODEL_STREAM_EXE_FAILED"]
    )
    def test_task_scheduler_code(self, catalog, query):
        """A TS code is found by number and by name, in any case."""
        assert [each.code for each in catalog.find(query)] == ["TS 0x91"]

    @pytest.mark.parametrize("query", ["507011", "ACL 507011", "acl:507011", "0x7bc83"])
    def test_return_code(self, catalog, query):
        """A return code is found bare, with its table, and in hexadecimal."""
        assert [each.code for each in catalog.find(query)] == ["507011"]

    @pytest.mark.parametrize("query", ["E10006", "e10006", "hazard.stale-prefetch", "HAZARD.Stale-Prefetch"])
    def test_ids(self, catalog, query):
        """Ids are found in any case."""
        assert [each.code.lower() for each in catalog.find(query)] == [query.lower()]

    def test_several_meanings(self, catalog):
        """A bare number shows all it may mean: TS code, error type bit, and the digits as hexadecimal."""
        assert [each.code for each in catalog.find("8")] == ["TS 0x8", "error type 0x8"]
        assert [each.code for each in catalog.find("91")] == ["TS 0x5b", "TS 0x91"]
        assert [each.code for each in catalog.find("0x8")] == ["TS 0x8", "error type 0x8"]

    def test_error_types(self, catalog):
        """An error type is shown bit by bit."""
        found = catalog.find("error type 0x9")
        assert [each.value for each in found] == [1, 8]
        assert "SQE error" in found[1].meaning
        assert catalog.find("error type 0x80") == []

    @pytest.mark.parametrize("query", ["", "0x", "-1", "9" * 40, "TS", "0x99999", "foo 0x91", "ACL 0x91", "²"])
    def test_nothing(self, catalog, query):
        """What means nothing finds nothing."""
        assert catalog.find(query) == []

    def test_bare_exception_names(self, catalog):
        """The prefixes TS_ and ERROR_ of a name may be left out."""
        for name in ("TS_ERROR_AICORE_EXCEPTION", "AICORE_EXCEPTION", "error_aicore_exception"):
            assert [each.value for each in catalog.find(name)] == [0x26]


class TestPlugins:
    def test_texts_are_merged(self):
        """A plugin's text makes a new entry, or stands beside one that is there."""

        class Extra:
            @hookimpl
            def sqemu_explanations(self):
                return {"edu.broken": "The teaching chip is broken.", "EE1019": "Said by the plugin."}

        catalog = Catalog(PluginHost([Extra()]).each("sqemu_explanations"))
        assert catalog.find("EDU.broken")[0].meaning == "The teaching chip is broken."
        known = catalog.find("EE1019")[0]
        assert (known.meaning, known.also) == ("a stream of a model is full", "plugin Extra: Said by the plugin.")

    def test_an_entry_names_its_plugin_and_what_to_do(self):
        """The kind names the plugin; a text without `do:` sends the reader to the plugin's author."""
        texts = {"a.full": "What it is.\nIt goes on.\ncause: Haste.\ndo: Wait\n  a while.", "a.bare": "What it is."}
        catalog = Catalog([("edu", texts)])
        (full,), (bare,) = catalog.find("a.full"), catalog.find("a.bare")
        assert full.kind == bare.kind == "id of plugin edu"
        assert (full.meaning, full.cause, full.action) == ("What it is. It goes on.", "Haste.", "Wait a while.")
        assert "author of plugin edu" in bare.action

    def test_two_plugins_about_one_id(self):
        """What a second and a third plugin say stands beside the first, each with its name."""
        catalog = Catalog(
            [("one", {"a.b": "First."}), ("two", {"a.b": "Second.\ndo: Act."}), ("three", {"a.b": "Third."})]
        )
        (found,) = catalog.find("a.b")
        assert (found.meaning, found.also) == ("First.", "plugin two: Second. Act. plugin three: Third.")

    def test_every_id_of_an_installed_plugin_says_what_to_do(self, catalog):
        """No built-in plugin leaves its reader without an action."""
        listed = [each for each in catalog if each.kind.startswith("id of plugin")]
        assert {each.kind.split()[-1] for each in listed} >= {"cgdr", "compiler", "kernels"}
        assert not [each.code for each in listed if not each.action or "Ask the author" in each.action]

    def test_texts_of_the_compiler(self, catalog):
        """The compiler's own texts are found."""
        assert "wait for each other" in catalog.find("graph.cycle")[0].meaning


class TestCommand:
    def test_text(self, sqemu):
        """The text says code, name, meaning, cause and action."""
        out = sqemu("explain", "TS", "0x91").out
        assert out.startswith("TS 0x91  MODEL_STREAM_EXE_FAILED  (task scheduler code)")
        for label in ("  means  ", "  cause  ", "  do     "):
            assert label in out
        assert "507011" in out

    def test_json(self, sqemu):
        """With --json each meaning is one object."""
        found = sqemu("explain", "8", "--json").objects
        assert [each["value"] for each in found] == [8, 8]
        assert set(found[0]) == {"code", "kind", "meaning", "name", "cause", "action", "also", "value"}

    def test_unknown(self, sqemu):
        """An unknown code ends with exit 2 and the nearest ones."""
        found = sqemu("explain", "hazard.stale-prefech", "--json")
        assert (found.code, found.error["error"]) == (2, "explain.unknown")
        assert "hazard.stale-prefetch" in found.error["remedy"]
        assert "explain --list" in sqemu("explain", "~~").err
        assert sqemu("explain", "").code == 2

    def test_a_plugin_that_is_given(self, sqemu, tmp_path):
        """With --plugin the ids of a file are explained, under the name of the file."""
        (tmp_path / "edu_ids.py").write_text(
            "from emu_core import hookimpl\n"
            "@hookimpl\n"
            "def sqemu_explanations():\n"
            "    return {'edu.broken': 'Broken.'}\n"
        )
        assert sqemu("explain", "edu.broken").code == 2
        out = sqemu("explain", "edu.broken", "--plugin", tmp_path / "edu_ids.py").out
        assert "(id of plugin edu_ids)" in out

    def test_several_codes(self, sqemu):
        """Each of several codes is explained once, also where one of them is two or three words."""
        found = sqemu("explain", "TS", "0x91", "507011", "error", "type", "0x8", "507011", "--json").objects
        assert [each["code"] for each in found] == ["TS 0x91", "507011", "error type 0x8"]
        assert [each["code"] for each in sqemu("explain", "10 507015", "--json").objects][-1] == "507015"

    def test_numbers_are_not_run_together(self, sqemu):
        """Two numbers are two codes, not the digits of one."""
        found = {each["code"] for each in sqemu("explain", "9", "0x1", "--json").objects}
        assert {"TS 0x9", "TS 0x1"} <= found
        assert "TS 0x91" not in found

    def test_known_and_unknown(self, sqemu):
        """What is known is explained before the unknown code ends the command with exit 2."""
        found = sqemu("explain", "507011", "zork.zork")
        assert found.code == 2
        assert found.out.startswith("507011")
        assert "'zork.zork'" in found.err

    @pytest.mark.parametrize("arguments", [(), ("--list",)])
    def test_list(self, sqemu, catalog, arguments):
        """Without a code, and with --list, every code is listed under its topic."""
        out = sqemu("explain", *arguments).out
        words = " ".join(out.split())
        assert [each.code for each in catalog if each.code not in words] == []
        assert "id of plugin compiler (" in out
        assert out.index("id of sqemu") < out.index("task scheduler code (205)")
        assert "\xa0" not in out

    def test_list_as_json(self, sqemu, catalog):
        """With --json the list has one object per code, as a single explanation has."""
        assert [each["code"] for each in sqemu("explain", "--json").objects] != []
        assert {each["code"] for each in sqemu("explain", "--list", "--json").objects} == {e.code for e in catalog}

    @pytest.mark.parametrize("code", ["507014", "507015", "507018", "507036", "507050"])
    def test_codes_of_single_tasks(self, catalog, code):
        """A task's own code is shown beside 507011, which synchronising reports inside a model."""
        (found,) = catalog.find(f"ACL {code}")
        assert "507011" in found.action
        assert "no model" not in found.cause

    def test_distance_of_a_stale_kernel(self, catalog):
        """The hazard says where the 2 of the distance comes from, and what changes without the reset."""
        (found,) = catalog.find("hazard.stale-prefetch")
        for words in ("the wait itself", "reset", "wait_reset=off", "NOPs + 1", "4 on 310P", "7 on 910B"):
            assert words in found.action


class TestTableText:
    def test_parts(self):
        """Parts go on in deeper lines; headings and empty lines are skipped."""
        found = parse("# heading\n\nx.y\n  means  a\n         b\n  do     c\n")
        assert (found["x.y"].meaning, found["x.y"].cause, found["x.y"].action) == ("a b", "", "c")

    @pytest.mark.parametrize("text", ["x\n  why  a", "x\n     a"])
    def test_bad_lines(self, text):
        """A line that is neither code nor part is an error."""
        with pytest.raises(ValueError, match="not a line"):
            parse(text)
