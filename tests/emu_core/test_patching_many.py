"""Many entries patched in one call: the same as one call for each, or nothing at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.errors import InputError
from emu_core.journal import HOST, Writer
from emu_core.trace import Patched
from formats import FormatError

ENTRIES = 40
STRUCT = "AicoreKernelSqe"


@pytest.fixture
def ring(queues, chip):
    """Makes a device with 40 NOPs in a ring of 64, and its stream; by policy."""

    def make(**policies):
        bench = queues(chip=replace(chip, sq_depth=64, usable_tasks=60), **policies)
        stream = bench.stream()
        for _ in range(ENTRIES):
            bench.add(stream, "nop")
        return bench, stream

    return make


def state(bench, stream):
    """All that a patch leaves behind."""
    device = bench.device
    return (
        stream.queue.contents(),
        list(device.journal),
        list(device.trace),
        device.trace.lines(),
        dict(stream.executed),
        dict(stream.patched_in),
        list(device.hazards),
        device.clock.now,
    )


CASES = st.tuples(
    st.lists(st.integers(0, ENTRIES - 1), min_size=1, max_size=12, unique=True),
    st.lists(st.integers(0, 0xFFFF), min_size=12, max_size=12),
    st.integers(0, 0xFFFF_FFFF),
    st.integers(0, 5000),
    st.sampled_from(("window", "latency", "both")),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES)
def test_many_at_once_are_as_many_calls(ring, case):
    """Bytes, journal, trace, lines, fetched copies and hazards agree, whatever the queue does meanwhile."""
    slots, dims, low, when, model = case
    states = []
    for at_once in (True, False):
        bench, stream = ring(nop_model=model)
        device = bench.device
        struct, writer = device.layout(STRUCT), Writer(3, 5, "test")

        def act(at_once=at_once, device=device, stream=stream, struct=struct, writer=writer):
            values = {"block_dim": dims[: len(slots)], "pc_addr_low": low}
            if at_once:
                device.patch_many(stream.id, slots, values, struct, writer, tiling_key=7, table_row=2)
                return
            for slot, dim in zip(slots, dims, strict=False):
                one = {"block_dim": dim, "pc_addr_low": low}
                device.patch_sqe(stream.id, slot, one, struct, writer, tiling_key=7, table_row=2)

        device.clock.at(when, 9, act)
        bench.run(stream)
        states.append(state(bench, stream))
    assert states[0] == states[1]


def test_a_column_becomes_a_row_of_the_journal_for_each_entry(ring):
    """Three entries and two fields are six rows, entry by entry, with values before and after and a bit range."""
    bench, stream = ring()
    device = bench.device
    device.patch_many(stream.id, np.array([7, 2, 9]), {"block_dim": [4, 5, 6], "pc_addr_low": 8}, device.layout(STRUCT))
    assert len(device.journal) == 6
    rows = [(e.slot, e.task, e.field, e.after, e.writer) for e in device.journal]
    assert rows == [
        (7, 7, "block_dim", 4, HOST), (7, 7, "pc_addr_low", 8, HOST),
        (2, 2, "block_dim", 5, HOST), (2, 2, "pc_addr_low", 8, HOST),
        (9, 9, "block_dim", 6, HOST), (9, 9, "pc_addr_low", 8, HOST),
    ]  # fmt: skip
    assert [e.after for e in bench.events(Patched)] == [4, 8, 5, 8, 6, 8]
    assert len(device.trace) == len(list(device.trace))
    assert {device.layout(STRUCT).parse(stream.queue.entry(slot))["block_dim"] for slot in (7, 2, 9)} == {4, 5, 6}


@pytest.mark.parametrize(
    ("slots", "values", "what"),
    [
        ([1, 64], {"block_dim": 1}, "record 64 is outside the ring of 64"),
        ([1, -1], {"block_dim": 1}, "record -1 is outside"),
        ([1, 1], {"block_dim": 1}, "a record is given twice"),
        ([1, 2], {"block_dim": [1, 0x10000]}, "65536 does not fit, 0 to 65535 do"),
        ([1, 2], {"block_dim": 3, "pc_addr_low": [1, -1]}, "-1 does not fit"),
        ([1, 2], {"block_dim": [1, 2, 3]}, "has shape"),
        ([1, 2], {"block_dim": 3, "no_such": 1}, "there is no such field"),
        ([1, 2], {"pc_addr": 1}, "is a value of two fields"),
        ([1.5], {"block_dim": 3}, "no list of record numbers"),
    ],
)
def test_what_cannot_be_written_changes_nothing(ring, slots, values, what):
    """One bad slot, value or name: an error that says which, and neither ring nor journal differ."""
    bench, stream = ring()
    device = bench.device
    before = stream.queue.contents()
    with pytest.raises(FormatError, match=what):
        device.patch_many(stream.id, slots, values, device.layout(STRUCT))
    assert stream.queue.contents() == before
    assert len(device.journal) == 0
    assert not stream.patched_in


def test_a_joined_value_is_refused_for_one_entry_too(ring):
    """The journal tells of fields, so the halves must be named."""
    bench, stream = ring()
    with pytest.raises(FormatError, match="patch pc_addr_low and pc_addr_high"):
        bench.device.patch_sqe(stream.id, 0, {"pc_addr": 1}, bench.device.layout(STRUCT))


def test_no_entries_are_no_change_and_an_unknown_stream_is_an_error(ring):
    """An empty list leaves no trace; a stream that is not there is named."""
    bench, stream = ring()
    device = bench.device
    device.patch_many(stream.id, [], {"block_dim": []}, device.layout(STRUCT))
    assert not bench.events(Patched)
    with pytest.raises(InputError, match="the device has no stream 77"):
        device.patch_many(77, [0], {"block_dim": 1}, device.layout(STRUCT))


@pytest.mark.parametrize("slot", [-1, 64, 1 << 40])
def test_one_entry_is_patched_only_in_a_slot_of_its_ring(ring, slot):
    """A slot beside the ring may be memory of somebody else: it is refused, and nothing is journalled."""
    bench, stream = ring()
    with pytest.raises(InputError, match=f"the ring of stream 0 has no slot {slot}"):
        bench.device.patch_sqe(stream.id, slot, {"block_dim": 1}, bench.device.layout(STRUCT))
    assert len(bench.device.journal) == 0
