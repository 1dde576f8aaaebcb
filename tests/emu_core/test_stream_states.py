"""The state machine of a stream, pair by pair."""

from __future__ import annotations

import pytest

from emu_core.errors import EmulatorBug
from emu_core.memory import DeviceMemory
from emu_core.prefetch import PrefetchWindow
from emu_core.rings import SubmissionQueue
from emu_core.streams import Cause, State, Stream

IDLE, ENABLE, WORKING, DISABLE, FIRMWARE, POLLING, CQ_FULL, WAIT_SLOT = (
    State.IDLE,
    State.SLOT_ENABLE,
    State.WORKING,
    State.SLOT_DISABLE,
    State.WAIT_FIRMWARE,
    State.POLLING_FLAG,
    State.CQ_FULL,
    State.WAIT_SLOT,
)
LEGAL = {
    (IDLE, Cause.ACTIVATE): ENABLE,
    (IDLE, Cause.QUEUE): WAIT_SLOT,
    (WAIT_SLOT, Cause.ACTIVATE): ENABLE,
    (WAIT_SLOT, Cause.ERROR): DISABLE,
    (WORKING, Cause.CQ_HOLD): CQ_FULL,
    (CQ_FULL, Cause.CQ_ROOM): WORKING,
    (CQ_FULL, Cause.ERROR): DISABLE,
    (ENABLE, Cause.START): WORKING,
    (ENABLE, Cause.PRE_P): FIRMWARE,
    (ENABLE, Cause.DRAIN): IDLE,
    (ENABLE, Cause.ERROR): DISABLE,
    (FIRMWARE, Cause.RESUME): WORKING,
    (FIRMWARE, Cause.ERROR): DISABLE,
    (WORKING, Cause.BLOCK): POLLING,
    (WORKING, Cause.COMPLETE): ENABLE,
    (WORKING, Cause.ERROR): DISABLE,
    (POLLING, Cause.WAKE): WORKING,
    (POLLING, Cause.ERROR): DISABLE,
    (DISABLE, Cause.HANDLED): IDLE,
}


@pytest.fixture
def stream():
    """Stream 7, idle."""
    queue = SubmissionQueue(DeviceMemory(1 << 16), 7, 8, 8, "s")
    return Stream(queue, PrefetchWindow(queue, 8), "s")


def test_states_have_the_register_codes():
    """The numbers are those a register dump of the scheduler shows."""
    assert {s.name: s.value for s in State} == {
        "IDLE": 0,
        "SLOT_ENABLE": 4,
        "WORKING": 5,
        "SLOT_DISABLE": 7,
        "CQ_FULL": 8,
        "WAIT_FIRMWARE": 9,
        "POLLING_FLAG": 10,
        "WAIT_SLOT": 11,
    }


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("state", State)
def test_every_pair_moves_as_listed_or_is_our_bug(stream, state, cause):
    """Nineteen pairs are legal; every other one is reported as a bug that names stream, state and cause."""
    stream.state = state
    if (state, cause) in LEGAL:
        stream.move(cause)
        assert stream.state is LEGAL[state, cause]
        return
    with pytest.raises(EmulatorBug, match=f"stream 7: no transition for {cause.name} in state {state.name}"):
        stream.move(cause)
    assert stream.state is state


def test_a_new_stream_is_idle_and_bound_to_nothing(stream):
    """Its id is that of its queue."""
    assert (stream.id, stream.state, stream.model_id, stream.waiting) == (7, State.IDLE, None, None)
