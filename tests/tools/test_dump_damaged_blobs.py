"""Damaged task blobs: what is left is shown, what is lost is counted."""

from __future__ import annotations

import random

import pytest

from emu_core import compile_graph
from formats.blob import encode, sections
from formats.blob.layout import BlobHeader, SectionEntry, StringRecord, TaskRecord

GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "p", "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
}  # fmt: skip


@pytest.fixture(scope="module")
def blob():
    """A task blob with eleven tasks."""
    return encode(compile_graph(GRAPH, "ascend310p3"))


def place(blob, name):
    """Offset of a section."""
    return next(s for s in sections(blob) if s.name == name).offset


def dumped(sqemu, tmp_path, data, *arguments):
    """The dump of `data`."""
    (tmp_path / "b").write_bytes(data)
    return sqemu("dump", tmp_path / "b", *arguments)


def test_cut_in_the_tasks(sqemu, tmp_path, blob):
    """Tasks before the cut are shown with their texts, those behind are counted, exit 1."""
    found = dumped(sqemu, tmp_path, blob[: place(blob, "tasks") + 3 * TaskRecord.size + 5])
    assert found.code == 1
    assert "p: damaged task blob for ascend310p3" in found.out
    tasks = found.out.split("\nTasks")[1].splitlines()[3:]
    assert [line.split()[2] for line in tasks] == ["PREPROCESS_KERNEL", "EVENT_WAIT", "NOP"]
    assert "RunAicpuRpcSrvLaunch" in tasks[0]
    assert "skipped 8 tasks" in found.err
    assert "error blob.truncated" in found.err
    assert "the file ends after 197 of its 704 bytes" in found.out


def test_a_wrong_checksum(sqemu, tmp_path, blob):
    """A changed byte leaves every section whole, and all tasks are shown."""
    changed = bytearray(blob)
    changed[place(blob, "tasks") + 8] ^= 0xFF
    found = dumped(sqemu, tmp_path, bytes(changed), "--json")
    tasks = [r for r in found.objects if r["section"] == "tasks"]
    assert (found.code, len(tasks)) == (1, 11)
    assert tasks[0]["block_dim"] == 0xFF ^ 1 or tasks[0]["block_dim"] == 0xFF
    assert found.error["error"] == "blob.crc"


def test_a_damaged_section_table(sqemu, tmp_path, blob):
    """A section that lies behind the end, or whose records do not add up, is told so."""
    changed = bytearray(blob)
    start = BlobHeader.parse(blob)["section_table"]
    for section, field, value in ((6, "offset", 1 << 40), (10, "count", 99), (12, "kind", 3), (13, "record_size", 5)):
        at = start + section * SectionEntry.size
        row = dict(SectionEntry.parse(changed[at : at + SectionEntry.size])) | {field: value}
        changed[at : at + SectionEntry.size] = SectionEntry.build(row)
    out = dumped(sqemu, tmp_path, bytes(changed)).out
    for says in ("it lies behind the end", "99 records do not make", "its number is 3, not 12", "records of 5 bytes"):
        assert says in out


def test_texts_that_are_lost(sqemu, tmp_path, blob):
    """A string that cannot be found is shown as a mark."""
    changed = bytearray(blob)
    at = place(blob, "strings")
    changed[at : at + StringRecord.size] = StringRecord.build({"offset": 1 << 31, "size": 4})
    found = dumped(sqemu, tmp_path, bytes(changed), "--json")
    assert found.code == 1
    assert "?string 0" in {found.objects[0]["chip"], found.objects[0]["name"]}


def test_loading_needs_a_whole_blob(sqemu, tmp_path, blob):
    """--sqes and --asm refuse a damaged blob; one of another version is refused in any case."""
    for option in ("--sqes", "--asm"):
        assert dumped(sqemu, tmp_path, blob[:-1], option).code == 2
    other = bytearray(blob)
    other[8] = 99
    assert "blob.version" in dumped(sqemu, tmp_path, bytes(other)).err


def test_any_damage(sqemu, tmp_path, blob):
    """Whatever is changed, the outcome is 0, 1 or 2, and never a traceback."""
    rnd = random.Random(5)
    for _ in range(60):
        changed = bytearray(blob[: rnd.randint(64, len(blob))])
        for _ in range(rnd.randint(1, 8)):
            changed[rnd.randrange(8, len(changed))] = rnd.randrange(256)
        found = dumped(sqemu, tmp_path, bytes(changed), *rnd.choice([(), ("--json",), ("--summary",)]))
        assert found.code in {1, 2}
