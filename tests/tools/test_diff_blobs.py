"""`sqemu diff` of task blobs: tasks aligned by what they are, everything else by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core import compile_graph
from formats.blob import BlobTask, TaskType, encode
from tools.diff import blobs

GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "p", "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
}  # fmt: skip


@pytest.fixture(scope="module")
def blob():
    """A compiled graph with eleven tasks."""
    return compile_graph(GRAPH, "ascend310p3")


@pytest.fixture
def diff(sqemu, tmp_path):
    """Compare two blobs as files."""

    def call(a, b, *arguments):
        (tmp_path / "a.sqt").write_bytes(encode(a))
        (tmp_path / "b.sqt").write_bytes(encode(b))
        return sqemu("diff", tmp_path / "a.sqt", tmp_path / "b.sqt", *arguments)

    return call


def test_equal(diff, blob):
    """Equal blobs are exit 0."""
    found = diff(blob, blob)
    assert (found.code, found.out.splitlines()[-1]) == (0, "equal")


def test_inserted_task(diff, blob):
    """A task more in the middle is one difference: the tasks behind it stay aligned."""
    tasks = list(blob.tasks)
    tasks.insert(7, BlobTask(TaskType.EVENT_RECORD, 0, event_id=0))
    found = diff(blob, replace(blob, tasks=tuple(tasks)), "--json")
    assert found.code == 1
    parts = [(r["part"], r["side"], r["name"]) for r in found.objects[1:-1] if r["part"] == "tasks"]
    assert parts == [("tasks", "b", "7 EVENT_RECORD")]
    assert "+ tasks 7 EVENT_RECORD" in diff(blob, replace(blob, tasks=tuple(tasks))).out


def test_changed_task(diff, blob):
    """A field of a task that differs is shown with both values."""
    tasks = list(blob.tasks)
    tasks[7] = replace(tasks[7], block_dim=3)
    found = diff(blob, replace(blob, tasks=tuple(tasks)))
    assert "tasks 7 ALL_KERNEL" in found.out
    assert "block_dim              4294967295 -> 3" in found.out
    ignored = diff(
        blob, replace(blob, tasks=tuple(tasks)), "--ignore", "block_dim", "--ignore", "block_dim_placeholder"
    )
    assert ignored.code == 0


def test_other_chip(diff, blob):
    """Compiled for another chip: header and tasks differ, policies by name."""
    found = diff(blob, compile_graph(GRAPH, "ascend910b3"), "--json")
    assert found.objects[1]["fields"]["chip"] == ["ascend310p3", "ascend910b3"]
    assert {r["part"] for r in found.objects[2:-1]} >= {"tasks"}


def test_records_on_one_side(diff, blob):
    """A policy that only one side has is said so."""
    more = replace(blob, policies={**blob.policies, "zzz": "1"})
    assert "+ policies zzz" in diff(blob, more).out
    assert "- policies zzz" in diff(more, blob).out


def test_many_tasks(monkeypatch, blob):
    """Very long task lists are aligned by position."""
    monkeypatch.setattr(blobs, "MOST_MATCHED", 3)
    shorter = replace(blob, tasks=blob.tasks[1:])
    assert len(list(blobs.compare(blob, shorter, frozenset()))) > 2


def test_names(diff, blob):
    """JSON names both files first; a value that no section has cannot be ignored."""
    found = diff(blob, blob, "--json").objects[0]
    assert found["section"] == "inputs"
    assert (found["a"][-5:], found["b"][-5:], found["chips"]) == ("a.sqt", "b.sqt", ["ascend310p3"] * 2)
    wrong = diff(blob, blob, "--ignore", "blockdim", "--json")
    assert (wrong.code, wrong.error["error"]) == (2, "dump.field")
    assert "block_dim" in wrong.error["remedy"]


def test_refused(sqemu, diff, blob, tmp_path):
    """A ring and a blob, choices of entries with blobs, a damaged blob: exit 2."""
    assert diff(blob, blob, "--task", "1", "--json").error["error"] == "diff.options"
    (tmp_path / "r").write_bytes(bytes(63) + b"\x01")
    assert sqemu("diff", tmp_path / "a.sqt", tmp_path / "r", "--json").error["error"] == "diff.kinds"
    (tmp_path / "b.sqt").write_bytes(encode(blob)[:-1])
    found = sqemu("diff", tmp_path / "a.sqt", tmp_path / "b.sqt", "--json")
    assert (found.code, found.error["error"]) == (2, "blob.truncated")
    assert "b.sqt" in found.error["where"]
