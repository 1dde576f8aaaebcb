"""`sqemu postmortem` on the command line: text, JSON, exit codes, escapes, replay; `sqemu dump` of logs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "data" / "logs"
ONE_LINE = LOGS / "firmware_one_line_910b.txt"
WORD_PER_LINE = LOGS / "firmware_word_per_line.txt"
TRACE = """\
[ERROR] TSCH(-1,null):2026-01-02-10:00:14.977.406 3986 (dieid:0,cpuid:0) stars_timewheel.c:90 \
stars_wait_sqe_is_timeout: Timeout: sq_pid=1, sq_id=3, exe_time=16, time_out=10, stream_id=3, task_id=0, cur_head=0
stream_id=3, rtsq_id=3, sq_fsm=0x9, cur_wait_time=16, head=0, tail=1, sq_en=1
sqe[0] 0x 00000005 00000003 00000001 00ff0000 00000000 0000000a 00000000 00000000
sqe[8] 0x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
pos=0: stream_id=3, task_id=0, sqe_type=5, Event Wait, event_id=1
stream_id=2, rtsq_id=2, sq_fsm=0x5, cur_wait_time=0, head=0, tail=2, sq_en=1
sqe[0] 0x 00010000 00000002 00001000 00fe0000 40400000 00001241 00000000 00000004
sqe[8] 0x c00197c0 00001240 8000a000 00001241 00000000 00000000 00000000 00000000
pos=0: stream_id=2, task_id=0, sqe_type=0, FFTS
sqe[0] 0x 00000004 00010002 00000001 00fe0000 00000000 00000000 00000000 00000000
sqe[8] 0x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
pos=1: stream_id=2, task_id=1, sqe_type=4, Event Record, event_id=1, isSync=0
"""


class TestText:
    @pytest.mark.parametrize("logs", [(ONE_LINE,), (WORD_PER_LINE,), (ONE_LINE, WORD_PER_LINE), (LOGS,)])
    def test_eighty_columns(self, sqemu, logs):
        """No line of a report is wider than 80 columns."""
        found = sqemu("postmortem", *logs)
        assert found.code == 0
        assert max(map(len, found.out.splitlines())) <= 80

    def test_sample(self, sqemu):
        """The report on the sample names task, entry, blocks, error bit, offset of the error and where it is from."""
        text = " ".join(sqemu("postmortem", WORD_PER_LINE).out.split())
        for part in (
            "stream 2 task 0 failed first",
            "is the class of the interrupt, not a set of error bits",
            "It runs on the AI Vector core (ffts_type 1)",
            "block_dim 10, code at 0x1240c0018874, arguments at 0x124180000000, kernel_credit 254",
            "AIC_ERROR0 bit 23: the DDR address of an MTE instruction is out of range",
            "0x78 bytes behind the start of its code (0x1240c0018874); the firmware places the error at 0x5c",
            "PC_START is pc_addr of the entry and PARA_BASE is param_addr of the entry",
            "10 cores held blocks of it when it failed, block_dim is 10: all were running",
            "(firmware_word_per_line.txt:1)",
        ):
            assert part in text

    def test_marks(self, sqemu):
        """Every statement is marked, and the marks are explained."""
        lines = sqemu("postmortem", ONE_LINE).out.splitlines()
        assert lines[-1] == "= the logs say it   ~ inferred from what they say"
        starts = [line[:4] for line in lines[lines.index("") :] if line.startswith("  ")]
        assert set(starts) == {"  = ", "  ~ ", "    "}

    def test_nothing_found(self, sqemu, tmp_path):
        """A log without a fault is said to have none; that is no error."""
        (tmp_path / "a.log").write_text("[INFO] fine\n")
        found = sqemu("postmortem", tmp_path / "a.log")
        assert found.code == 0
        assert "No line of these logs has a shape that is known here" in " ".join(found.out.split())
        (tmp_path / "a.log").write_text("stream_id=2, rtsq_id=2, sq_fsm=0x5, head=0, tail=2, sq_en=1\n")
        assert "No fault was found" in sqemu("postmortem", tmp_path / "a.log").out

    def test_control_codes_are_escaped(self, sqemu, tmp_path):
        """Text of a log cannot steer the terminal."""
        name = "K\x1b]0;owned\x07\x1b[31m\u202e"
        (tmp_path / "a.log").write_text(
            f"Aicore kernel execute failed, stream_id=1, report_stream_id=1, task_id=2, fault kernel_name={name}, x\n"
        )
        found = sqemu("postmortem", tmp_path / "a.log")
        assert "K\\x1b]0;owned\\x07" in found.out
        assert not {"\x1b", "\x07", "\u202e"} & set(found.out.replace("\x1b[1m", "").replace("\x1b[0m", ""))


class TestErrors:
    def test_missing_file(self, sqemu, tmp_path):
        """A file that does not exist is an input error."""
        found = sqemu("postmortem", tmp_path / "none.log", "--json")
        assert (found.code, found.error["error"]) == (2, "input.file")

    def test_empty_folder(self, sqemu, tmp_path):
        """A folder without files is an input error."""
        found = sqemu("postmortem", tmp_path, "--json")
        assert (found.code, found.error["error"]) == (2, "capture.empty")

    @pytest.mark.parametrize("command", ["postmortem", "dump"])
    def test_what_could_be_read_for_ever(self, sqemu, tmp_path, command):
        """A named pipe is not waited for, and views of the kernel are refused, as files and as folders."""
        os.mkfifo(tmp_path / "pipe")
        for path, what in ((tmp_path / "pipe", "is a named pipe"), ("/proc/self", "is a view"), ("/proc/kmsg", "view")):
            found = sqemu(command, path, "--json")
            assert (found.code, found.error["error"]) == (2, "input.file")
            assert what in found.error["what"]

    @pytest.mark.parametrize(
        ("command", "told"), [("postmortem", "stream 2 task 0 failed first"), ("dump", "3 SQEs, family v100")]
    )
    def test_a_pipe_that_is_open_already(self, sqemu, command, told):
        """A pipe under the name that a shell gives it for `<(command)` is read to its end, and only once."""
        reading, writing = os.pipe()
        os.write(writing, ONE_LINE.read_bytes())
        os.close(writing)
        found = sqemu(command, f"/dev/fd/{reading}")
        os.close(reading)
        assert found.code == 0
        assert told in " ".join(found.out.split())

    def test_a_dump_of_a_packed_log_that_was_cut_says_so(self, sqemu, tmp_path):
        """With entries in it a note on standard error says where it is damaged, without entries the error does."""
        packed = gzip.compress(ONE_LINE.read_bytes())
        (tmp_path / "long.gz").write_bytes(packed[:-8])
        (tmp_path / "short.gz").write_bytes(packed[: len(packed) // 4])
        assert "long.gz is damaged behind line" in sqemu("dump", tmp_path / "long.gz").err
        found = sqemu("dump", tmp_path / "short.gz")
        assert found.code == 2
        assert "short.gz is damaged behind line" in found.err

    def test_no_log(self, sqemu):
        """Without a log the usage is shown."""
        assert sqemu("postmortem").code == 2

    def test_unknown_family_and_chip(self, sqemu):
        """Names that do not exist are refused."""
        assert sqemu("postmortem", ONE_LINE, "--family", "v7").code == 2
        assert sqemu("postmortem", ONE_LINE, "--chip", "nothing").code == 2

    def test_replay_without_entries(self, sqemu, tmp_path):
        """A replay needs an entry."""
        (tmp_path / "a.log").write_text("Stream Synchronize failed, stream_id=3, retCode=0x91\n")
        found = sqemu("postmortem", tmp_path / "a.log", "--replay", tmp_path / "a.sqr", "--json")
        assert found.code == 2
        assert json.loads(found.err)["error"] == "replay.empty"
        assert not (tmp_path / "a.sqr").exists()


class TestJson:
    def test_objects(self, sqemu):
        """JSON has the capture, statements and faults with their lines, entries with their fields."""
        objects = sqemu("postmortem", WORD_PER_LINE, "--json").objects
        (first,) = [o for o in objects if o["section"] == "capture"]
        assert (first["cause"], first["family"], first["dialect"]) == (
            {"device": None, "stream": 2, "task": 0},
            "v100",
            "stars",
        )
        (fault,) = [o for o in objects if o["section"] == "faults"]
        assert fault["lines"][0]["line"] == 1
        assert fault["cores"][0]["registers"]["PC_START"] == 0x1240C0018874
        (sqe,) = [o for o in objects if o["section"] == "sqes"]
        assert (sqe["fields"]["block_dim"], sqe["lines"][0]["line"], sqe["missing"]) == (10, 2, [])
        assert {o["sure"] for o in objects if o["section"] == "entry"} == {True, False}

    def test_standard_input(self, sqemu, tmp_path):
        """A log may come from a pipe, packed, too."""
        command = [sys.executable, "-m", "tools.cli", "postmortem", "-", "--json"]
        for data in (ONE_LINE.read_bytes(), gzip.compress(ONE_LINE.read_bytes())):
            done = subprocess.run(command, input=data, capture_output=True, check=True, cwd=ROOT)
            assert json.loads(done.stdout.splitlines()[0])["cause"] == {"device": None, "stream": 2, "task": 0}


class TestReplay:
    def test_record(self, sqemu, tmp_path):
        """The record has the captured entries in the ring of their stream, and the fault."""
        target = tmp_path / "f.sqr"
        found = sqemu("postmortem", ONE_LINE, "--replay", target)
        assert found.code == 0
        assert "3 entries of 1 stream" in " ".join(found.out.split())
        rings = sqemu("dump", target, "--sqes", "--json").objects
        entries = [(o["stream_id"], o["task_id"], o["fields"]["block_dim"]) for o in rings if o["section"] == "sqes"]
        assert entries == [(2, 0, 2), (2, 1, 2), (2, 1, 48)]
        (run,) = [o for o in sqemu("dump", target, "--json").objects if o["section"] == "runs"]
        assert [(f["stream"], f["id"]) for f in run["faults"]] == [(2, "replay.fault")]

    def test_flags_work(self, sqemu, tmp_path):
        """Events of captured entries order the streams: the wait passes after the record of the other stream."""
        (tmp_path / "t.log").write_text(TRACE)
        found = sqemu(
            "postmortem", tmp_path / "t.log", "--replay", tmp_path / "t.sqr", "--json", "--chip", "ascend910b1"
        )
        (told,) = [o for o in found.objects if o["section"] == "replay"]
        assert (told["entries"], told["streams"], told["deadlock"], told["chip"]) == (3, [2, 3], False, "ascend910b1")
        assert (told["started"], told["faults"]) == (3, [])  # the kernel that hung is a stand-in here and ends

    def test_stream_that_the_chip_does_not_have(self, sqemu, tmp_path):
        """A stream beyond those of the chip is left out, and that is said."""
        (tmp_path / "t.log").write_text(TRACE.replace("stream_id=3", "stream_id=2037"))
        found = sqemu("postmortem", tmp_path / "t.log", "--replay", tmp_path / "t.sqr", "--json")
        (told,) = [o for o in found.objects if o["section"] == "replay"]
        assert told["streams"] == [2]
        assert told["left"] == ["stream 2037 is beyond the 1984 of ascend910b3"]

    def test_same_bytes(self, sqemu, tmp_path):
        """The same logs give the same record, byte for byte."""
        for name in ("a.sqr", "b.sqr"):
            sqemu("postmortem", WORD_PER_LINE, "--replay", tmp_path / name)
        assert (tmp_path / "a.sqr").read_bytes() == (tmp_path / "b.sqr").read_bytes()


class TestDump:
    def test_entries_of_a_log(self, sqemu):
        """`sqemu dump LOG` shows the entries in the usual table; standard error says which lines they are from."""
        found = sqemu("dump", ONE_LINE)
        assert found.code == 0
        assert "blocks 48  pc 0x124000000000  args 0x12c1c0000400" in found.out
        assert "slot 2: stream 2 task 1, device" in found.err
        assert "firmware_one_line_910b.txt:8-9" in found.err

    @pytest.mark.parametrize("make", [lambda data: data, gzip.compress])
    def test_queries(self, sqemu, tmp_path, make):
        """Views and filters work on entries of a log, packed or not."""
        (tmp_path / "a").write_bytes(make(WORD_PER_LINE.read_bytes()))
        assert "10 blocks" in sqemu("dump", tmp_path / "a", "--query", "block_dim").out
        assert "AicoreKernelSqe" in sqemu("dump", tmp_path / "a", "--asm").out

    def test_folder(self, sqemu):
        """A folder of logs is one list of entries, in order of time."""
        objects = sqemu("dump", LOGS, "--json").objects
        assert [o["fields"]["block_dim"] for o in objects if o["section"] == "sqes"] == [10, 2, 2, 48]

    def test_cut_entry_is_skipped(self, sqemu, tmp_path):
        """An entry that lacks words is left out, told, and makes exit code 1."""
        lines = ONE_LINE.read_text().splitlines()
        lines[5] = lines[5][: lines[5].index(" word[12]")]
        (tmp_path / "a.log").write_text("\n".join(lines))
        found = sqemu("dump", tmp_path / "a.log")
        assert found.code == 1
        assert "skipped a cut entry, 4 of 16 words are missing" in found.err
        assert "2 SQEs" in found.out

    def test_log_without_entries(self, sqemu, tmp_path):
        """A log without entries is refused with a hint at what reads it."""
        prefix = "[ERROR] RUNTIME(5,app):2026-01-02-10:00:00.000.000 [a.cc:1]7 F:"
        line = prefix + "Stream Synchronize failed, stream_id=3, retCode=0x91"
        (tmp_path / "a.log").write_text(line + "\n")
        found = sqemu("dump", tmp_path / "a.log", "--json")
        assert (found.code, found.error["error"]) == (2, "dump.log")
        assert "postmortem" in found.error["remedy"]

    def test_hex_in_a_log_of_the_runtime(self, sqemu, tmp_path):
        """Hex behind such a prefix that is no entry line is still read as hex text."""
        prefix = "[INFO] RUNTIME(5,app):2026-01-02-10:00:00.000.000 [a.cc:1]7 F:ring: "
        words = ["0x00670003 0x00020001 0x00000000 0x00fe0000", *["0x00000000 0x00000000 0x00000000 0x00000000"] * 3]
        (tmp_path / "a.log").write_text("\n".join(prefix + w for w in words))
        assert "nop" in sqemu("dump", tmp_path / "a.log").out
