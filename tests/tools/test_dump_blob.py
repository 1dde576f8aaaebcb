"""`sqemu dump` of task blobs: every section as text and as JSON, and the rings they become."""

from __future__ import annotations

from itertools import pairwise

import pytest

from emu_core import compile_graph
from formats.blob import Blob, BlobEvent, BlobOp, BlobStream, BlobTask, BlobTensor, TaskType, TensorRole, encode
from tools.dump.tasks import task_name

GRAPH = {
    "format": "sqemu-graph",
    "version": 1,
    "name": "p",
    "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}
LIST = ["PREPROCESS_KERNEL", "EVENT_WAIT", *["NOP"] * 5, "ALL_KERNEL", "UPDATE", "EVENT_RECORD", "MODEL_END_GRAPH"]
"""The seed's task list on 310P: tiling, wait, five bubbles, kernel, refresh, record, end."""


@pytest.fixture(scope="module")
def blob_file(tmp_path_factory):
    """The probe graph compiled for 310P, as a file."""
    path = tmp_path_factory.mktemp("blob") / "p.sqt"
    path.write_bytes(encode(compile_graph(GRAPH, "ascend310p3")))
    return path


def only(found, section):
    """The records of one section."""
    return [each for each in found.objects if each["section"] == section]


class TestText:
    def test_header_first(self, sqemu, blob_file):
        """The first lines name graph, chip, size and the number of everything."""
        first = sqemu("dump", blob_file).out.splitlines()[:3]
        assert first[0].startswith(f"p: task blob for ascend310p3, {blob_file.stat().st_size} bytes")
        assert "11 tasks, 2 streams, 1 event, 1 operator, 3 tensors, 1 kernel" in first[1]
        assert "x float32[40], n int32[1] -> y float32[40]" in first[2]

    def test_sections_in_order(self, sqemu, blob_file):
        """Sections come in the order streams to tasks, tasks last."""
        out = sqemu("dump", blob_file).out
        titles = ("Streams", "Events", "Operators", "Tensors", "Kernels", "Policies", "Tasks")
        places = [out.index("\n" + title) for title in titles]
        assert places == sorted(places)

    def test_every_task_has_a_line(self, sqemu, blob_file):
        """The task table lists index and type of every task, in list order."""
        lines = sqemu("dump", blob_file).out.split("\nTasks")[1].splitlines()[3:]
        assert [line.split()[:2] for line in lines] == [[str(i), name] for i, name in enumerate(LIST)]

    def test_kernel_line(self, sqemu, blob_file):
        """The kernel's block dim is the placeholder in hexadecimal, and its argument slots are shown."""
        line = next(x for x in sqemu("dump", blob_file).out.splitlines() if "ALL_KERNEL" in x)
        assert "0xFFFFFFFF" in line
        assert line.endswith("{i0*}{i1*}{o0*}{ws0*}{tiling_context.tiling_data}")

    def test_library_of_the_tiling_task(self, sqemu, blob_file):
        """The tiling task names function and library."""
        line = next(x for x in sqemu("dump", blob_file).out.splitlines() if "PREPROCESS" in x)
        assert "RunAicpuRpcSrvLaunch" in line
        assert line.endswith("Ascend310P-v1.0-libopmaster.so")

    def test_empty_sections_are_left_out(self, sqemu, tmp_path):
        """A blob without events shows no event table."""
        (tmp_path / "e.sqt").write_bytes(encode(Blob("ascend310p3", "nothing", streams=(BlobStream(0, "main"),))))
        found = sqemu("dump", tmp_path / "e.sqt")
        assert found.code == 0
        assert "Events" not in found.out
        assert "nothing -> nothing" in found.out

    def test_names_cannot_reach_the_terminal(self, sqemu, tmp_path):
        """Control codes in names are written as escapes."""
        tensor = BlobTensor("\x1b[31mx", 0, (1,), TensorRole.INPUT, 4)
        blob = Blob("ascend310p3", "a\nb", tensors=(tensor,), inputs=(0,), streams=(BlobStream(0, "\x07"),))
        (tmp_path / "e.sqt").write_bytes(encode(blob))
        out = sqemu("dump", tmp_path / "e.sqt").out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert r"\x1b[31mx" in out
        assert r"a\nb" in out


class TestJson:
    def test_tasks(self, sqemu, blob_file):
        """A task record has number and name of its type and integers that stayed integers."""
        tasks = only(sqemu("dump", blob_file, "--json"), "tasks")
        assert [t["kind"] for t in tasks] == LIST
        assert [t["type"] for t in tasks] == [43, 2, 42, 42, 42, 42, 42, 26, 41, 1, 19]
        kernel = tasks[7]
        assert kernel["block_dim"] == 0xFFFFFFFF
        assert kernel["block_dim_placeholder"] is True
        assert (kernel["stream_id"], kernel["event_id"], kernel["op"]) == (0, None, "probe")
        assert kernel["kernel"] == "TilingProbe"
        assert tasks[0]["kernel_type"] == 6
        assert tasks[0]["kernel_name"] == "RunAicpuRpcSrvLaunch"
        assert tasks[0]["so_name"].endswith("libopmaster.so")
        assert (tasks[1]["event_id"], tasks[1]["node"], tasks[10]["op"]) == (0, "probe", None)
        assert tasks[8]["args_format"] == "{tiling_context.tiling_key}{tiling_context.block_dim}"

    def test_header_counts(self, sqemu, blob_file):
        """The header record counts the records of each section."""
        found = sqemu("dump", blob_file, "--json")
        header = found.objects[0]
        assert header["section"] == "header"
        assert (header["chip"], header["name"], header["bytes"]) == ("ascend310p3", "p", blob_file.stat().st_size)
        for section in ("streams", "events", "ops", "tensors", "kernels", "policies", "tasks"):
            assert header[section] == len(only(found, section))

    def test_other_sections(self, sqemu, blob_file):
        """Streams, events, operators, tensors, kernels and policies carry what the blob says."""
        found = sqemu("dump", blob_file, "--json")
        assert [s["serves"] for s in only(found, "streams")] == [None, 0]
        assert only(found, "events")[0]["recorded_by"] == [9]
        assert only(found, "events")[0]["waited_by"] == [1]
        op = only(found, "ops")[0]
        assert (op["type"], op["inputs"], op["outputs"], op["sink"]) == ("TilingProbe", ["x", "n"], ["y"], True)
        assert [(t["name"], t["role"], t["size"]) for t in only(found, "tensors")] == [
            ("x", "input", 160),
            ("n", "input", 4),
            ("y", "output", 160),
        ]
        assert only(found, "kernels")[0]["tiling_keys"] == [0, 1, 2]
        assert {"section": "policies", "name": "nop_count", "value": "seed"} in only(found, "policies")

    def test_file_layout(self, sqemu, blob_file):
        """Each section of the file is listed with its offset, and none overlaps the next."""
        places = only(sqemu("dump", blob_file, "--json"), "file")
        assert {"tasks", "text", "data"} <= {p["name"] for p in places}
        assert all(a["offset"] + a["size"] <= b["offset"] for a, b in pairwise(places))


class TestRings:
    def test_rings_of_the_model(self, sqemu, blob_file):
        """Loaded, stream 0 holds wait, reset, five NOPs, kernel, notify; stream 1 tiling, update, record."""
        sqes = only(sqemu("dump", blob_file, "--sqes", "--json"), "sqes")
        kinds = {s: [e["kind"] for e in sqes if e["stream_id"] == s] for s in (0, 1)}
        assert kinds[0] == ["event wait", "event reset", *["nop"] * 5, "kernel", "notify record"]
        assert kinds[1] == ["aicpu", "task update", "event record"]

    def test_addresses_have_names(self, sqemu, blob_file):
        """With a device at hand, addresses are named: kernel entry, argument block, function, tiling cell."""
        out = sqemu("dump", blob_file, "--sqes").out
        assert "(TilingProbe, key 0)" in out
        assert "(arguments of probe)" in out
        assert "function RunAicpuRpcSrvLaunch  library Ascend310P-v1.0-libopmaster.so" in out
        assert "(tiling key of probe)" in out
        assert "target stream 0  target task 7" in out

    def test_rings_without_chosen_entries_are_left_out(self, sqemu, blob_file):
        """A choice of entries leaves out the headings of rings that have none of them."""
        out = sqemu("dump", blob_file, "--sqes", "--kind", "task update").out
        assert "stream 1 (" in out
        assert "stream 0 (" not in out
        assert "1  task update" in out

    def test_a_range_counts_in_every_ring(self, sqemu, blob_file):
        """A range that is behind the end of one ring shows the others."""
        found = sqemu("dump", blob_file, "--sqes", "--range", "7:", "--json")
        assert [(r["stream_id"], r["slot"]) for r in only(found, "sqes")] == [(0, 7), (0, 8)]
        assert sqemu("dump", blob_file, "--sqes", "--range", "99:").code == 2

    def test_what_entries_point_at(self, sqemu, blob_file):
        """The compact view and JSON show the rows of the tiling table behind a task update."""
        out = sqemu("dump", blob_file, "--sqes", "--compact", "--stream", "1").out
        assert "> tiling table row 2 at" in out
        found = only(sqemu("dump", blob_file, "--sqes", "--json"), "follows")
        keys = [r["fields"]["tiling_key"] for r in found if r["role"].startswith("tiling table row")]
        assert keys == [0, 1, 2]

    def test_policies_of_the_loader(self, sqemu, blob_file):
        """A load policy changes the rings: without wait_reset there is no reset behind the wait."""
        found = sqemu("dump", blob_file, "--sqes", "--json", "--policy", "wait_reset=off")
        assert "event reset" not in [e["kind"] for e in only(found, "sqes")]

    def test_policies_of_the_compiler_are_refused(self, sqemu, blob_file):
        """A compile policy comes too late for a blob."""
        found = sqemu("dump", blob_file, "--sqes", "--policy", "nop_count=1")
        assert found.code == 2
        assert "option.compiled" in found.err

    def test_host_scheduled(self, sqemu, tmp_path):
        """A blob of unknown shape has no rings before it runs, and says so."""
        (tmp_path / "h.sqt").write_bytes(encode(Blob("ascend310p3", "h", unknown_shape=True)))
        found = sqemu("dump", tmp_path / "h.sqt", "--sqes")
        assert found.code == 0
        assert "the host launches this graph" in found.out

    def test_wrong_chip(self, sqemu, blob_file):
        """--chip must be the chip of the blob."""
        assert sqemu("dump", blob_file, "--chip", "Ascend310P3").code == 0
        found = sqemu("dump", blob_file, "--chip", "ascend910b3", "--json")
        assert (found.code, found.error["error"]) == (2, "blob.chip")


class TestUnusualTasks:
    def test_types_without_a_meaning_here(self, sqemu, tmp_path):
        """Task types this release never writes are shown by name, unknown numbers by number."""
        tasks = (BlobTask(44, 0), BlobTask(99, 0), BlobTask(TaskType.UPDATE, 0), BlobTask(TaskType.KERNEL, 0))
        blob = Blob("ascend310p3", "odd", streams=(BlobStream(0, "m"),), tasks=tasks, events=(BlobEvent(0, "e"),))
        (tmp_path / "o.sqt").write_bytes(encode(blob))
        found = sqemu("dump", tmp_path / "o.sqt", "--json")
        assert [t["kind"] for t in only(found, "tasks")] == ["SUPER_KERNEL", "TYPE_99", "UPDATE", "KERNEL"]
        assert "no operator" in sqemu("dump", tmp_path / "o.sqt").out

    def test_operators_tiled_elsewhere(self, sqemu, tmp_path):
        """An operator says when it is tiled: by the host in each run, or when compiled, with key and blocks."""
        host = BlobOp("a", "T", (None,), (), host_tiling=True, attrs={"axes": (1, 2)})
        fixed = BlobOp("b", "T", (), (), tiling_key=3, tiling_block_dim=8)
        (tmp_path / "t.sqt").write_bytes(encode(Blob("ascend310p3", "t", ops=(host, fixed))))
        out = sqemu("dump", tmp_path / "t.sqt").out
        assert "by the host, each run" in out
        assert "axes=[1, 2]" in out
        assert "when compiled: key 3, 8 blocks" in out

    def test_names_of_the_sink_tasks(self):
        """The three task types of tiling sink have the numbers 41, 42, 43 and the last known one is 50."""
        assert [task_name(n) for n in (0, 26, 41, 42, 43, 50)] == [
            "KERNEL",
            "ALL_KERNEL",
            "UPDATE",
            "NOP",
            "PREPROCESS_KERNEL",
            "CUSTOM_KERNEL",
        ]
