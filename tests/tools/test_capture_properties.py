"""Order, rotation, foreign lines and hostile lines: the same facts, bounded memory, no error."""

from __future__ import annotations

import gzip
import random
import tempfile
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import BUILTIN
from tools.capture.build import capture_of
from tools.capture.source import CHUNK

KERNEL = BUILTIN.get("v100", "AicoreKernelSqe")
START = "2026-01-02-10:00:"


class Writer:
    """Writes lines of firmware and host in the known wordings, each with its own stamp."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.lines = []

    def stamp(self):
        """The next moment, a millisecond later."""
        self.count += 1
        return f"{START}{self.count // 1000 % 60:02d}.{self.count % 1000:03d}.000"

    def firmware(self, text):
        """A line of the device."""
        stamp = self.stamp()
        self.lines.append(f"[ERROR] TSCH(-1,null):{stamp} {self.count} (dieid:0,cpuid:0) [f.c:1] {text}")

    def host(self, text, level="ERROR", thread=7):
        """A line of the host."""
        self.lines.append(f"[{level}] RUNTIME(5,app):{self.stamp()} [h.cc:1]{thread} F:{text}")

    def fault(self, stream, task, layout):
        """A kernel that fails; returns the bytes of its entry."""
        fields = {
            "block_dim": self.random.randrange(1, 49), "rt_stream_id": stream, "task_id": task, "kernel_credit": 254,
            "pc_addr": 0x1240C0000000 + 64 * self.random.randrange(1 << 16), "ffts_type": 1,
            "param_addr": 0x124100000000 + 512 * self.random.randrange(1 << 16), "stack_phy_base": 0x40000000,
        }  # fmt: skip
        raw = KERNEL.build(fields)
        words = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, 64, 4)]
        if layout == "host":
            for half in (words[:8], words[8:]):
                self.host("AicoreKernelTask: " + " ".join(f"{w:08x}" for w in half), "DEBUG", thread=stream)
        else:
            self.firmware(
                f"proc_stars_acc_exception_inner: rtsq_id={stream}, sq_head={task}, sq_tail={task + 2}, acsq_id=3, "
                f"stream_id={stream}, task_id={task}, sqe_type=0, bind_flag=0, error_type=8, pid=1"
            )
            self.firmware(f"stars_dump_sqe: stream_id={stream}, task_id={task}, sqe_type=0")
            if layout == "line":
                self.firmware("stars_dump_sqe: " + " ".join(f"word[{i}]=0x{w:08x}" for i, w in enumerate(words)))
            else:
                for i, w in enumerate(words):
                    self.firmware(f"stars_dump_sqe: word[{i}]=0x{w:08x}")
        self.host(
            f"Task run failed, device_id=0, stream_id={stream}, task_id={task}, sqe_type=0(ffts), "
            "errType=0x1(task exception), sqSwStatus=0"
        )
        return raw


def written(seed, layouts):
    """Lines of some faults, and the entries behind them by stream and task."""
    writer = Writer(seed)
    expected = {}
    for k, layout in enumerate(layouts):
        stream, task = 1 + k % 5, 10 + k
        expected[stream, task] = writer.fault(stream, task, layout)
    return writer.lines, expected


def facts(capture):
    """What a capture says, without lines and files."""
    return (
        sorted((s.stream, s.task, s.raw, s.side) for s in capture.sqes),
        sorted((f.stream, f.task, f.device, sorted(r.shape for r in f.records)) for f in capture.faults),
    )


def captured(*texts):
    """The capture of files with these texts."""
    with tempfile.TemporaryDirectory() as folder:
        for k, text in enumerate(texts):
            Path(folder, f"{k}.log").write_bytes(text if isinstance(text, bytes) else text.encode())
        return capture_of([folder])


LAYOUTS = st.lists(st.sampled_from(["line", "word", "host"]), min_size=1, max_size=6)
NOISE = ("", "[INFO] RUNTIME(5,app):nothing", "####", "[ERROR] APP(1,x): all failed, error", "\x00\x1b[31m", "pos=")


@settings(max_examples=40, deadline=None)
@given(LAYOUTS, st.integers(0, 99))
def test_what_was_written_is_read(layouts, seed):
    """Every entry and fault that was written is read, with the very bytes."""
    lines, expected = written(seed, layouts)
    found = captured("\n".join(lines))
    assert {(s.stream, s.task): s.raw for s in found.sqes} == expected
    assert {(f.stream, f.task) for f in found.faults} == set(expected)
    assert all(f.sqe is not None and f.sqe.raw == expected[f.stream, f.task] for f in found.faults)


@settings(max_examples=40, deadline=None)
@given(LAYOUTS, st.integers(0, 99), st.randoms(use_true_random=False))
def test_order_of_lines_says_nothing(layouts, seed, chance):
    """Lines in any order give the same facts: their stamps order them."""
    lines, _ = written(seed, layouts)
    shuffled = list(lines)
    chance.shuffle(shuffled)
    assert facts(captured("\n".join(shuffled))) == facts(captured("\n".join(lines)))


@settings(max_examples=40, deadline=None)
@given(LAYOUTS, st.integers(0, 99), st.randoms(use_true_random=False))
def test_foreign_lines_between(layouts, seed, chance):
    """Lines of other programs between the lines of an entry do no harm."""
    lines, _ = written(seed, layouts)
    mixed = []
    for line in lines:
        mixed += [chance.choice(NOISE) for _ in range(chance.randrange(3))] + [line]
    assert facts(captured("\n".join(mixed))) == facts(captured("\n".join(lines)))


@settings(max_examples=40, deadline=None)
@given(LAYOUTS, st.integers(0, 99), st.lists(st.integers(0, 200), max_size=4))
def test_rotation(layouts, seed, cuts):
    """A log in several files, cut between any lines, gives the same facts."""
    lines, _ = written(seed, layouts)
    places = sorted({0, len(lines), *(c % (len(lines) + 1) for c in cuts)})
    parts = ["\n".join(lines[a:b]) for a, b in pairwise(places)]
    assert facts(captured(*parts)) == facts(captured("\n".join(lines)))


@settings(max_examples=60, deadline=None)
@given(LAYOUTS, st.integers(0, 99), st.integers(0, 1 << 20))
def test_a_cut_invents_nothing(layouts, seed, at):
    """A log that ends anywhere, even in a word, gives no whole entry that was not written."""
    lines, expected = written(seed, layouts)
    text = "\n".join(lines)
    found = captured(text[: at % (len(text) + 1)])
    assert all(s.raw == expected[s.stream, s.task] for s in found.sqes if s.whole)


@settings(max_examples=80, deadline=None)
@given(LAYOUTS, st.integers(0, 99), st.randoms(use_true_random=False), st.integers(0, 30))
def test_lost_lines_invent_nothing(layouts, seed, chance, lost):
    """A log that lacks a run of lines, or some here and there, never gives an entry of parts of two."""
    lines, expected = written(seed, layouts)
    at = chance.randrange(len(lines))
    kept = [line for k, line in enumerate(lines) if not at <= k < at + lost and chance.random() > 0.05]
    found = captured("\n".join(kept))
    assert all(s.raw == expected[s.stream, s.task] for s in found.sqes if s.whole)


def test_words_behind_lost_lines_do_not_get_the_ids_of_another_head():
    """The head of one entry is followed by the words of another: whose they are, the words themselves say."""
    lines, expected = written(0, ["line", "line"])
    heads = [
        k for k, line in enumerate(lines) if "sqe_type=" in line and "stream_id=" in line and "RUNTIME" not in line
    ]
    words = [k for k, line in enumerate(lines) if "word[0]=" in line]
    found = captured("\n".join([lines[heads[0]], lines[words[1]]]))
    (entry,) = found.sqes
    assert entry.raw == expected[2, 11]
    assert (entry.stream, entry.task) in ((None, None), (2, 11))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes(data):
    """No bytes stop the reader."""
    captured(data, b"Task run failed, stream_id=" + data, b"<exception_print>PC_START=0x" + data)


HOSTILE = {
    "megabyte line": b"Task run failed, device_id=0, stream_id=" + b"9" * (3 * CHUNK) + b"\n",
    "line without end": b"word[" * CHUNK,
    "pairs without end": b"Task run failed errType " + b"a=1," * CHUNK,
    "zeros": bytes(3 * CHUNK),
    "invalid text": b"\xff\xfe word[0]=0x00000000 \xc3\x28 retCode=0x7020023\n" * 100,
    "brackets": b"errcode:(" * 5000 + b"\n" + b"[ERROR] op_name [" * 5000 + b" stream_id\n",
    "core": b"core id is 1, error code = 0x1, aicore error " * 3000 + b"\n",
    "huge numbers": b"Task run failed, stream_id=99999999999999999999999999, task_id=0xffffffffffffffffff\n",
    "strange dates": b"[ERROR] TSCH(-1,null):9999-99-99-99:99:99.999.999 1 (dieid:0) word[0]=0x00000001\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines(name):
    """A hostile line is passed over or read in part, quickly, and the log behind it is still read."""
    lines, expected = written(1, ["line"])
    found = captured(HOSTILE[name] + b"\n" + "\n".join(lines).encode())
    assert expected.items() <= {(s.stream, s.task): s.raw for s in found.sqes if s.whole}.items()


def test_packed_bomb(tmp_path, monkeypatch):
    """A gzip file that unpacks to more than the limit is read up to it in bounded memory, and that is said."""
    monkeypatch.setattr("tools.capture.source.MOST_UNPACKED", 8 * CHUNK)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(64 * CHUNK)))
    tracemalloc.start()
    found = capture_of([str(tmp_path / "bomb.gz")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "holds more than" in found.notes[0]
    assert peak < 12 * CHUNK


def test_many_lines_of_one_shape(monkeypatch):
    """Beyond a limit lines are only counted, and that is said."""
    monkeypatch.setattr("tools.capture.build.MOST_OF_A_SHAPE", 10)
    text = "".join(f"Stream Synchronize failed, stream_id={k}, retCode=0x91\n" for k in range(25))
    found = captured(text)
    assert len(found.records) == 10
    assert found.counts == {"stream-sync": 25}
    assert found.notes == ("15 lines beyond the first 10 of a shape were only counted",)


def test_memory_does_not_grow_with_the_log(tmp_path):
    """A log of 24 MiB without a fact is read in a few chunks of memory."""
    line = b"[INFO] RUNTIME(5,app):2026-01-02-10:00:00.000.000 [a.cc:1]7 Launch: stream_id=3, task_id=4, kernel ok\n"
    (tmp_path / "big.log").write_bytes(line * (24 * CHUNK // len(line)))
    tracemalloc.start()
    found = capture_of([str(tmp_path / "big.log")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.lines, found.records) == (24 * CHUNK // len(line), ())
    assert peak < 8 * CHUNK
