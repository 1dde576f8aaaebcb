"""Errors: one line for people, one object for programs, an exit code for shells."""

from __future__ import annotations

import pytest

from emu_core import Device, codes, compile_graph
from emu_core.errors import (
    DeviceFault,
    EmulatorBug,
    GraphError,
    InputError,
    LimitError,
    OptionError,
    PluginError,
    Problem,
    Refusal,
    SqemuError,
)


def test_text_says_where_what_kind_and_remedy():
    """All four parts on one line, in that order."""
    error = InputError("is too old", id="blob.version", where="a.sqt", remedy="compile again", refusal=Refusal.UNTESTED)
    assert str(error) == error.text() == "a.sqt: is too old (untested); compile again"
    assert error.as_json() == {
        "error": "blob.version",
        "what": "is too old",
        "where": "a.sqt",
        "remedy": "compile again",
        "refusal": "untested",
    }


def test_parts_that_are_missing_leave_no_punctuation():
    """Only what, no colon and no semicolon."""
    error = LimitError("does not fit", id="limit.x")
    assert error.text() == "does not fit"
    assert error.as_json() == {"error": "limit.x", "what": "does not fit", "where": "", "remedy": ""}


@pytest.mark.parametrize(
    ("kind", "code"), [(InputError, 2), (OptionError, 2), (PluginError, 2), (LimitError, 2), (SqemuError, 2)]
)
def test_errors_of_the_user_end_with_code_2(kind, code):
    """Whoever gave the input repairs it."""
    assert kind("x", id="y").exit_code == code


def test_a_bug_of_ours_ends_with_code_70():
    """It asks for a report and has one id."""
    bug = EmulatorBug("lost a task", where="stream 1")
    assert (bug.exit_code, bug.id, bug.text()) == (
        70,
        "bug",
        "stream 1: lost a task; please report this with the block printed above",
    )


def test_a_device_fault_is_no_error_of_the_product():
    """It becomes a value of the run."""
    fault = DeviceFault("boom", ts_code=0x26, id="kernel.x", remedy="look")
    assert not isinstance(fault, SqemuError)
    assert (fault.ts_code, fault.error_type, fault.id, fault.remedy, str(fault)) == (
        0x26,
        1,
        "kernel.x",
        "look",
        "boom",
    )


FIRST = Problem("graph.dtype", "has no dtype", "input x", "give one")
SECOND = Problem("graph.shape", "has no shape", "input y")


def test_a_graph_error_lists_every_problem():
    """One line each, the file before each; the first problem gives id and summary."""
    error = GraphError([FIRST, SECOND], source="g.json")
    assert error.text().splitlines() == [
        "g.json: input x: has no dtype; give one",
        "g.json: input y: has no shape",
    ]
    assert (error.id, error.what, error.where) == (
        "graph.dtype",
        "has no dtype (and 1 more problem)",
        "g.json: input x",
    )
    listed = error.as_json()["problems"]
    assert listed == [
        {"error": "graph.dtype", "what": "has no dtype", "where": "input x", "remedy": "give one"},
        {"error": "graph.shape", "what": "has no shape", "where": "input y", "remedy": ""},
    ]


def test_the_summary_counts_in_plain_words():
    """None, one, or several more."""
    assert GraphError([SECOND]).what == "has no shape"
    assert GraphError([SECOND] * 3).what == "has no shape (and 2 more problems)"
    assert GraphError([SECOND]).text() == "input y: has no shape"


@pytest.mark.parametrize(
    ("ts", "acl"),
    [
        (0x25, 507014),
        (0x26, 507015),
        (0x27, 507016),
        (0x28, 507017),
        (0x2A, 507018),
        (0x91, 507011),
        (0x95, 507005),
        (0x4, 507001),
        (0x7777, 507001),
    ],
)
def test_ts_codes_surface_as_acl_codes(ts, acl):
    """Exceptions have codes of their own; what is not documented is a TS error."""
    assert codes.acl_code(ts) == acl


def test_codes_have_names():
    """A code that nobody documented says so."""
    assert codes.ts_name(0x26) == "AI Core exception"
    assert codes.ts_name(0x91) == "model stream execution failed"
    assert codes.ts_name(0x7777) == "not documented"
    assert codes.ACL_NAMES[507011] == "model stream execution failed"


class TestArgumentsOfTheWrongType:
    """Slips of Python callers are refused by name, never with an exception of Python's own."""

    @pytest.mark.parametrize(
        ("call", "needed"),
        [
            (lambda: Device(None), "name of a chip"),
            (lambda: Device("ascend310p3", policies="both"), "mapping of policies"),
            (lambda: Device("ascend310p3").load("program.sqt"), "task blob"),
            (lambda: Device("ascend310p3").load({"nodes": []}), "task blob"),
            (lambda: compile_graph({}, None), "name of a chip"),
            (lambda: compile_graph("graph.json", "ascend310p3"), "graph as a mapping"),
            (lambda: compile_graph({}, "ascend310p3", ["a"]), "mapping of options"),
        ],
    )
    def test_the_error_names_what_is_needed(self, call, needed):
        """The error says what is needed and which type was given."""
        with pytest.raises(InputError, match=needed) as caught:
            call()
        assert caught.value.id == "argument.type"
        assert caught.value.remedy
