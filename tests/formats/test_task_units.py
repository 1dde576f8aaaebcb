"""How many units of 64 bytes a task has, by its first one (`sqe_formats.md` 2.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import BUILTIN, FormatError
from formats.task_units import MOST_UNITS, unit_counter

CCU, NOP = BUILTIN.get("v200", "CcuSqe"), BUILTIN.get("v200", "PhSqe")


@pytest.mark.parametrize(("length", "units"), [(0, 1), (1, 2), (4, 5), (5, 0), (7, 0)])
def test_the_first_unit_says_how_many_there_are(length, units):
    """sqe_length counts the units behind the first one; more than four do not exist."""
    assert unit_counter(BUILTIN, "v200")(CCU.build({"type": 16, "sqe_length": length})) == units
    assert MOST_UNITS == 5


@pytest.mark.parametrize("struct", ["AicKernelSqe", "AivKernelSqe", "AicpuKernelSqe", "NotifyWaitSqe", "CcuSqe"])
def test_every_layout_with_the_field_counts(struct):
    """The field lies in bits 31 to 29 of word 3: 0x60 in byte 15 is 3 further units."""
    layout = BUILTIN.get("v200", struct)
    first = bytearray(layout.build({"type": layout.sqe_type}))
    first[15] |= 0x60
    assert unit_counter(BUILTIN, "v200")(bytes(first)) == 4


@pytest.mark.parametrize(
    "fields", [{"type": 3, "task_type": 103, "timeout_type": 0xFF}, {"type": 3, "timeout_type": 0x20}]
)
def test_bits_that_mean_something_else_are_no_length(fields):
    """The byte that holds sqe_length in kernels is a timeout type in place holders."""
    assert unit_counter(BUILTIN, "v200")(NOP.build(fields)) == 1


@pytest.mark.parametrize("family", ["v100", "arch5162"])
def test_families_without_the_field_have_tasks_of_one_unit(family):
    """There is nothing to count."""
    assert unit_counter(BUILTIN, family) is None


@pytest.mark.parametrize("family", ["v201", "arch9201"])
def test_families_that_inherit_count_alike(family):
    """They have the entries of v200."""
    assert unit_counter(BUILTIN, family)(CCU.build({"type": 16, "sqe_length": 2})) == 3


def test_a_family_without_entries_is_refused():
    """The records of the runtime are no queue entries."""
    with pytest.raises(FormatError) as caught:
        unit_counter(BUILTIN, "runtime")
    assert caught.value.id == "format.unknown-family"


@given(st.binary(min_size=64, max_size=64))
def test_any_bytes_count_as_the_decoded_stream_does(first):
    """As many as the first record of a stream of five entries has; a length that cannot be is one unit there."""
    count = unit_counter(BUILTIN, "v200")(first)
    record = next(iter(BUILTIN.decode_stream("v200", first + bytes(4 * 64))))
    assert record.size == 64 * (count or 1)
