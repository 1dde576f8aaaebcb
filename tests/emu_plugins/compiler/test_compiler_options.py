"""Options (`reference/tiling_sink_compiler.md` 2): legal values, codes, precedence."""

from __future__ import annotations

import pytest

from emu_core.errors import GraphError, OptionError
from emu_core.graph import CompileOptions
from emu_plugins.compiler.options import resolve_options
from emu_plugins.compiler.report import Report

KEY, MODE, OM2 = "ge.tiling_schedule_optimize", "ge.buildGraphMode", "ge.offlineMode"


def resolve(flag=None, options=None, graph=None, offline=None):
    """The options in force."""
    return resolve_options(CompileOptions(options or {}, flag, offline), graph or {}, Report())


BAD = ["true", "1 ", "01", "invalid", "2", "-1", " 1", "１", "True"]


@pytest.mark.parametrize("value", BAD)
def test_command_line_refuses(value):
    """A bad flag is E10006, compared as an exact string."""
    with pytest.raises(OptionError) as caught:
        resolve(flag=value)
    assert (caught.value.id, caught.value.where) == ("E10006", "--tiling_schedule_optimize")
    assert "1 or 0" in caught.value.remedy


@pytest.mark.parametrize("level", ["options", "graph"])
@pytest.mark.parametrize("value", BAD)
def test_other_levels_refuse(level, value):
    """A bad value of `--option` or of the graph is E10001 and names the key."""
    with pytest.raises(OptionError) as caught:
        resolve(**{level: {KEY: value}})
    assert caught.value.id == "E10001"
    assert KEY in caught.value.where


@pytest.mark.parametrize(("value", "on"), [("", False), ("0", False), ("1", True)])
@pytest.mark.parametrize("level", ["flag", "options", "graph"])
def test_legal_values(level, value, on):
    """Empty and 0 are off, 1 is on, at each level."""
    assert resolve(**{level: value if level == "flag" else {KEY: value}}).tiling_schedule_optimize is on


def test_absent_is_off():
    """Nothing given means "0"."""
    assert not resolve().tiling_schedule_optimize


@pytest.mark.parametrize(
    ("flag", "option", "graph", "on", "level"),
    [
        ("0", "1", "1", False, "command line"),
        ("1", "0", "0", True, "command line"),
        (None, "1", "0", True, "option"),
        (None, "0", "1", False, "option"),
        (None, None, "1", True, "graph option"),
        ("", "1", "1", False, "command line"),
    ],
)
def test_precedence(flag, option, graph, on, level):
    """The command line beats an option, and an option beats the graph."""
    found = resolve(flag, {KEY: option} if option is not None else {}, {KEY: graph})
    assert (found.tiling_schedule_optimize, found.given_by) == (on, level)


def test_lower_level_is_checked_too():
    """A bad value in the graph is refused even when the command line overrides it."""
    with pytest.raises(OptionError, match="valid range"):
        resolve("1", {}, {KEY: "yes"})


@pytest.mark.parametrize(
    ("forced", "option", "graph", "offline"),
    [
        (None, None, None, True), (None, None, "online", False), (None, None, "offline", True),
        (None, "offline", "online", True), (None, "online", "offline", False), (True, "online", "online", True),
        (False, "offline", "offline", False),
    ],
)  # fmt: skip
def test_offline(forced, option, graph, offline):
    """Building is offline by default; the caller beats the option, the option beats the graph."""
    options = {MODE: option} if option else {}
    assert resolve(None, options, {MODE: graph} if graph else {}, forced).offline is offline


def test_bad_build_mode():
    """The build mode has two values."""
    with pytest.raises(OptionError) as caught:
        resolve(options={MODE: "Offline"})
    assert caught.value.id == "E10001"


@pytest.mark.parametrize("value", ["", "0", "1"])
@pytest.mark.parametrize("level", ["flag", "options", "graph"])
def test_om2_refuses_the_option(level, value):
    """With OM2 output the option is refused with any value, at any level."""
    om2 = {OM2: "7"}
    given = {"flag": (value, om2, {}), "options": (None, {**om2, KEY: value}, {}), "graph": (None, om2, {KEY: value})}
    with pytest.raises(OptionError, match="om2") as caught:
        resolve(*given[level])
    assert caught.value.id == "E10001"


def test_om2_without_the_option():
    """OM2 output alone is fine."""
    assert not resolve(options={OM2: "7"}).tiling_schedule_optimize


def test_unknown_key_warns(lab):
    """A key that is not on the list of a level only warns, with the likely meaning."""
    graph = lab.one() | {"options": {"ge.tiling_schedule_optimise": "1"}}
    warnings = lab.compile(graph, options={"ge.other": "x"}).warnings
    assert any("ge.other" in line for line in warnings)
    assert any("did you mean 'ge.tiling_schedule_optimize'" in line for line in warnings)


def test_graph_option_turns_sink_on(lab):
    """The graph's own option reaches the gates."""
    assert lab.compile(lab.one() | {"options": {KEY: "1"}}, sink=None).blob.ops[0].sink


def test_option_must_be_a_string(lab):
    """A number in the graph's options is refused with the text to write."""
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.one() | {"options": {KEY: 1}})
    assert [(p.id, p.where, p.remedy) for p in caught.value.problems] == [("graph.type", f"options.{KEY}", 'write "1"')]


@pytest.mark.parametrize(
    ("given", "id_"), [({"nop_count": "4097"}, "policy.value"), ({"nop_counts": "1"}, "policy.unknown")]
)
def test_bad_policy(lab, given, id_):
    """A policy that does not exist or a value that is not allowed is an option error."""
    with pytest.raises(OptionError) as caught:
        lab.compile(lab.one(), policies=given)
    assert caught.value.id == id_


def levels(session=None, global_=None, offline=None, **given):
    """The options in force with those of the session and the process."""
    options = CompileOptions(
        given.get("options", {}),
        given.get("flag"),
        offline,
        session_options=session or {},
        global_options=global_ or {},
    )
    return resolve_options(options, given.get("graph", {}), Report())


ORDER = ("command line", "option", "graph option", "session option", "global option")


@pytest.mark.parametrize("first", range(5))
def test_the_first_level_that_gives_a_value_wins(first):
    """Command line, option, graph, session, process: a level beats all behind it, even with "0" against "1"."""
    values = [None] * first + ["0"] + ["1"] * (4 - first)
    flag, option, graph, session, global_ = values

    def given(value):
        return {} if value is None else {KEY: value}

    found = levels(given(session), given(global_), flag=flag, options=given(option), graph=given(graph))
    assert (found.tiling_schedule_optimize, found.given_by) == (False, ORDER[first])


@pytest.mark.parametrize("level", ["session", "global_"])
@pytest.mark.parametrize(("value", "on"), [("", False), ("0", False), ("1", True)])
def test_legal_values_of_session_and_process(level, value, on):
    """Empty and 0 are off, 1 is on."""
    assert levels(**{level: {KEY: value}}).tiling_schedule_optimize is on


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize(
    ("level", "offline", "code"),
    [
        ("session", True, "E10001"),
        ("session", False, "E10001"),
        ("global_", True, "E10006"),
        ("global_", False, "E10001"),
    ],
)
def test_bad_values_of_session_and_process(level, offline, code, value):
    """E10001 for a session and for GEInitialize (online), E10006 for aclgrphBuildInitialize (offline)."""
    with pytest.raises(OptionError) as caught:
        levels(**{level: {KEY: value}}, offline=offline)
    assert caught.value.id == code
    assert KEY in caught.value.where


@pytest.mark.parametrize("level", ["session", "global_"])
def test_om2_refuses_every_level(level):
    """OM2 output refuses the option at whatever level it is given, with a legal value too."""
    with pytest.raises(OptionError, match="om2"):
        levels(**{level: {KEY: "0", OM2: "7"}})


def test_unknown_keys_of_each_level_warn():
    """A key that nothing here reads is a warning that names its level."""
    report = Report()
    options = CompileOptions({"ge.a": "1"}, session_options={"ge.b": "1"}, global_options={"ge.c": "1"})
    resolve_options(options, {"ge.d": "1"}, report)
    assert [line.split(" '")[0] for line in report.warnings] == [
        "option", "graph option", "session option", "global option",
    ]  # fmt: skip


def test_mode_of_a_lower_level():
    """The build mode is looked up in the same order."""
    assert not levels({MODE: "online"}, {MODE: "offline"}).offline
    assert levels({MODE: "online"}, options={MODE: "offline"}).offline


def test_progress_counts_each_node_twice(lab):
    """Once when a node meets its operator, once when it has been tiled."""
    steps = []
    graph = lab.graph(lab.node("a", "Relu", ["x"]), lab.node("b", "Relu", ["a_out"]))
    lab.compile(graph, progress=lambda: steps.append(1))
    assert len(steps) == 4
