"""Attached streams: the outcomes of `reference/tiling_sink_compiler.md` 9.1 for four independent nodes."""

from __future__ import annotations

import pytest

from emu_plugins.compiler.resources import Asking, AttachedStream, SyncResource, assign_attached, sink_resources

TILING = AttachedStream("tiling")


def ask(*requests, main=0, disabled=False):
    """Requests of one node without a name."""
    return requests, main, disabled


def assign(*asked, first=0):
    """(ids per node, next free number)."""
    found = assign_attached([Asking(f"n{i}", main, r, disabled) for i, (r, main, disabled) in enumerate(asked)], first)
    return [list(found.of_node[f"n{i}"]) for i in range(len(asked))], first + len(found.keys)


@pytest.mark.parametrize(
    ("asked", "ids", "free"),
    [
        ([ask(TILING), ask(TILING)], [[0], [0]], 1),
        ([ask(AttachedStream("tiling", "a")), ask(AttachedStream("tiling", "b"))], [[0], [1]], 2),
        ([ask(TILING), ask(TILING, main=1)], [[0], [1]], 2),
        ([ask(AttachedStream("tiling", required=False))], [[-1]], 0),
        ([ask(TILING, disabled=True)], [[-1]], 0),
        (
            [ask(AttachedStream("k", force_reuse=True, group="old"))] * 2 + [ask(TILING)] * 2,
            [[0], [0], [1], [1]],
            2,
        ),
        ([ask(AttachedStream("a"), AttachedStream("b"))], [[0, 1]], 2),
        ([ask()], [[]], 0),
    ],
)
def test_outcomes(asked, ids, free):
    """Equal keys share, different ones do not, and what is not required or disabled gets the invalid id."""
    assert assign(*asked) == (ids, free)


def test_two_subgraphs_with_two_groups_each():
    """Graphs never share: the second one goes on behind the first, four streams in total."""
    asked = [ask(AttachedStream("k", group="old")), ask(TILING)]
    _, free = assign(*asked)
    ids, free = assign(*asked, first=free)
    assert (ids, free) == ([[2], [3]], 4)


def test_keys_are_ordered_as_texts():
    """Inside a group keys are taken in lexicographic order, so main stream 10 comes before main stream 2."""
    ids, _ = assign(ask(TILING, main=2), ask(TILING, main=10))
    assert ids == [[1], [0]]
    assert TILING.key(10) == "tiling_stream_10"


def test_named_attributes_of_the_requests():
    """A sinking operator asks for one stream and one event, both called tiling, with all depended inputs (6.2)."""
    asked = sink_resources((7, 5))
    (stream,), (event,) = asked.streams, asked.syncs
    assert stream.attributes(-1) == {
        "_attached_resource_name": "tiling",
        "_attached_resource_reuse_key": "",
        "_attached_resource_depend_value_list_int": [5, 7],
        "_attached_resource_required_flag": True,
        "_attached_resource_id": -1,
        "_attached_resource_is_valid": False,
    }
    assert event == SyncResource("tiling")
    assert event.attributes(4) == {
        "_attached_resource_type": 0,
        "_attached_resource_name": "tiling",
        "_attached_resource_reuse_key": "",
        "_attached_resource_required_flag": True,
        "_attached_resource_id": 4,
        "_attached_resource_is_valid": True,
    }
