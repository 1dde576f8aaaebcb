"""Which handler takes an entry, and who may not share one."""

from __future__ import annotations

import pytest

from emu_core.dispatch import DispatchTable
from emu_core.engines import Handler, Run
from emu_core.errors import PluginError

FIELD = ("Any", "task_type")


def _handler(engine, sqe_type, select=None, field=FIELD):
    return Handler(engine, "kind", sqe_type, lambda _task: Run(0), select, None if select is None else field)


def _table(*handlers):
    return DispatchTable(handlers, lambda _struct, _field: lambda sqe: sqe[2])


def _sqe(sqe_type, selector=0):
    return bytes([sqe_type, 0, selector]) + bytes(61)


def test_the_type_alone_decides_without_a_selector():
    """Only the low six bits of the first byte are the type."""
    one = _handler("one", 5)
    table = _table(one)
    assert table.find(_sqe(5)) is one
    assert table.find(_sqe(5 | 0xC0)) is one
    assert table.find(_sqe(4)) is None


def test_a_selector_picks_and_the_rest_handler_takes_what_is_left():
    """NOP and update have their own handlers, all other task types share one."""
    nop, update, rest = _handler("nop", 3, 103), _handler("update", 3, 101), _handler("rest", 3)
    table = _table(rest, nop, update)
    assert [table.find(_sqe(3, t)) for t in (103, 101, 7)] == [nop, update, rest]
    assert list(table) == [nop, update, rest]


def test_without_a_rest_handler_an_unlisted_selector_is_unknown():
    """Nobody takes task type 7."""
    assert _table(_handler("nop", 3, 103)).find(_sqe(3, 7)) is None


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (_handler("a", 5), _handler("b", 5), "SQE type 5"),
        (_handler("a", 3, 101), _handler("b", 3, 101), "SQE type 3 with 101"),
        (_handler("a", 3, 101), _handler("b", 3, 102, ("Any", "other")), "the selector of SQE type 3"),
    ],
)
def test_two_owners_of_one_kind_are_refused_by_name(first, second, what):
    """The error names both engines and says what they share."""
    with pytest.raises(PluginError, match=f"a and b both handle {what}") as caught:
        _table(first, second)
    assert caught.value.id == "plugin.handler-clash"
    assert caught.value.remedy


def test_a_selector_value_without_a_field_is_refused():
    """A handler cannot select by nothing."""
    with pytest.raises(PluginError, match=r"a\.kind selects by no field") as caught:
        _table(_handler("a", 3, 101, None))
    assert caught.value.id == "plugin.handler"


@pytest.mark.parametrize("sqe_type", [-1, 64])
def test_a_type_outside_six_bits_is_refused(sqe_type):
    """SQE types are 0 to 63."""
    with pytest.raises(PluginError, match="types are 0 to 63"):
        _table(_handler("a", sqe_type))
