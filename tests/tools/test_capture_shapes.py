"""The grammar of log lines: a line for each shape, made up here in the known wording, and what is read in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.capture.anchors import ANCHORS, candidates
from tools.capture.lines import LineReader
from tools.capture.packed import task_result
from tools.capture.shapes import SHAPES

EIGHT = "00000003 00670000 00000002 00fe0000 00000004 00000005 00000006 00000007"
FILE = Path(__file__).parents[1] / "data" / "log_shapes" / "shapes.txt"
LINES = dict(line.split("\t", 1) for line in FILE.read_text().splitlines() if not line.startswith("#"))

WANTED = {
    "firmware-sqe-line": ("sqe_words", {}),
    "firmware-sqe-word": ("sqe_word", {"index": 3}),
    "firmware-sqe-head": ("sqe_head", {"stream": 2, "task": 9, "sqe_type": 0}),
    "trace-sqe-half": ("sqe_half", {"index": 8, "words": EIGHT}),
    "trace-position": ("position", {"pos": 47, "stream": 3, "task": 47, "event_id": 1}),
    "host-sqe-half": ("host_half", {"words": EIGHT}),
    "stars-interrupt": ("interrupt", {"sq": 2, "head": 5, "tail": 7, "stream": 2, "task": 5, "error_type": 8}),
    "queue-snapshot": ("snapshot", {"stream": 3, "sq": 4, "sq_fsm": 9, "head": 47, "tail": 49}),
    "stars-report": (
        "cqe",
        {"device": 1, "stream": 6, "task": 73, "sqe_type": 0, "error_type": 1, "status": 32, "type_name": "ffts"},
    ),
    "950-report": ("cqe", {"stream": 5, "pos": 12, "task_sn": 77, "error_type": 2, "status": 49}),
    "report-cut": ("cqe", {"stream": 6, "task": 73}),
    "hwts-real-report": ("real_fault", {"stream": 5, "task": 2}),
    "hwts-report": ("exception", {"stream": 7, "task": 2, "code": 42}),
    "kernel": ("kernel", {"stream": 14, "task": 13, "report_stream": 17, "kernel": "add_kernel0", "block_dim": 4}),
    "kernel-short": ("kernel", {"stream": 3, "task": 4, "kernel": "K_1"}),
    "launch": ("launch", {"tiling_key": 9, "block_dim": 12}),
    "operator": ("op", {"op": "B_48", "task": 804, "stream": 1634}),
    "aicpu-kernel": (
        "aicpu_kernel",
        {"stream": 7, "task": 2, "library": "liba.so", "kernel": "GetNext", "op": "Next1"},
    ),
    "aicpu-kernel-new": (
        "aicpu_kernel",
        {"stream": 42, "task": 38, "library": "libs.so", "kernel": "Launch", "op": "Op", "code": 42},
    ),
    "aicpu-exception": ("aicpu_exception", {"stream": 6, "task": 2895, "errcode": 0x2AFA, "text": "open so failed"}),
    "task-code": ("retcode", {"code": 49}),
    "core-report": (
        "core",
        {"core": 4, "errcode": 16, "pc_start": 0x1240C0000034, "current": 0x1240C0000124, "para": 0x124100000C00},
    ),
    "core-extended": ("extend", {"low": 0, "mid": 0x8000, "high": 0, "text": "a bus answer", "suberrtype": 4}),
    "hwts-core-code": ("core_code", {"core": 3, "errcode": 0x800000}),
    "exception-head": ("exception_head", {"error_type": 8, "ffts_type": 1, "sq": 2}),
    "core-bitmap": ("bitmap", {"bits": "aic_own_bitmap_l=0x0, aiv_own_bitmap_00=0x3ff"}),
    "core-place": ("core_place", {"aiv_id": 5, "blkid": 3}),
    "register": ("register", {"name": "PC_START", "value": 0x1240C0018874}),
    "register-list": ("registers", {"core": 24}),
    "error-pc": ("pc", {"err_pc": 0x124000000080, "pc_start": 0x124000000000}),
    "slot-state": ("slot", {"slot": 3}),
    "core-reset": ("reset", {"core_id": 9}),
    "sqe-error": ("sqe_error", {"stream": 60, "task": 0, "sq": 3, "head": 4}),
    "wait-timeout": (
        "wait_timeout",
        {"stream": 19, "sq": 8, "task": 16, "event_id": 73, "timeout": 1866, "sort": "event"},
    ),
    "device-wait-timeout": ("device_timeout", {"sq": 3, "waited": 16, "timeout": 10, "stream": 3, "task": 47}),
    "hwts-timeout": ("device_timeout", {"task": 6, "ai_cores_count": 2}),
    "real-fault": ("real_fault", {"stream": 56, "task": 3, "task_name": "KERNEL_AICORE"}),
    "model-failed": ("model_failed", {"stream": 59, "task": 8, "model_id": 62}),
    "model-error": ("model_error", {"code": 145}),
    "task-failed": ("task_failed", {"stream": 4, "task": 0xA41F, "type_name": "EVENT_WAIT"}),
    "stream-sync": ("sync", {"stream": 3, "code": 546}),
    "api": ("api", {"function": "rtStreamSynchronize", "errcode": 0x7BC87, "code": 0x7150026}),
    "task-result": ("packed", {"stream": 3, "task_result": 0x16620324}),
    "resource": ("resource", {"stream": 2047, "code": 0x7020023}),
}
"""Kind and values by name of the shape."""


def records_of(line, kind):
    """The records of a kind that a line gives."""
    return [r for r in LineReader("a.log").read(1, line.encode()) if r.kind == kind]


def test_every_shape_has_a_sample():
    """The file of lines and the table here name every row of the grammar."""
    assert set(LINES) == set(WANTED) == {shape.name for shape in SHAPES}


@pytest.mark.parametrize("name", WANTED)
def test_values_of_the_line(name):
    """The line of a shape is read by that shape, with the values that stand in it."""
    kind, values = WANTED[name]
    (found,) = records_of(LINES[name], kind)
    assert found.shape == name
    assert {key: found.values.get(key) for key in values} == values


@pytest.mark.parametrize("name", LINES)
def test_line_is_a_candidate(name):
    """The fast search over chunks finds the line of each shape between others."""
    chunk = f"[INFO] nothing here\n{LINES[name]}\n[INFO] nor here\n".encode()
    assert candidates(chunk) == [len("[INFO] nothing here\n")]


def test_side_stamp_and_number():
    """A firmware line is the device's, with its count; a host line is the host's; both have stamps in nanoseconds."""
    (device,) = records_of(LINES["stars-interrupt"], "interrupt")
    (host,) = records_of(LINES["stars-report"], "cqe")
    assert (device.side, device.seq) == ("device", 17)
    assert (host.side, host.device) == ("host", 1)
    assert host.stamp - device.stamp == 2_002_000  # 3.004 ms less 1.002 ms
    assert device.stamp == 1767348000_001_002_000  # date -u -d '2026-01-02 10:00' +%s


def test_cut_line_gives_what_is_whole():
    """A line that ends in the middle of a word of an entry gives the words before it, never half of one."""
    line = LINES["firmware-sqe-line"]
    cut = line[: line.index("word[9]=") + len("word[9]=0x0000")]
    (found,) = records_of(cut, "sqe_words")
    assert "word[8]=0x00000008" in found.text("words")
    assert "word[9]" not in found.text("words")


def test_packed_result():
    """The published status word 0x16620324 is task 804 of stream 1634 with result 1."""
    found = task_result(0x16620324)
    assert (found.task, found.stream, found.result) == (804, 1634, 1)
    assert found.meaning == "the execution of a stream failed"


def test_text_about_lines_is_no_line():
    """Documentation that shows a wording without numbers is no report."""
    assert not records_of("`Task run failed, device_id=…, stream_id=…, task_id=…, errType=0xN(text)`", "cqe")


def test_letters_of_anchors():
    """The four letters of each anchor are its own: no other anchor has the same."""
    letters = [anchor[at : at + 4] for anchor, at in ANCHORS]
    assert len(set(letters)) == len(ANCHORS)
    assert all(len(each) == 4 for each in letters)


@pytest.mark.parametrize(("anchor", "_at"), ANCHORS)
@pytest.mark.parametrize("before", range(5))
def test_anchor_anywhere(anchor, _at, before):
    """An anchor is found at any place, first and last bytes of a chunk included."""
    assert candidates(b"x" * before + anchor) == [0]
    assert candidates(b"x" * before + b"\n" + anchor) == [before + 1]
    assert candidates(b"x" * before + anchor[:-1]) == []
