"""Group `trace` of `sqemu bench`: both sides write the same lines and the same slices."""

from __future__ import annotations

import io

import pytest

from tools.bench import trace_group
from tools.bench.naive import json_logger
from tools.bench.pairs import PeerMissingError, UnequalError


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few events."""
    for name, value in {
        "STREAMS": 2,
        "TASKS": 40,
        "QUEUE_TASKS": 80,
        "PEER_EVENTS": 30,
        "SLICES": 200,
        "PEER_SLICES": 100,
    }.items():
        monkeypatch.setattr(trace_group, name, value)


def test_event_log():
    """The peer's lines have the values of ours; items are lines."""
    peer, product = trace_group.event_log(json_logger, io.StringIO())
    assert (peer.items, product.items) == (30, 80)
    assert product.call().count(b"\n") == 80
    peer.call()


def test_native_log():
    """The same through orjson, where it is installed."""
    pytest.importorskip("orjson", reason="the peer is not installed")
    peer, _ = trace_group.event_log(trace_group._native, io.BytesIO())
    peer.call()


def test_timeline():
    """Slices read back from Perfetto's form are those of the JSON, where orjson is installed."""
    pytest.importorskip("orjson", reason="the peer is not installed")
    peer, product = trace_group.timeline()
    assert (peer.items, product.items) == (100, 200)
    assert peer.call()
    assert product.call()


def test_packets_say_what_the_rows_say():
    """Every slice of the columns comes back from the packets: name, stream, start, end."""
    found = trace_group._slices()
    names = [kind for _, kind in found.kinds]
    rows = found.rows
    expected = [
        (names[r["kind"]], r["stream"], r["start"], r["end"]) for r in rows
    ]  # fmt: skip
    assert trace_group._read(trace_group.perfetto_of(rows, names), names) == expected


def test_bytes():
    """The file for Perfetto is smaller than the JSON."""
    assert 0 < trace_group.timeline_bytes() < 1


def test_unequal():
    """Sides that differ are not timed."""
    with pytest.raises(UnequalError):
        trace_group._same("x", 1, 2)


def test_missing_peer(monkeypatch):
    """Without orjson the figures that need it say so."""
    monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    with pytest.raises(PeerMissingError, match="pip install orjson"):
        trace_group.orjson_module()


def test_figures():
    """The group has R12 to R14."""
    assert {pair.id for pair in trace_group.PAIRS} == {"R12", "R12-native", "R13", "R14", "R14-bytes"}
