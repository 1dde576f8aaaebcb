"""Traces that no device would write: whatever the lines hold, every subcommand answers or refuses with an id."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.lines import line
from emu_core.trace import (
    CellWritten,
    Doorbell,
    FaultRaised,
    Patched,
    PipeUsed,
    SignalChanged,
    TaskDone,
    TaskStarted,
    TaskWaits,
)

SMALL = st.integers(-1, 3)
TIME = st.integers(0, 40)
PLACE = {"time": TIME, "run": st.integers(0, 2), "stream": SMALL, "task": SMALL}
ENTRY = {**PLACE, "slot": SMALL, "node": st.sampled_from(["", "n", "m"])}
SIGNAL = st.sampled_from(["event 0", "notify 1"])
WRITER = {"before": st.integers(0, 2**64 - 1), "after": st.integers(0, 9), "writer_stream": SMALL, "writer_task": SMALL}
KIND = {"engine": st.sampled_from(["ai_core", "ai_cpu", "e"]), "kind": st.sampled_from(["kernel", "nop"])}
DETAIL = st.sampled_from(["", "K", "K, in 2 waves, after 7 ns without a core", "\n\x1b[1m"])
EVENTS = st.one_of(
    st.builds(Doorbell, time=TIME, run=st.integers(0, 2), stream=SMALL, tail=SMALL,
              reason=st.sampled_from(["submit", "activate"])),
    st.builds(TaskWaits, **ENTRY, kind=st.just("event_wait"), signal=SIGNAL),
    st.builds(TaskStarted, **ENTRY, **KIND, detail=DETAIL, fetched_copy=st.booleans(),
              facts=st.sampled_from([{}, {"kernel": "TilingProbe", "block_dim": 3, "tiling_key": 0},
                                     {"block_dim": "many"}])),
    st.builds(TaskDone, **ENTRY, **KIND, started=TIME, detail=DETAIL),
    st.builds(SignalChanged, **PLACE, signal=SIGNAL, value=st.integers(0, 1)),
    st.builds(FaultRaised, **ENTRY, id=st.just("x.y"), ts_code=st.just(1), what=st.just("w")),
    st.builds(PipeUsed, **ENTRY, core=SMALL, pipe=st.sampled_from(["MTE2", "a b"]), started=TIME, ended=TIME,
              what=st.just("")),
    st.builds(CellWritten, time=TIME, run=st.integers(0, 2), address=st.just(0), what=st.just("c"), engine=st.just("e"),
              **WRITER),
    st.builds(Patched, **ENTRY, struct=st.just("S"), field=st.just("f"), bit_offset=st.just(0), bit_width=st.just(8),
              engine=st.just("e"), tiling_key=st.one_of(st.none(), st.integers(0, 2**64 - 1)), **WRITER),
)  # fmt: skip

COMMANDS = (
    ("summary",), ("patches",), ("journal",), ("why", "0:1"), ("why", "0:1", "--run", "0"), ("critical-path",),
    ("sql", "select * from events, tasks, patches, faults, hazards limit 3"),
    ("timeline", "-o", "t.json", "--chip", "ascend310p3"), ("timeline", "-o", "t.pftrace", "--chip", "ascend910b3"),
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(EVENTS, min_size=1, max_size=25))
@pytest.mark.filterwarnings("error")
def test_every_command_answers(sqemu, tmp_path, monkeypatch, events):
    """Each command ends with 0, or with 2 and an id; the same trace equals itself."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(map(line, events)))
    for command, *more in COMMANDS:
        found = sqemu("trace", command, path, *more)
        assert found.code in (0, 2), found.err
        assert found.code == 0 or found.err.startswith("error trace.") or "record.run" in found.err
    assert sqemu("trace", "diff", path, path).code == 0
    json.loads((tmp_path / "t.json").read_text())
