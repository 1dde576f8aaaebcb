"""Plans of injections from their files: every mistake has its place and a remedy."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import InputError
from emu_core.injection.plan import KINDS, CorruptCell, Entry, FlipField, Stall, plan_of
from tools.injection.plan_file import plan_of_bytes, read_plan

KEYS = ["format", "version", "injections", "do", "entry", "ns", "field", "bits"]
STALL = {"do": "stall", "entry": {"kind": "nop"}}


def plan(*injections, **changed):
    """The bytes of a plan."""
    return json.dumps({"format": "sqemu-injection", "version": 1, "injections": injections, **changed}).encode()


def test_a_plan_is_read():
    """The records have what the file says, and nothing else."""
    found = plan_of_bytes(
        plan(
            {"do": "flip-field", "entry": {"node": "op", "role": "kernel"}, "field": "block_dim", "bits": [0, 3]},
            {"do": "stall", "entry": {"engine": "ai_core", "nth": 2, "run": 1}, "ns": 500},
            {"do": "corrupt-cell", "node": "op", "cell": "tiling_key", "value": 7},
        ),
        "p.json",
    )
    assert found == plan_of(
        FlipField(Entry(node="op", role="kernel"), "block_dim", bits=(0, 3)),
        Stall(Entry(engine="ai_core", nth=2, run=1), 500),
        CorruptCell("op", "tiling_key", value=7),
    )


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (plan(STALL, format="x"), "p.json: format", "invalid enum value"),
        (plan(STALL, version=2), "p.json: version", "invalid enum value 2"),
        (plan(STALL, more=1), "p.json", "unknown field `more`"),
        (plan(), "p.json: injections", "of length >= 1"),
        (plan({"do": "stall"}), "p.json: injections[0]", "missing required field `entry`"),
        (plan(STALL, {**STALL, "ns": 0}), "p.json: injections[1].ns", ">= 1"),
        (plan({**STALL, "ns": "5"}), "p.json: injections[0].ns", "expected `int"),
        (plan({"do": "stall", "entry": {}}), "p.json: injections[0].entry", "names no entry"),
        (plan({"do": "stall", "entry": {"task": 3}}), "p.json: injections[0].entry", "give stream, too"),
        (plan({"do": "stall", "entry": {"role": "boss"}}), "p.json: injections[0].entry.role", "invalid enum value"),
        (plan({"do": "fail-task", "entry": {"kind": "nop"}, "code": 0}), "p.json: injections[0].code", ">= 1"),
        (
            plan({"do": "flip-field", "entry": {"kind": "nop"}, "field": "type", "bits": [0], "value": 1}),
            "p.json: injections[0]",
            "give one of bits",
        ),
        (
            plan({"do": "flip-field", "entry": {"kind": "nop"}, "field": "type", "bits": []}),
            "p.json: injections[0].bits",
            "length >= 1",
        ),
        (
            plan({"do": "corrupt-buffer", "buffer": "x", "xor": "0", "at_ns": 0}),
            "p.json: injections[0].xor",
            "matching regex",
        ),
        (plan({"do": "corrupt-buffer", "buffer": "x", "xor": "00"}), "p.json: injections[0]", "give one of entry"),
        (b'{"format": ', "p.json", "is no JSON"),
        (b"\xff\xfe", "p.json", "is no JSON"),
        (b"7", "p.json", "expected `object`"),
    ],
)
def test_mistakes_have_a_place_and_a_remedy(data, where, what):
    """File and place in it, what is wrong there, and where to look it up."""
    with pytest.raises(InputError) as refused:
        plan_of_bytes(data, "p.json")
    assert (refused.value.id, refused.value.where, refused.value.exit_code) == ("injection.plan", where, 2)
    assert what in refused.value.what
    assert "docs/injection.md" in refused.value.remedy


def test_an_unknown_kind_lists_all():
    """Nine kinds."""
    with pytest.raises(InputError) as refused:
        plan_of_bytes(plan({"do": "stal"}), "p.json")
    assert refused.value.where == "p.json: injections[0].do"
    assert len(KINDS) == 9
    assert all(kind in refused.value.remedy for kind in KINDS)


def test_a_missing_file(tmp_path):
    """As every input file."""
    with pytest.raises(InputError) as refused:
        read_plan(str(tmp_path / "none.json"))
    assert refused.value.id == "input.file"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([*KINDS, "sqemu-injection"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
        max_leaves=12,
    )
)
def test_whatever_the_json_is_it_is_a_plan_or_an_input_error(value):
    """Nothing else leaves the reader."""
    try:
        found = plan_of_bytes(json.dumps(value).encode(), "p.json")
    except InputError:
        return
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


@given(st.binary(max_size=40))
def test_bytes_that_are_no_json(data):
    """Likewise for bytes."""
    with pytest.raises(InputError):
        plan_of_bytes(data, "p.json")
